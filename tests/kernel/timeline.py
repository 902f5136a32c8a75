"""Virtual time. Acts of one instant happen in the order in which they were asked for."""

import heapq
from collections.abc import Callable

from brokers.ids import Instant

Act = Callable[[], None]


class Schedule:
    """What happens when; `due` is how time passes."""

    def __init__(self, start: Instant = 0) -> None:
        self.now = start
        self._heap: list[tuple[Instant, int, Act]] = []
        self._asked = 0

    def at(self, instant: Instant, act: Act) -> None:
        self._asked += 1
        heapq.heappush(self._heap, (max(instant, self.now), self._asked, act))

    def after(self, milliseconds: int, act: Act) -> None:
        self.at(self.now + milliseconds, act)

    def due(self, until: Instant) -> Act | None:
        """The next act up to an instant, which is now; None if there is none until then."""
        if not self._heap or self._heap[0][0] > until:
            return None
        self.now, _, act = heapq.heappop(self._heap)
        return act


class Timeline(Schedule):
    """`run` lets time pass."""

    step_ms = 10  # how often `run_until` looks

    def run(self, milliseconds: int) -> None:
        until = self.now + milliseconds
        while (act := self.due(until)) is not None:
            act()
        self.now = until

    def run_until(self, is_so: Callable[[], bool], bound: int = 20_000) -> int:
        """How many milliseconds it took."""
        begun = self.now
        while not is_so():
            assert self.now - begun <= bound, f"not so after {bound} ms: {self.describe()}"
            self.run(self.step_ms)
        return self.now - begun

    def describe(self) -> str:
        """What one wants to know when it takes too long."""
        return str(self.now)


class Alarm:
    """Rings once, at the instant that was set last."""

    def __init__(self, timeline: Schedule, ring: Act) -> None:
        self._timeline, self._ring = timeline, ring
        self._due: Instant | None = None

    def set(self, due: Instant | None, delay: int | None = None) -> None:
        """Ring at `due`; after `delay` milliseconds, where that is an instant of another clock."""
        if due is not None and due != self._due:
            self._due = due
            wait = due - self._timeline.now if delay is None else delay
            self._timeline.after(max(0, wait), lambda: self._on_time(due))

    def _on_time(self, due: Instant) -> None:
        if due == self._due:
            self._due = None
            self._ring()
