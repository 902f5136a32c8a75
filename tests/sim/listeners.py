"""A node's Kafka listeners: connections that take up one request at a time, or Produce requests in a row, as those of
`brokers/shell/connection.py` do.

Requests cross as bytes of the real wire format. A request's buffer is overwritten once it is answered: whoever kept a
slice of it reads rubbish.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from brokers.api import versions
from brokers.api.produce import KEY as PRODUCE
from brokers.events import Disconnected, Request
from brokers.events import Listener as Kind
from brokers.ids import Ticket
from brokers.wire.codec import decode_request
from brokers.wire.frames import RequestHeader, encode_response_frame, parse_request_header
from brokers.wire.message import Message
from tests.sim.network import Network, Pipe

if TYPE_CHECKING:
    from tests.sim.nodes import Node

LENGTH_BYTES = 4
SERVER = 1  # the end of each pipe that is the node's
Received = Callable[[bytes], None]


class _Asked:
    """A request in hand; `answer` is the bytes for the client, empty where it wants none, None while nobody knows."""

    def __init__(self, ticket: Ticket, header: RequestHeader, frame: bytearray) -> None:
        self.ticket = ticket
        self.header = header
        self.frame = frame
        self.answer: bytes | None = None


class Connection:
    """The server's end of one connection of a client, or of another node."""

    def __init__(self, node: "Node", pipe: Pipe, kind: Kind, received: Received) -> None:
        self._node = node
        self._pipe = pipe
        self._kind = kind
        self._received = received  # the client's end
        self._waiting: deque[bytearray] = deque()
        self._asked: deque[_Asked] = deque()
        pipe.lost[SERVER] = self._on_lost

    def on_frame(self, frame: bytearray) -> None:
        self._waiting.append(frame)
        self._advance()

    def _advance(self) -> None:
        while self._waiting and self._pipe.open:
            header, position = parse_request_header(memoryview(self._waiting[0]))
            asked = self._asked
            if asked and not asked[-1].header.api_key == header.api_key == PRODUCE:
                return
            frame = self._waiting.popleft()
            assert versions.is_served(header.api_key, header.api_version, self._kind), header
            version = header.api_version
            message = decode_request(header.api_key, version, memoryview(frame), position)
            ticket = self._node.listener.admit(self)
            asked.append(_Asked(ticket, header, frame))
            request = Request(ticket, *_identity(header), "client", message, self._kind)
            self._node.deliver(request)

    def reply(self, ticket: Ticket, message: Message | None) -> None:
        (asked,) = (each for each in self._asked if each.ticket == ticket)
        asked.answer = b"" if message is None else _encoded(asked.header, message)
        while self._asked and self._asked[0].answer is not None:
            self._send(self._asked.popleft())
        self._advance()

    def _send(self, asked: _Asked) -> None:
        data = asked.answer
        if data:
            self._pipe.send(SERVER, lambda: self._received(data), len(data))
        asked.frame[:] = b"\xaa" * len(asked.frame)

    def hang_up(self) -> None:
        self._pipe.close(SERVER)
        self._asked.clear()

    def _on_lost(self, _: str) -> None:
        self._waiting.clear()
        tickets = tuple(asked.ticket for asked in self._asked)
        self._asked.clear()
        for ticket in tickets:
            self._node.listener.forget(ticket)
        if tickets:
            self._node.deliver(Disconnected(tickets))


def _encoded(header: RequestHeader, message: Message) -> bytes:
    chunks = encode_response_frame(
        header.api_key, header.api_version, header.correlation_id, message
    )
    return b"".join(bytes(chunk) for chunk in chunks)[LENGTH_BYTES:]


def _identity(header: RequestHeader) -> tuple[int, int, str | None]:
    return header.api_key, header.api_version, header.client_id


class Listener:
    """The tickets of what the clients of one process wait for, whichever of its listeners they came to."""

    def __init__(self, node: "Node", network: Network) -> None:
        self._node = node
        self._network = network
        self._tickets: dict[Ticket, Connection] = {}
        self._last_ticket: Ticket = 0

    def accept(
        self, client: str, received: Received, kind: Kind = Kind.DATA
    ) -> tuple[Pipe, Connection]:
        """A client at the place `client` connects; it is end 0 of the pipe."""
        pipe = self._network.pipe(client, self._node.place)
        return pipe, Connection(self._node, pipe, kind, received)

    def admit(self, connection: Connection) -> Ticket:
        self._last_ticket += 1
        self._tickets[self._last_ticket] = connection
        return self._last_ticket

    def forget(self, ticket: Ticket) -> None:
        self._tickets.pop(ticket, None)

    def reply(self, ticket: Ticket, message: object | None) -> None:
        connection = self._tickets.pop(ticket, None)
        if connection is not None:
            assert message is None or isinstance(message, Message)
            connection.reply(ticket, message)

    def hang_up(self, ticket: Ticket, _: str) -> None:
        connection = self._tickets.pop(ticket, None)
        if connection is not None:
            connection.hang_up()

    def die(self) -> None:
        self._tickets.clear()
