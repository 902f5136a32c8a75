"""Deadlines as data: a core sets and cancels them, its host asks for the next one."""

import heapq
from collections.abc import Callable
from typing import Any

from brokers.ids import Instant

Act = Callable[[Instant], list[Any]]


class Timers:
    """A heap of (due, act). `due(now)` hands out the acts whose time has come, oldest first."""

    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int]] = []
        self._acts: dict[int, Act] = {}
        self._next_id = 0

    def set(self, due: Instant, act: Act) -> int:
        """Returns an id for `cancel`."""
        self._next_id += 1
        self._acts[self._next_id] = act
        heapq.heappush(self._heap, (due, self._next_id))
        return self._next_id

    def cancel(self, timer: int) -> None:
        """Forgets the timer; one that has fired or was cancelled before is fine."""
        self._acts.pop(timer, None)

    @property
    def deadline(self) -> Instant | None:
        while self._heap and self._heap[0][1] not in self._acts:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def due(self, now: Instant) -> list[Act]:
        acts = []
        while (deadline := self.deadline) is not None and deadline <= now:
            acts.append(self._acts.pop(heapq.heappop(self._heap)[1]))
        return acts
