"""What this node asks of others: `Ask` becomes bytes, the answer's bytes become `Answered`.

One connection for each peer and channel, opened by the first `Ask` and again by the first one after it was lost.
Requests leave in order without waiting for one another's answers, which come in the same order. When a connection ends
all who wait on it hear why; nothing is sent twice. How many wait is the cores' affair: they ask one thing at a time or
a few.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from brokers.effects import Ask
from brokers.events import Answered, AskFailure
from brokers.ids import BrokerId, Buffer, Peer, Ticket
from brokers.shell.intake import Intake
from brokers.wire.codec import decode_response
from brokers.wire.frames import RequestHeader, encode_request_frame, parse_response_header
from brokers.wire.message import Message
from brokers.wire.primitives import WireError

logger = logging.getLogger(__name__)
LAST_CORRELATION_ID = (1 << 31) - 1


class Feed(Protocol):
    """Where answers go: `Node.feed`."""

    def __call__(self, event: Answered, /) -> None: ...


class _Waiting(NamedTuple):
    ticket: Ticket
    api_key: int
    api_version: int
    correlation_id: int
    due: float  # by the loop's clock


class Channel(asyncio.BufferedProtocol):
    """One connection, or the attempt at one, and who waits for answers on it, in order."""

    def __init__(self, peers: "Peers", peer: Peer, name: str) -> None:
        self._peers = peers
        self._peer = peer
        self._name = name
        self._client_id = f"broker-{peers.node_id}-{name}"
        self._intake = Intake(peers.frame_bytes_max)
        self._waiting: deque[_Waiting] = deque()
        self._unsent: list[Buffer] = []
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.Handle | None = None
        self._fires_at = 0.0  # uvloop's handles don't tell, where the time is over at once
        self._used_at = peers.loop.time()
        self._last_correlation_id = 0
        self._connecting = peers.loop.create_task(self._connect())
        self._ended = False

    # --- out ---

    def send(self, ask: Ask) -> None:
        assert isinstance(ask.message, Message)
        now = self._peers.loop.time()
        self._last_correlation_id = self._last_correlation_id % LAST_CORRELATION_ID + 1
        key, version, correlation_id = ask.api_key, ask.api_version, self._last_correlation_id
        header = RequestHeader(key, version, correlation_id, self._client_id)
        chunks = encode_request_frame(header, ask.message)
        due = now + ask.timeout_ms / 1000
        self._waiting.append(_Waiting(ask.ticket, key, version, correlation_id, due))
        self._used_at = now
        if self._timer is None or due < self._fires_at:
            self._arm(due)
        if self._transport is None:
            self._unsent += chunks
        else:
            self._transport.writelines(chunks)

    async def _connect(self) -> None:
        try:
            await self._peers.loop.create_connection(lambda: self, self._peer.host, self._peer.port)
        except ConnectionRefusedError:
            self.end(AskFailure.REFUSED)
        except OSError:
            self.end(AskFailure.CLOSED)

    # --- asyncio's callbacks ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's derive from the base class
        if self._ended:
            transport.close()
            return
        unsent, self._unsent = self._unsent, []
        self._transport.writelines(unsent)  # type: ignore[union-attr]

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._intake.room()

    def buffer_updated(self, nbytes: int) -> None:
        self._intake.received(nbytes)
        try:
            for frame in self._intake.frames():
                self._take(frame)
        except WireError as error:
            logger.warning("no answer from %s on channel %s: %s", self._peer, self._name, error)
            self.end(AskFailure.UNREADABLE, rest=AskFailure.CLOSED)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end(AskFailure.CLOSED)

    # --- in ---

    def _take(self, frame: memoryview) -> None:
        if self._ended:
            return
        if not self._waiting:
            raise WireError("an answer that nobody asked for")
        first = self._waiting[0]
        correlation_id, position = parse_response_header(first.api_key, first.api_version, frame)
        if correlation_id != first.correlation_id:
            raise WireError(f"answer {correlation_id} instead of {first.correlation_id}")
        message = decode_response(first.api_key, first.api_version, frame, position)
        self._waiting.popleft()
        self._used_at = self._peers.loop.time()
        self._peers.feed(Answered(first.ticket, message))

    # --- time ---

    def _arm(self, due: float) -> None:
        """One timer, seldom moved: it looks when it fires whether anything is due by then."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._fires_at = self._peers.loop.call_at(due, self._on_timer), due

    def _due(self) -> float:
        if self._waiting:
            return min(each.due for each in self._waiting)
        return self._used_at + self._peers.idle_seconds

    def _on_timer(self) -> None:
        self._timer = None
        now, due = self._peers.loop.time(), self._due()
        if due > now:
            self._arm(due)
            return
        late = [each for each in self._waiting if each.due <= now]
        self._waiting = deque(each for each in self._waiting if each.due > now)
        self.end(AskFailure.CLOSED)  # nobody, if the channel was idle
        for each in late:
            self._peers.feed(Answered(each.ticket, None, AskFailure.TIMEOUT))

    # --- the end ---

    def end(self, first: AskFailure, *, rest: AskFailure | None = None) -> None:
        """Closes; the oldest who waits hears `first`, the others `rest` (or the same)."""
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
        for each in self._waiting:
            self._peers.feed(Answered(each.ticket, None, failure))
            failure = rest or first
        self._waiting.clear()


class Peers:
    """All channels of one node."""

    def __init__(
        self, node_id: BrokerId, feed: Feed, *, frame_bytes_max: int, idle_seconds: float
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
        """The channel has ended: the next one who asks gets a new one."""
        self._channels.pop((peer, name), None)

    def close(self) -> None:
        """End every channel; who still waits hears that it closed."""
        for channel in list(self._channels.values()):
            channel.end(AskFailure.CLOSED)
