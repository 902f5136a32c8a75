"""How often the link coordinator looks whether something pending is done: less often, the more mirrors it looks at.

Each look at a mirror takes it some tenths of a millisecond, and more where it has many partitions. At a fixed pause it
would do nothing else for a thousand mirrors that are failed over, reversed or restored together.
"""

from typing import Final

from brokers.ids import Instant

# On average, of mirrors of one partition, so that most of the processor is left for what they wait for.
LOOKS_PER_MS: Final = 4
PARTITIONS_A_LOOK: Final = 3  # beyond the first
WINDOW_MS: Final = 500  # what was looked at in such a time counts as pending together


class LookPace:
    """Of one link. `looked` at each look, `pause` for the next one of a mirror topic."""

    def __init__(self) -> None:
        self._ends: Instant = 0
        self._looked: set[str] = set()
        self._weight = 0  # of those
        self._before = 0  # as much as in the window before

    def looked(self, topic: str, partitions: int, now: Instant) -> None:
        """`partitions`: how many the mirror topic has."""
        if now >= self._ends:
            self._before = self._weight if now < self._ends + WINDOW_MS else 0
            self._ends, self._looked, self._weight = now + WINDOW_MS, set(), 0
        if topic not in self._looked:
            self._looked.add(topic)
            self._weight += 1 + max(0, partitions - 1) // PARTITIONS_A_LOOK

    def pause(self, shortest_ms: int) -> int:
        """Milliseconds."""
        return max(shortest_ms, max(self._before, self._weight) // LOOKS_PER_MS)
