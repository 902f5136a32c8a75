"""Changes that are proposed together: a proposal is a batch of the metadata log, and every broker pays for each batch.

What is asked for while nothing is under way is proposed at once, after the event that is being worked off. Meanwhile
changes are gathered, and proposed when that is answered, or after `GATHER_MS`.
"""

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeAlias, TypeVar

from brokers.ids import Instant
from brokers.timers import Act, Timers

TOGETHER_MAX: Final = (
    200  # changes of one proposal: a broker does nothing else while it follows them
)
GATHER_MS: Final = 100

ChangeT = TypeVar("ChangeT")
# Proposes changes together, and calls its second argument once when they are answered.
Propose: TypeAlias = Callable[[list[ChangeT], Act], list[Any]]


class Gathering(Generic[ChangeT]):
    """Of one kind of change. `key`: changes of one key are not proposed together, and in the order in which they came.
    `weight`: of one change, of the `together` that a proposal has; one that is heavier is proposed alone."""

    def __init__(
        self,
        timers: Timers,
        propose: Propose[ChangeT],
        key: Callable[[ChangeT], Hashable] | None = None,
        weight: Callable[[ChangeT], int] = lambda _: 1,
        together: int = TOGETHER_MAX,
    ) -> None:
        self._timers = timers
        self._propose = propose
        self._key = key
        self._weight = weight
        self._together = together
        self._waiting: list[ChangeT] = []
        self._under_way = 0
        self._began: Instant = 0  # what is under way
        self._timer: int | None = None

    def add(self, change: ChangeT) -> None:
        self._waiting.append(change)
        if self._timer is None:
            due = self._began + GATHER_MS if self._under_way else 0
            self._timer = self._timers.set(due, self._flush)

    def _flush(self, now: Instant) -> list[Any]:
        if self._timer is not None:
            self._timers.cancel(self._timer)
        self._timer, self._began = None, now
        effects: list[Any] = []
        for changes in self._take():
            self._under_way += 1
            effects += self._propose(changes, self._answered)
        return effects

    def _take(self) -> list[list[ChangeT]]:
        """What waits, in proposals. A change whose key is in one of them goes on waiting."""
        waiting, self._waiting = self._waiting, []
        keys: set[Hashable] = set()
        proposals: list[list[ChangeT]] = []
        left = 0
        for change in waiting:
            if self._key is not None and (key := self._key(change)) in keys:
                self._waiting.append(change)
                continue
            if self._key is not None:
                keys.add(key)
            weight = self._weight(change)
            if weight > left or not proposals:
                proposals.append([])
                left = self._together
            proposals[-1].append(change)
            left -= weight
        return proposals

    def _answered(self, now: Instant) -> list[Any]:
        self._under_way -= 1
        return self._flush(now) if self._waiting and not self._under_way else []


def after(count: int, act: Act) -> Act:
    """`act`, once this has been called `count` times."""
    left = count

    def one(now: Instant) -> list[Any]:
        nonlocal left
        left -= 1
        return [] if left else act(now)

    return one
