"""One client of the Kafka listener: bytes become requests, replies become bytes, one request at a time.

Replies leave a connection in request order, as clients expect, because the next request is looked at only when the
one before has been answered and its bytes are on their way. An announced length allocates nothing: a connection's
buffer grows with the bytes that arrive.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from brokers.api import api_versions, versions
from brokers.events import Listener, Request
from brokers.ids import Ticket
from brokers.shell.inbox import Inbox
from brokers.shell.outbox import Outbox
from brokers.wire.codec import decode_request
from brokers.wire.frames import (
    API_VERSIONS,
    RequestHeader,
    UnsupportedVersion,
    encode_response_frame,
    parse_request_header,
)
from brokers.wire.message import Message
from brokers.wire.primitives import WireError

if TYPE_CHECKING:
    from brokers.shell.server import Server

logger = logging.getLogger(__name__)


class Connection(asyncio.BufferedProtocol):
    """One client. `_busy` is the ticket of the request that is being answered."""

    def __init__(self, server: "Server", listener: Listener = Listener.DATA) -> None:
        self._server = server
        self._listener = listener
        self._inbox = Inbox(server.frame_bytes_max)
        self._transport: asyncio.Transport
        self._busy: tuple[Ticket, RequestHeader] | None = None
        self._last_ticket: Ticket | None = None
        self._outbox: Outbox
        self._reading = True
        self._parsing = False
        self._closed = False
        self.used_at = 0.0

    @property
    def is_client(self) -> bool:
        """Other nodes are let in even where clients have taken every place."""
        return self._listener is Listener.DATA

    # --- asyncio's callbacks ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's derive from the base class
        self._outbox = Outbox(self._transport, self._server.room, self._advance, self.hang_up)
        peer = transport.get_extra_info("peername")
        self._host = str(peer[0]) if peer else "unknown"
        if not self._server.admit(self):
            transport.close()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._inbox.room()

    def buffer_updated(self, nbytes: int) -> None:
        self._inbox.received(nbytes)
        self._advance()

    def pause_writing(self) -> None:
        self._outbox.pause()

    def resume_writing(self) -> None:
        self._outbox.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        self._outbox.close()
        # Of a node, its end is news though it waits for nothing: the node may be gone.
        told = self._busy is not None or not self.is_client
        self._server.forget(self, self._last_ticket if told else None)

    # --- one request at a time ---

    def _advance(self) -> None:
        """Answer what is complete; a reply that comes while we are in here leaves the next request to us."""
        if self._parsing:
            return
        self._parsing = True
        self.used_at = self._server.time()
        outbox, feed = self._outbox, self._server.feed
        try:
            while self._busy is None and outbox.ready and not self._closed:
                request = self._next_request()
                if request is None:
                    break
                feed(request)
        finally:
            self._parsing = False
        if not self._closed:
            outbox.flush()
        self._throttle_reading()

    def _next_request(self) -> Request | None:
        """The next one that can be parsed; what can't be ends the connection, as Kafka does."""
        try:
            while (frame := self._inbox.frame()) is not None:
                request = self._parse(frame)
                if request is not None:
                    return request
        except WireError as error:
            self.hang_up(str(error))
        return None

    def _parse(self, frame: memoryview) -> Request | None:
        """None where the version of ApiVersions itself is unknown, which has been answered."""
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
        self._busy = (ticket, header)
        return Request(ticket, key, version, client_id, self._host, message, self._listener)

    def _answer_unsupported(self, error: UnsupportedVersion) -> None:
        if error.key != API_VERSIONS:
            raise error
        response = api_versions.unsupported()
        chunks = encode_response_frame(API_VERSIONS, 0, error.header.correlation_id, response)
        self._inbox.done()
        self._outbox.put(chunks, more_follows=self._parsing)

    def reply(self, message: object | None) -> None:
        assert self._busy is not None
        header = self._busy[1]
        self._busy = None
        self._inbox.done()
        if self._closed:
            return
        if message is not None:
            self._send(header, message)
        if not self._parsing:
            self._advance()

    def _send(self, header: RequestHeader, message: object) -> None:
        """What has no place in the asked version is our mistake, and costs one client its connection."""
        assert isinstance(message, Message)
        key, version, correlation_id, _ = header
        try:
            chunks = encode_response_frame(key, version, correlation_id, message)
        except WireError:
            logger.exception("the answer to API %d version %d can't be written", key, version)
            self.hang_up("an answer that can't be written")
            return
        self._outbox.put(chunks, more_follows=self._parsing and self._inbox.holds_more)

    def hang_up(self, reason: str) -> None:
        logger.warning("closing the connection from %s: %s", self._host, reason)
        self._outbox.flush()
        self.close()
        self._closed = True

    def _throttle_reading(self) -> None:
        """Stop reading what there is no room for until the request in hand is answered, and the answer gone."""
        held = self._busy is not None or not self._outbox.ready
        wanted = not self._closed and self._inbox.has_room(held=held)
        if wanted == self._reading or self._closed:
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def close(self) -> None:
        self._outbox.close()
        self._transport.close()

    def idle_since(self) -> float | None:
        """When the last request came, or something of a long answer went; None while one is being answered."""
        return None if self._busy else max(self.used_at, self._outbox.used_at)

    def shrink(self) -> None:
        self._inbox.shrink()
        self._outbox.shrink()
