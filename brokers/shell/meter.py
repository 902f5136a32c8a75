"""Times each request from its arrival until its answer is sent; used where a node has a metrics.listener or a slow log.

A request arrives when it is parsed. It is taken up when the core steps it, once its batches are compressed anew where
that is needed, and worked on until the node has nothing else to do: what the core asks for is performed in between, as
writes to the page cache. From then on it waits for others. Its answer waits for earlier ones of its connection, is
encoded, and is sent when the kernel has all of it.
"""

from collections.abc import Callable, Mapping
from operator import sub
from time import perf_counter
from typing import Any

from brokers.effects import Hangup, Reply
from brokers.events import Disconnected, Request
from brokers.ids import Ticket
from brokers.shell.node import Node
from brokers.shell.recompressing import Recompressing
from brokers.shell.server import Server
from brokers.shell.slow_requests import SlowRequests
from brokers.shell.timed_request import TimedRequest
from brokers.telemetry.request_times import RequestParts
from brokers.telemetry.traffic import Traffic


class Meter:
    """`feed` passes on a server's events; `perform` performs replies of the core."""

    def __init__(
        self, node: Node, before: Recompressing | None = None, slow: SlowRequests | None = None
    ) -> None:
        """`before`: where requests may wait for the node; `slow`: what is told of requests that take long."""
        self.traffic = Traffic()
        self._node = node
        self._feed = node.feed if before is None else before.feed
        self._waiting = frozenset[Ticket]() if before is None else before.waiting
        self._slow = slow
        self._timed: dict[Ticket, TimedRequest] = {}  # until all of the answer is sent

    def feed(self, event: Request | Disconnected) -> None:
        if type(event) is not Request:
            self._forget(event)
            self._feed(event)
            return
        timed = self._timed[event.ticket] = TimedRequest(event, perf_counter())
        if self._node.is_feeding:
            self._node.queued[event.ticket] = timed
            self._feed(event)
            return
        self._feed(event)
        if timed.worked_on < 0:
            if event.ticket in self._waiting:
                self._node.queued[event.ticket] = timed
            else:
                timed.worked_on = perf_counter()

    def _forget(self, event: Request | Disconnected) -> None:
        assert isinstance(event, Disconnected)
        for ticket in event.tickets:
            self._timed.pop(ticket, None)

    def perform(self, server: Server) -> Mapping[type, Callable[[Any], None]]:
        """The effects for this server, by type. A reply is counted first: it frees the request's bytes."""
        server.sent = self._sent
        timed_requests, answered = self._timed, self.traffic.answered
        send, slow = server.reply, self._slow

        def reply(effect: Reply) -> None:
            timed = timed_requests.get(effect.ticket)
            if timed is not None:
                now = timed.answered = perf_counter()
                if timed.worked_on < 0:
                    timed.worked_on = now
                request, timed.request = timed.request, None
                assert request is not None
                if slow is not None:
                    timed.asked = slow.asked(request)
                timed.api = answered(request, effect.message, now)
            send(effect.ticket, effect.message)

        def hang_up(effect: Hangup) -> None:
            timed = timed_requests.pop(effect.ticket, None)
            if timed is not None:
                now = timed.answered = timed.worked_on = perf_counter()
                request, timed.request = timed.request, None
                assert request is not None
                if slow is not None:
                    timed.asked = slow.asked(request)
                timed.api = self.traffic.hung_up(request, now)
                self._count(timed, now, now)
            server.hang_up(effect.ticket, effect.reason)

        return {Reply: reply, Hangup: hang_up}

    def _sent(self, ticket: Ticket, turn: float) -> None:
        """All of the answer is sent, or its connection has ended; its turn on the connection came at `turn`."""
        timed = self._timed.pop(ticket, None)
        if timed is not None:
            self._count(timed, turn, perf_counter())

    def _count(self, timed: TimedRequest, turn: float, now: float) -> None:
        stamps = (timed.arrived, timed.taken_up, timed.worked_on, timed.answered, turn, now)
        timed.api.times.add(stamps)
        if self._slow is not None and timed.asked is not None:
            parts = RequestParts(*map(sub, stamps[1:], stamps))
            self._slow.took(timed.asked, parts, now)

    def unanswered(self, api_key: int) -> int:
        """The number of requests of an API that are being answered."""
        waiting = (timed.request for timed in self._timed.values())
        return sum(each is not None and each.api_key == api_key for each in waiting)
