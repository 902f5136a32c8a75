"""Times each request between a node's listeners and its core; used only where a node has a metrics.listener.

The time of a request is from when it was parsed to when its response is known, without parsing and encoding.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from brokers.effects import Hangup, Reply
from brokers.events import Disconnected, Request
from brokers.ids import Ticket
from brokers.shell.server import Feed, Server
from brokers.telemetry.traffic import Traffic


class Meter:
    """`feed` passes on a server's events; `perform` performs replies of the core."""

    def __init__(self, feed: Feed) -> None:
        self.traffic = Traffic()
        self._feed = feed
        self._unanswered: dict[Ticket, tuple[float, Request]] = {}

    def feed(self, event: Request | Disconnected) -> None:
        if type(event) is Request:
            self._unanswered[event.ticket] = (perf_counter(), event)
        else:
            self._forget(event)
        self._feed(event)

    def _forget(self, event: Request | Disconnected) -> None:
        assert isinstance(event, Disconnected)
        for ticket in event.tickets:
            self._unanswered.pop(ticket, None)

    def perform(self, server: Server) -> Mapping[type, Callable[[Any], None]]:
        """The effects for this server, by type. A reply is counted first: it frees the request's bytes."""

        def reply(effect: Reply) -> None:
            ticket = effect.ticket
            known = self._unanswered.pop(ticket, None)
            if known is not None:
                now = perf_counter()
                self.traffic.answered(known[1], effect.message, now - known[0], now)
            server.reply(ticket, effect.message)

        def hang_up(effect: Hangup) -> None:
            known = self._unanswered.pop(effect.ticket, None)
            if known is not None:
                now = perf_counter()
                self.traffic.hung_up(known[1], now - known[0], now)
            server.hang_up(effect.ticket, effect.reason)

        return {Reply: reply, Hangup: hang_up}

    def unanswered(self, api_key: int) -> int:
        """The number of requests of an API that are being answered."""
        return sum(request.api_key == api_key for _, request in self._unanswered.values())
