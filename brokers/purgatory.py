"""Timeouts of waiting requests, as Kafka's DelayedOperationPurgatory, without a timer for each request.

Almost all requests complete long before their timeout. Requests with equal timeouts expire in the order of arrival, so
each distinct timeout has one queue with one timer. Adding a request first removes completed ones at the queue's head.
"""

from collections import deque
from typing import Protocol

from brokers.effects import Effect
from brokers.ids import Instant
from brokers.timers import Timers


class Expiring(Protocol):
    """A waiting request (Kafka's DelayedOperation)."""

    @property
    def is_done(self) -> bool: ...

    def expire(self, now: Instant) -> list[Effect]:
        """The request times out: replies with its present state."""


class Purgatory:
    """One queue for each distinct timeout, of which clients use few."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._queues: dict[int, deque[tuple[Instant, Expiring]]] = {}

    def put(self, waiting: Expiring, timeout_ms: int, now: Instant) -> None:
        """Calls `waiting.expire` after `timeout_ms`, unless it is done by then."""
        queue = self._queues.get(timeout_ms)
        if queue is None:
            queue = self._queues[timeout_ms] = deque()
            self._timers.set(now + timeout_ms, lambda at: self._on_time(timeout_ms, at))
        while queue and queue[0][1].is_done:
            queue.popleft()
        queue.append((now + timeout_ms, waiting))

    def _on_time(self, timeout_ms: int, now: Instant) -> list[Effect]:
        queue, effects = self._queues[timeout_ms], []
        while queue and (queue[0][1].is_done or queue[0][0] <= now):
            _, waiting = queue.popleft()
            if not waiting.is_done:
                effects += waiting.expire(now)
        if queue:
            self._timers.set(queue[0][0], lambda at: self._on_time(timeout_ms, at))
        else:
            del self._queues[timeout_ms]
        return effects
