"""Stands between a node's listeners and its cores and times each request; only there where somebody may ask.

The time of a request runs from its being read to its answer being known; reading it from its bytes and writing the
answer's are not in it.
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
    """`feed` takes a server's events on their way in, `perform` its effects on their way out."""

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
        """What a node does with effects for this server: counted first, while the request's bytes are still there."""

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
        """Requests of a kind that wait for their answer now."""
        return sum(request.api_key == api_key for _, request in self._unanswered.values())
