"""Writes of producers that wait, unappended, because another region may have taken their topics over meanwhile.

Kafka has no such thing. A layer above says for which topics (`region.HoldWrites`), and when they may go on. A producer
waits for as long as it has said; then it is told that nothing was stored.
"""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from brokers.effects import Effect
from brokers.ids import Instant, Ticket
from brokers.purgatory import Purgatory
from brokers.timers import Act

Abandoned: TypeAlias = MutableMapping[Ticket, Callable[[], None]]


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request. `appends` handles it from the beginning; `refuses`, too, but for what may not be written yet."""

    topics: frozenset[UUID]
    appends: Act
    refuses: Act
    leave: Callable[[], None]
    is_done: bool = False

    def expire(self, now: Instant) -> list[Effect]:
        self.leave()
        return self.refuses(now)


class HeldWrites:
    """`topics` are those that may not be written now, by their ids; `because`: what is waited for."""

    def __init__(self, purgatory: Purgatory, abandoned: Abandoned) -> None:
        self.topics: frozenset[UUID] = frozenset()
        self.because = ""
        self._purgatory = purgatory
        self._abandoned = abandoned
        self._waiting: dict[Ticket, _Waiting] = {}

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def put(
        self,
        ticket: Ticket,
        topics: frozenset[UUID],
        timeout_ms: int,
        *,
        appends: Act,
        refuses: Act,
        now: Instant,
    ) -> list[Effect]:
        """`appends` runs once none of these topics is held any more, `refuses` after `timeout_ms` otherwise."""
        waiting = _Waiting(topics, appends, refuses, lambda: self._leave(ticket))
        self._waiting[ticket] = waiting
        self._abandoned[ticket] = waiting.leave
        self._purgatory.put(waiting, max(0, timeout_ms), now)
        return []

    def hold(self, topics: frozenset[UUID], because: str, now: Instant) -> list[Effect]:
        """These topics from now on, and no others. What waits for none of them goes on, in the order of its arrival."""
        self.topics, self.because = topics, because
        free = [ticket for ticket, one in self._waiting.items() if one.topics.isdisjoint(topics)]
        effects: list[Effect] = []
        for ticket in free:
            waiting = self._waiting[ticket]
            waiting.leave()
            effects += waiting.appends(now)
        return effects

    def _leave(self, ticket: Ticket) -> None:
        """It goes on, is refused, or its client is gone."""
        self._abandoned.pop(ticket, None)
        self._waiting.pop(ticket).is_done = True
