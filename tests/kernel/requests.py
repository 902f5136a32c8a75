"""Messages cross as bytes: what arrives is what their version can carry."""

from typing import Any

from brokers.effects import Reply
from brokers.events import Request
from brokers.ids import Ticket
from brokers.wire import codec
from brokers.wire.message import Message


def as_received(key: int, version: int, message: Any) -> Any:
    """A request as a node decodes it, from a buffer that is the node's own."""
    body = bytearray(b"".join(codec.encode_request(key, version, message)))
    return codec.decode_request(key, version, memoryview(body), 0)


def as_read(key: int, version: int, message: Any) -> Any:
    """A response as the client decodes it."""
    assert isinstance(message, Message)
    body = b"".join(map(bytes, codec.encode_response(key, version, message)))
    return codec.decode_response(key, version, body, 0)


class Requests:
    """Of one client. `answers` has what it was answered, by ticket: None where there is nothing to read."""

    def __init__(self) -> None:
        self.answers: dict[Ticket, Any] = {}
        self._versions: dict[Ticket, tuple[int, int]] = {}

    def request(self, key: int, version: int, message: Message) -> Request:
        ticket = len(self._versions) + 1
        self._versions[ticket] = (key, version)
        received = as_received(key, version, message)
        return Request(ticket, key, version, "client", "127.0.0.1", received)

    def answered(self, reply: Reply) -> None:
        assert reply.ticket not in self.answers, "answered twice"
        message = reply.message
        read = None if message is None else as_read(*self._versions[reply.ticket], message)
        self.answers[reply.ticket] = read
