"""Virtual time, messages that are late or lost, and the order in which everything happens, all from one seed."""

from random import Random

from tests.kernel.timeline import Timeline

START = 1_700_000_000_000


class World(Timeline):
    """`cuts` are pairs of nodes between which nothing travels."""

    def __init__(self, seed: int) -> None:
        super().__init__(START)
        self.rng = Random(seed)
        self.stormy = True
        self.cuts: set[frozenset[int]] = set()
        self.lines: list[str] = []

    def latency(self) -> int:
        if self.stormy and self.rng.random() < 0.05:
            return self.rng.randrange(50, 800)
        return self.rng.randrange(0, 5)

    def is_lost(self, one: int, other: int) -> bool:
        if frozenset((one, other)) in self.cuts:
            return True
        return self.stormy and self.rng.random() < 0.02

    def note(self, line: str) -> None:
        self.lines.append(f"{self.now - START:>7} {line}")
