"""What nodes ask one another: an `Ask` becomes a `Request` of the node that it reaches, a reply becomes `Answered`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brokers.effects import Ask
from brokers.events import Answered, AskFailure, Listener, Request
from brokers.ids import Ticket
from tests.kernel.requests import as_read, as_received
from tests.kernel.timeline import Timeline


@dataclass(slots=True)
class Flight:
    """A question on its way: who asked, and the node that it has reached."""

    asker: Any
    ask: Ask
    target: Any = None


class Exchange:
    """Each question is answered once, by whatever comes first: the answer, a failure, or the end of its time."""

    def __init__(self, timeline: Timeline, answered: Callable[[Any, Answered], None]) -> None:
        self._timeline, self._answered = timeline, answered
        self.flights: dict[Ticket, Flight] = {}
        self._last_ticket: Ticket = 0

    def begin(self, asker: Any, ask: Ask) -> Ticket:
        self._last_ticket += 1
        ticket = self._last_ticket
        self.flights[ticket] = Flight(asker, ask)
        self._timeline.after(ask.timeout_ms, lambda: self.end(ticket, None, AskFailure.TIMEOUT))
        return ticket

    def arrive(self, ticket: Ticket, target: Any, listener: Listener) -> Request:
        """The request, as it arrives at a node."""
        flight = self.flights[ticket]
        flight.target, ask = target, flight.ask
        message = as_received(ask.api_key, ask.api_version, ask.message)
        return Request(ticket, ask.api_key, ask.api_version, None, "node", message, listener)

    def end(self, ticket: Ticket, message: Any, failure: AskFailure = AskFailure.NONE) -> None:
        flight = self.flights.pop(ticket, None)
        if flight is not None:
            ask = flight.ask
            read = None if message is None else as_read(ask.api_key, ask.api_version, message)
            self._answered(flight.asker, Answered(ask.ticket, read, failure))

    def gone(self, node: Any) -> list[Ticket]:
        """A life has ended, and nobody hears what it asked; what others asked it, who wait yet."""
        self.flights = {
            ticket: flight for ticket, flight in self.flights.items() if flight.asker is not node
        }
        return [ticket for ticket, flight in self.flights.items() if flight.target is node]
