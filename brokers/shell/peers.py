"""Requests of this node to others: an `Ask` becomes bytes, the response's bytes become `Answered`.

Each peer and channel has one connection, opened by the first `Ask`, and again by the first one after it was lost. Each
connection negotiates versions anew: the peer may have been restarted with another release. Requests are sent in order
without waiting for responses, which arrive in the same order. When a connection ends, every request without a response
is answered with the reason; nothing is sent twice. The cores limit how many are in flight.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol

from brokers.client.api_versions import NoCommonVersion
from brokers.client.connection import ClientConnection, ClientResponse
from brokers.effects import Ask
from brokers.events import Answered, AskFailure
from brokers.ids import BrokerId, Peer, Ticket
from brokers.shell.receive_threshold import ReceiveThreshold
from brokers.wire.message import Message
from brokers.wire.primitives import WireError

logger = logging.getLogger(__name__)


class AnswerFeed(Protocol):
    """Receives responses: `Node.feed`."""

    def __call__(self, event: Answered, /) -> None: ...


class _Waiting(NamedTuple):
    ticket: Ticket
    due: float  # by the loop's clock


class Channel(asyncio.BufferedProtocol):
    """One connection to a peer, or the attempt to make it, and the requests that have no response yet."""

    def __init__(self, peers: "Peers", peer: Peer, name: str) -> None:
        self._peers = peers
        self._peer = peer
        self._name = name
        self._connection: ClientConnection[_Waiting] = ClientConnection(
            f"broker-{peers.node_id}-{name}", response_bytes_max=peers.frame_bytes_max
        )
        self._transport: asyncio.Transport | None = None
        self._threshold = ReceiveThreshold()
        self._timer: asyncio.Handle | None = None
        self._fires_at = 0.0  # uvloop's handles have no `when` for a time that has passed
        self._used_at = peers.loop.time()
        self._connecting = peers.loop.create_task(self._connect())
        self._ended = False

    # --- out ---

    def send(self, ask: Ask) -> None:
        assert isinstance(ask.message, Message)
        now = self._used_at = self._peers.loop.time()
        waiting = _Waiting(ask.ticket, now + ask.timeout_ms / 1000)
        try:
            chunks = self._connection.send(waiting, ask.api_key, ask.message, ask.api_version)
        except NoCommonVersion as failure:
            # Not at once: a core that retries at once would block the loop.
            self._peers.loop.call_soon(self._not_sent, ask.ticket, failure)
            return
        if chunks and self._transport is not None:
            self._transport.writelines(chunks)
        if self._timer is None or waiting.due < self._fires_at:
            self._arm(waiting.due)

    async def _connect(self) -> None:
        try:
            await self._peers.loop.create_connection(lambda: self, self._peer.host, self._peer.port)
        except ConnectionRefusedError:
            self.end(AskFailure.REFUSED)
        except (OSError, UnicodeError):  # the latter for a name that no host can have
            self.end(AskFailure.CLOSED)

    # --- asyncio's callbacks ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's derive from the base class
        if self._ended:
            transport.close()
            return
        self._threshold = ReceiveThreshold(transport)
        self._transport.writelines(self._connection.start())  # type: ignore[union-attr]

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._connection.room()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for response in self._connection.received(nbytes):
                if self._ended:
                    return
                self._take(response)
        except WireError as error:
            logger.warning("no answer from %s on channel %s: %s", self._peer, self._name, error)
            self.end(AskFailure.UNREADABLE, rest=AskFailure.CLOSED)
            return
        if self._ended:
            return
        self._threshold.expect(self._connection.missing_bytes)
        chunks = self._connection.unsent()
        if chunks and self._transport is not None:
            self._transport.writelines(chunks)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end(AskFailure.CLOSED)

    # --- in ---

    def _take(self, response: ClientResponse[_Waiting]) -> None:
        waiting, message, failure = response
        if failure is not None:
            self._not_sent(waiting.ticket, failure)
            return
        self._used_at = self._peers.loop.time()
        self._peers.feed(Answered(waiting.ticket, message))

    def _not_sent(self, ticket: Ticket, failure: NoCommonVersion) -> None:
        logger.warning("nothing sent to %s on channel %s: %s", self._peer, self._name, failure)
        self._peers.feed(Answered(ticket, None, AskFailure.UNSUPPORTED_VERSION))

    # --- time ---

    def _arm(self, due: float) -> None:
        """Arms the one timer. It is not moved with each response: when it fires, it checks whether anything is due."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._fires_at = self._peers.loop.call_at(due, self._on_timer), due

    def _due(self) -> float:
        idle = self._used_at + self._peers.idle_seconds
        return min((each.due for each in self._connection.tokens()), default=idle)

    def _on_timer(self) -> None:
        self._timer = None
        now, due = self._peers.loop.time(), self._due()
        if due > now:
            self._arm(due)
            return
        late = [each.ticket for each in self._connection.tokens() if each.due <= now]
        self.end(AskFailure.CLOSED, late=late)  # an idle channel has no requests
        for ticket in late:
            self._peers.feed(Answered(ticket, None, AskFailure.TIMEOUT))

    # --- the end ---

    def end(
        self, first: AskFailure, *, rest: AskFailure | None = None, late: Collection[Ticket] = ()
    ) -> None:
        """Closes: the oldest request without a response fails with `first`, the others with `rest` or else the same.

        Requests in `late` are left to the caller.
        """
        if self._ended:
            return
        self._ended = True
        self._peers.forget(self._peer, self._name)
        self._connecting.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()
        failure = first
        for each in self._connection.tokens():
            if each.ticket not in late:
                self._peers.feed(Answered(each.ticket, None, failure))
                failure = rest or first


class Peers:
    """All channels of one node."""

    def __init__(
        self, node_id: BrokerId, feed: AnswerFeed, *, frame_bytes_max: int, idle_seconds: float
    ) -> None:
        self.node_id = node_id
        self.feed = feed
        self.frame_bytes_max = frame_bytes_max
        self.idle_seconds = idle_seconds
        self.loop = asyncio.get_running_loop()
        self.perform: dict[type, Callable[[Any], None]] = {Ask: self.ask}
        self._channels: dict[tuple[Peer, str], Channel] = {}

    def ask(self, ask: Ask) -> None:
        channel = self._channels.get((ask.peer, ask.channel))
        if channel is None:
            channel = self._channels[ask.peer, ask.channel] = Channel(self, ask.peer, ask.channel)
        channel.send(ask)

    def forget(self, peer: Peer, name: str) -> None:
        """The channel has ended: the next request opens a new one."""
        self._channels.pop((peer, name), None)

    def close(self) -> None:
        """End every channel; requests without a response fail as closed."""
        for channel in list(self._channels.values()):
            channel.end(AskFailure.CLOSED)
