"""Does something with each of many topics, of which each costs the controller and the source several changes."""

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from brokers.ids import Instant
from linker.region_client import Effects

AT_ONCE: Final = 200  # topics

Ended: TypeAlias = Callable[[Instant], Effects]
Begin: TypeAlias = Callable[[str, Ended, Instant], Effects]


class EachTopic:
    """`begin` of each topic calls `ended` once, at once or later; `done` runs when all have ended.

    What ends at once does not begin the next one itself: thousands in a row would be as many calls in one another.
    """

    def __init__(self, topics: Iterable[str], begin: Begin, done: Ended) -> None:
        self._waiting = iter(topics)
        self._begin = begin
        self._done = done
        self._under_way = 0
        self._is_beginning = False

    def go_on(self, now: Instant) -> Effects:
        """Begins as many as may be under way."""
        if self._is_beginning:
            return []
        effects: Effects = []
        self._is_beginning = True
        while self._under_way < AT_ONCE and (topic := next(self._waiting, None)) is not None:
            self._under_way += 1
            effects += self._begin(topic, self._ended, now)
        self._is_beginning = False
        return effects if self._under_way else effects + self._done(now)

    def _ended(self, now: Instant) -> Effects:
        self._under_way -= 1
        return self.go_on(now)
