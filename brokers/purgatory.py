"""Requests that are given up after the time their clients allow, in numbers too large for a timer each.

Almost all are answered long before. Those of one allowance expire in the order they came, so they stand in a queue with
one timer; whoever joins it first removes those at its head that have been answered.
"""

from collections import deque
from typing import Protocol

from brokers.effects import Effect
from brokers.ids import Instant
from brokers.timers import Timers


class Expiring(Protocol):
    """A request that waits."""

    @property
    def is_done(self) -> bool: ...

    def expire(self, now: Instant) -> list[Effect]:
        """Answer as things stand."""


class Purgatory:
    """One queue for each allowance; clients have few different ones."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._queues: dict[int, deque[tuple[Instant, Expiring]]] = {}

    def put(self, waiting: Expiring, allowance_ms: int, now: Instant) -> None:
        """`waiting.expire` runs after so long, unless it is done by then."""
        queue = self._queues.get(allowance_ms)
        if queue is None:
            queue = self._queues[allowance_ms] = deque()
            self._timers.set(now + allowance_ms, lambda at: self._on_time(allowance_ms, at))
        while queue and queue[0][1].is_done:
            queue.popleft()
        queue.append((now + allowance_ms, waiting))

    def _on_time(self, allowance_ms: int, now: Instant) -> list[Effect]:
        queue, effects = self._queues[allowance_ms], []
        while queue and (queue[0][1].is_done or queue[0][0] <= now):
            _, waiting = queue.popleft()
            if not waiting.is_done:
                effects += waiting.expire(now)
        if queue:
            self._timers.set(queue[0][0], lambda at: self._on_time(allowance_ms, at))
        else:
            del self._queues[allowance_ms]
        return effects
