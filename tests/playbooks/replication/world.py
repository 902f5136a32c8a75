"""Virtual time, messages that are late or lost, and the order in which everything happens, all from one seed."""

import heapq
from collections.abc import Callable
from random import Random

START = 1_700_000_000_000


class World:
    """A queue of (instant, number, act). `cuts` are pairs of nodes between which nothing travels."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.now = START
        self.stormy = True
        self.cuts: set[frozenset[int]] = set()
        self.lines: list[str] = []
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0

    def after(self, delay_ms: int, act: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._queue, (self.now + delay_ms, self._number, act))

    def run(self, milliseconds: int) -> None:
        end = self.now + milliseconds
        while self._queue and self._queue[0][0] <= end:
            due, _, act = heapq.heappop(self._queue)
            self.now = max(self.now, due)
            act()
        self.now = end

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
