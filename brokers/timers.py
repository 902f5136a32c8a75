"""Timers as data: a core sets and cancels them, and its host reads the next deadline."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from brokers.ids import Instant

Act = Callable[[Instant], list[Any]]


def earliest(*deadlines: Instant | None) -> Instant | None:
    """The earliest deadline that is not None; None if there is none. Called after every step."""
    first = None
    for due in deadlines:
        if due is not None and (first is None or due < first):
            first = due
    return first


class Timers:
    """A heap of (due, callback). `due(now)` has the due callbacks in order; `deadline` is the next one."""

    __slots__ = ("_acts", "_heap", "_next_id", "deadline")

    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int]] = []
        self._acts: dict[int, Act] = {}
        self._next_id = 0
        self.deadline: Instant | None = None

    def set(self, due: Instant, act: Act) -> int:
        """Returns the timer's id, for `cancel`."""
        self._next_id += 1
        self._acts[self._next_id] = act
        heapq.heappush(self._heap, (due, self._next_id))
        if self.deadline is None or due < self.deadline:
            self.deadline = due
        return self._next_id

    def cancel(self, timer: int) -> None:
        """Cancels the timer; has no effect on one that has fired or was cancelled."""
        if self._acts.pop(timer, None) is not None and self._heap and self._heap[0][1] == timer:
            self._drop_cancelled()

    def due(self, now: Instant) -> Iterator[Act]:
        """Without those that an earlier one cancels. What they set is due in the next step at the earliest."""
        timers = []
        while self.deadline is not None and self.deadline <= now:
            timers.append(heapq.heappop(self._heap)[1])
            self._drop_cancelled()
        for timer in timers:
            if (act := self._acts.pop(timer, None)) is not None:
                yield act

    def _drop_cancelled(self) -> None:
        """Removes cancelled timers from the top of the heap."""
        while self._heap and self._heap[0][1] not in self._acts:
            heapq.heappop(self._heap)
        self.deadline = self._heap[0][0] if self._heap else None


class DeadlineTimer:
    """Calls `act` at a deadline that moves."""

    def __init__(self, timers: Timers, act: Act) -> None:
        self._timers = timers
        self._act = act
        self._due: Instant | None = None
        self._timer = 0

    def set(self, due: Instant | None) -> None:
        """`act` is called at `due` only; None: not at all."""
        if due != self._due:
            self._timers.cancel(self._timer)
            self._due = due
            self._timer = 0 if due is None else self._timers.set(due, self._fire)

    def _fire(self, now: Instant) -> list[Any]:
        self._due = None
        return self._act(now)
