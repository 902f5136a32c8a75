"""Changes that are proposed together: a proposal is a batch of the metadata log, and every broker pays for each batch.

What is asked for while nothing is under way is proposed at once, after the event that is being worked off. Meanwhile
changes are gathered, and proposed when that is answered, or after `GATHER_MS`.
"""

from collections.abc import Callable
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
    """Of one kind of change."""

    def __init__(self, timers: Timers, propose: Propose[ChangeT]) -> None:
        self._timers = timers
        self._propose = propose
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
        waiting, self._waiting = self._waiting, []
        effects: list[Any] = []
        for first in range(0, len(waiting), TOGETHER_MAX):
            self._under_way += 1
            effects += self._propose(waiting[first : first + TOGETHER_MAX], self._answered)
        return effects

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
