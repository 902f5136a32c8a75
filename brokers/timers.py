"""Deadlines as data: a core sets and cancels them, its host asks for the next one."""

import heapq
from collections.abc import Callable
from typing import Any

from brokers.ids import Instant

Act = Callable[[Instant], list[Any]]


def earliest(*deadlines: Instant | None) -> Instant | None:
    """The first of those that there are. Hosts ask after every step."""
    first = None
    for due in deadlines:
        if due is not None and (first is None or due < first):
            first = due
    return first


class Timers:
    """A heap of (due, act). `due(now)` hands out the acts whose time has come, oldest first; `deadline` is the next."""

    __slots__ = ("_acts", "_heap", "_next_id", "deadline")

    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int]] = []
        self._acts: dict[int, Act] = {}
        self._next_id = 0
        self.deadline: Instant | None = None

    def set(self, due: Instant, act: Act) -> int:
        """Returns an id for `cancel`."""
        self._next_id += 1
        self._acts[self._next_id] = act
        heapq.heappush(self._heap, (due, self._next_id))
        if self.deadline is None or due < self.deadline:
            self.deadline = due
        return self._next_id

    def cancel(self, timer: int) -> None:
        """Forgets the timer; one that has fired or was cancelled before is fine."""
        if self._acts.pop(timer, None) is not None and self._heap[0][1] == timer:
            self._look_ahead()

    def due(self, now: Instant) -> list[Act]:
        acts = []
        while self.deadline is not None and self.deadline <= now:
            acts.append(self._acts.pop(heapq.heappop(self._heap)[1]))
            self._look_ahead()
        return acts

    def _look_ahead(self) -> None:
        """Cancelled timers leave the heap when they come to its top."""
        while self._heap and self._heap[0][1] not in self._acts:
            heapq.heappop(self._heap)
        self.deadline = self._heap[0][0] if self._heap else None
