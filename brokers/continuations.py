"""What runs when an answer comes: from this node's storage, or from another node.

An effect that has an answer carries a ticket. The answer is an event with the same ticket, and runs the continuation
that was kept for it. A continuation returns effects, as a request handler does.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from brokers.effects import Ask, Effect
from brokers.events import Answered, LogAnswer
from brokers.ids import Instant, Peer, Ticket

# Receives a response, a result or a `Refusal`.
Then: TypeAlias = Callable[[Any, Instant], list[Effect]]
OnRead: TypeAlias = Callable[[LogAnswer, Instant], list[Effect]]
OnAnswer: TypeAlias = Callable[[Answered, Instant], list[Effect]]
Abandon: TypeAlias = Callable[[], None]
# `Continuations.ask`
AskPeer: TypeAlias = Callable[[Peer, str, int, int, object, int, OnAnswer], list[Effect]]


class Continuations:
    """Each continuation runs at most once. `abandoned` has what to do when the client of a ticket disconnects."""

    def __init__(self) -> None:
        self.answered: dict[Ticket, OnRead] = {}
        self.abandoned: dict[Ticket, Abandon] = {}
        self._asked: dict[Ticket, OnAnswer] = {}
        self._last_ticket: Ticket = 0

    def new_ticket(self) -> Ticket:
        """Tickets of the core's own are negative, so that they never equal a connection's."""
        self._last_ticket -= 1
        return self._last_ticket

    def on_storage(self, then: OnRead) -> Ticket:
        """The ticket for an effect that storage answers; `then` receives the answer."""
        ticket = self.new_ticket()
        self.answered[ticket] = then
        return ticket

    def on_peer(self, ticket: Ticket, then: OnAnswer) -> None:
        """`then` receives the answer to an `Ask` that has this ticket already."""
        self._asked[ticket] = then

    def ask(
        self,
        peer: Peer,
        channel: str,
        api_key: int,
        api_version: int,
        message: object,
        timeout_ms: int,
        then: OnAnswer,
    ) -> list[Effect]:
        """Send a request to another node; `then` receives the answer, or why there is none, exactly once."""
        ticket = self.new_ticket()
        self._asked[ticket] = then
        return [Ask(ticket, peer, channel, api_key, api_version, message, timeout_ms)]

    def storage_answered(self, event: LogAnswer, now: Instant) -> list[Effect]:
        return self.answered.pop(event.ticket)(event, now)

    def peer_answered(self, event: Answered, now: Instant) -> list[Effect]:
        return self._asked.pop(event.ticket)(event, now)

    def disconnected(self, tickets: Iterable[Ticket]) -> None:
        """The clients of these tickets are gone: what waits on their behalf is dropped."""
        for ticket in tickets:
            abandon: Abandon | None = self.abandoned.pop(ticket, None)
            if abandon is not None:
                abandon()
