"""How often the link coordinator looks whether something pending is done: less often, the more mirrors it looks at.

Each look at a mirror takes it some tenths of a millisecond. At a fixed pause it would do nothing else for a thousand
mirrors that are failed over, reversed or restored together.
"""

from typing import Final

from brokers.ids import Instant

LOOKS_PER_MS: Final = 4  # on average, so that most of the processor is left for what they wait for
WINDOW_MS: Final = 500  # what was looked at in such a time counts as pending together


class LookPace:
    """Of one link. `looked` at each look, `pause` for the next one of a mirror topic."""

    def __init__(self) -> None:
        self._ends: Instant = 0
        self._looked: set[str] = set()
        self._before = 0  # as many as in the window before

    def looked(self, topic: str, now: Instant) -> None:
        if now >= self._ends:
            self._before = len(self._looked) if now < self._ends + WINDOW_MS else 0
            self._ends, self._looked = now + WINDOW_MS, set()
        self._looked.add(topic)

    def pause(self, shortest_ms: int) -> int:
        """Milliseconds."""
        return max(shortest_ms, max(self._before, len(self._looked)) // LOOKS_PER_MS)
