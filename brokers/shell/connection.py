"""One client of the Kafka listener: bytes become requests, replies become bytes.

Replies are sent in the order of the requests, as clients expect. A request is parsed only when the one before has been
answered and its bytes are written; but consecutive Produce requests are handled together, so that one fetch of the
followers acknowledges all of them. A length prefix allocates nothing: a connection's buffer grows with the bytes that
arrive.
"""

import asyncio
import logging
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING

from brokers.api import api_versions, versions
from brokers.events import Listener, Request
from brokers.ids import DEFAULT_LISTENER, Ticket
from brokers.shell.receive_threshold import ReceiveThreshold
from brokers.shell.request_buffer import RequestBuffer
from brokers.shell.response_writer import ResponseWriter
from brokers.wire.codec import decode_request
from brokers.wire.frames import (
    RequestHeader,
    UnsupportedVersion,
    encode_response_frame,
    parse_request_header,
)
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.primitives import WireError

if TYPE_CHECKING:
    from brokers.shell.server import Server

logger = logging.getLogger(__name__)

PRODUCE = int(ApiKey.PRODUCE)
_PRODUCE_KEY = PRODUCE.to_bytes(2, "big")  # a request begins with its key
# Limits of one connection's unanswered Produce requests; beyond them the next one is not parsed.
HELD_REQUESTS_MAX = 256
HELD_BYTES_MAX = 4 << 20


class _InFlight:
    """A request whose answer has not been sent; `answer` is `_NONE_YET` until there is one."""

    __slots__ = ("answer", "header", "ticket")

    def __init__(self, ticket: Ticket, header: RequestHeader) -> None:
        self.ticket = ticket
        self.header = header
        self.answer: object = _NONE_YET


_NONE_YET: object = object()


class Connection(asyncio.BufferedProtocol):
    """One client. `_in_flight` are the requests being answered; `_next` waits until they are."""

    def __init__(
        self,
        server: "Server",
        listener: Listener = Listener.DATA,
        listener_name: str = DEFAULT_LISTENER,
    ) -> None:
        self._server = server
        self._listener = listener
        self._listener_name = listener_name
        self._buffer = RequestBuffer(server.frame_bytes_max)
        self._transport: asyncio.Transport
        self._threshold: ReceiveThreshold
        self._in_flight: deque[_InFlight] = deque()
        self._next: memoryview | None = None
        self._last_ticket: Ticket | None = None
        self._unsent: list[tuple[Ticket, float]] = []  # answers, and when their turns came
        self._writer: ResponseWriter
        self._reading = True
        self._parsing = False
        self._closed = False
        self.used_at = 0.0

    @property
    def listener_name(self) -> str:
        return self._listener_name

    @property
    def is_client(self) -> bool:
        """Whether max.connections limits this connection; other nodes may always connect."""
        return self._listener is Listener.DATA

    # --- asyncio's callbacks ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's derive from the base class
        self._threshold = ReceiveThreshold(transport)
        self._writer = ResponseWriter(
            self._transport, self._server.room, self._advance, self.hang_up
        )
        peer = transport.get_extra_info("peername")
        self.host = str(peer[0]) if peer else "unknown"
        if not self._server.admit(self):
            transport.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer.room()

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer.received(nbytes)
        self._advance()
        if not self._closed:
            self._threshold.expect(self._buffer.missing_bytes)

    def pause_writing(self) -> None:
        self._writer.pause()

    def resume_writing(self) -> None:
        self._writer.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        self._writer.close()
        tickets = tuple(each.ticket for each in self._in_flight)
        # The end of a node's connection is reported although no request waits: the node may be gone.
        if not tickets and not self.is_client and self._last_ticket is not None:
            tickets = (self._last_ticket,)
        self._server.forget(self, tickets)
        if (sent := self._server.sent) is not None:
            now = perf_counter()
            answered = [each for each in self._in_flight if each.answer is not _NONE_YET]
            for ticket, turn in (*self._unsent, *((each.ticket, now) for each in answered)):
                sent(ticket, turn)
            self._unsent.clear()

    # --- requests ---

    def _advance(self) -> None:
        """Handle the complete requests. A reply that is made meanwhile does not call this again."""
        if self._parsing:
            return
        self._parsing = True
        if self._unsent:
            self._tell_sent()
        self.used_at = self._server.time()
        writer, feed = self._writer, self._server.feed
        try:
            while self._may_take and not self._closed:
                request = self._next_request()
                if request is None:
                    break
                feed(request)
        finally:
            self._parsing = False
        if not self._closed:
            writer.flush()
        if self._unsent:
            self._tell_sent()
        self._throttle_reading()

    @property
    def _may_take(self) -> bool:
        """Whether the next request may be parsed; if requests are in flight, it must also be a Produce request."""
        if not self._writer.ready:
            return False
        in_flight = self._in_flight
        if not in_flight:
            return True
        return (
            self._next is None
            and in_flight[-1].header.api_key == PRODUCE
            and len(in_flight) < HELD_REQUESTS_MAX
            and self._buffer.held_bytes < HELD_BYTES_MAX
        )

    def _next_frame(self) -> memoryview | None:
        """The next whole frame that may be parsed now."""
        frame, self._next = self._next, None
        if frame is None:
            frame = self._buffer.frame()
        if frame is not None and self._in_flight and frame[:2] != _PRODUCE_KEY:
            self._next, frame = frame, None
        return frame

    def _next_request(self) -> Request | None:
        """The next request. Bytes that are no request close the connection, as in Kafka."""
        try:
            while (frame := self._next_frame()) is not None:
                request = self._parse(frame)
                if request is not None:
                    return request
        except WireError as error:
            self.hang_up(str(error))
        return None

    def _parse(self, frame: memoryview) -> Request | None:
        """The request; None for an unknown version of ApiVersions, which this has answered."""
        try:
            header, position = parse_request_header(frame)
            key, version, _, client_id = header
            if not versions.is_served(key, version, self._listener):
                raise UnsupportedVersion(header)
        except UnsupportedVersion as error:
            self._answer_unsupported(error)
            return None
        message = decode_request(key, version, frame, position)
        ticket = self._last_ticket = self._server.new_ticket(self)
        self._in_flight.append(_InFlight(ticket, header))
        return Request(
            ticket, key, version, client_id, self.host, message, self._listener,
            listener_name=self._listener_name,
        )  # fmt: skip

    def _answer_unsupported(self, error: UnsupportedVersion) -> None:
        if error.key != ApiKey.API_VERSIONS:
            raise error
        response = api_versions.unsupported()
        chunks = encode_response_frame(
            ApiKey.API_VERSIONS, 0, error.header.correlation_id, response
        )
        self._buffer.done()
        self._writer.put(chunks, more_follows=self._parsing)

    def reply(self, ticket: Ticket, message: object | None) -> None:
        """Take the answer to a request; it is sent after the answers to all earlier requests."""
        in_flight = self._in_flight
        for each in in_flight:
            if each.ticket == ticket:
                each.answer = message
                break
        while in_flight and in_flight[0].answer is not _NONE_YET:
            self._answer(in_flight.popleft())
        if not self._parsing:
            self._advance()

    def _answer(self, in_flight: _InFlight) -> None:
        self._buffer.done()
        if self._server.sent is not None:
            self._unsent.append((in_flight.ticket, perf_counter()))
        if in_flight.answer is not None and not self._closed:
            more_follows = bool(self._in_flight) and self._in_flight[0].answer is not _NONE_YET
            self._send(in_flight.header, in_flight.answer, more_follows=more_follows)

    def _tell_sent(self) -> None:
        if self._writer.is_idle and (sent := self._server.sent) is not None:
            unsent, self._unsent = self._unsent, []
            for ticket, turn in unsent:
                sent(ticket, turn)

    def _send(self, header: RequestHeader, message: object, *, more_follows: bool) -> None:
        """A message that its version cannot encode is a bug; it closes only this connection."""
        assert isinstance(message, Message)
        key, version, correlation_id, _ = header
        try:
            chunks = encode_response_frame(key, version, correlation_id, message)
        except WireError:
            logger.exception("the answer to API %d version %d can't be written", key, version)
            self.hang_up("an answer that can't be written")
            return
        more_follows = more_follows or (self._parsing and self._buffer.holds_more)
        self._writer.put(chunks, more_follows=more_follows)

    def hang_up(self, reason: str) -> None:
        logger.warning("closing the connection from %s: %s", self.host, reason)
        self._writer.flush()
        self.close()
        self._closed = True

    def _throttle_reading(self) -> None:
        """Stop reading while the buffer is full and no request may be parsed."""
        wanted = not self._closed and (not self._buffer.is_full or self._may_take)
        if wanted == self._reading or self._closed:
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def close(self) -> None:
        self._writer.close()
        self._transport.close()

    def expire(self) -> None:
        """Close an idle connection. Unsent bytes are dropped: a client that no longer reads would block the close."""
        has_unread = self._transport.get_write_buffer_size() > 0
        self.close()
        if has_unread:
            self._transport.abort()

    def idle_since(self) -> float | None:
        """When the last request arrived, or bytes of a long answer were sent; None while a request is in flight."""
        is_answering = self._in_flight and not self._closed
        return None if is_answering else max(self.used_at, self._writer.used_at)

    def shrink(self) -> None:
        self._buffer.shrink()
        self._writer.shrink()
