"""What a connection makes of bytes: requests in order, answers in order, and few writes."""

import asyncio
from typing import Any

from brokers.config import BrokerConfig
from brokers.events import Disconnected, Request
from brokers.shell.connection import Connection
from brokers.shell.outbox import CORKED_BYTES_MAX
from brokers.shell.server import Server
from brokers.wire.frames import API_VERSIONS, RequestHeader, encode_request_frame
from brokers.wire.message import Message
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)


class Wire(asyncio.Transport):
    """Keeps what is written, one item per call."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.written.append(b"".join(list_of_data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever left here."""

    def close(self) -> None:
        self.closed = True


class Listening:
    """A connection whose requests are answered with `answer` at once, or later by `later`."""

    def __init__(self, answer: Message | None) -> None:
        self.asked: list[Request] = []
        self.wire = Wire()
        config = BrokerConfig.model_validate({"node.id": 1, "log.dirs": "data"})
        self._answer = answer
        self._server = Server(config, self._feed, lambda: 0.0)
        self._connection = Connection(self._server)
        self._connection.connection_made(self.wire)

    def _feed(self, event: Request | Disconnected) -> None:
        assert isinstance(event, Request)
        self.asked.append(event)
        if self._answer is not None:
            self._server.reply(event.ticket, self._answer)

    def later(self, answer: Message) -> None:
        """The answer to the request that waits."""
        self._server.reply(self.asked[-1].ticket, answer)

    def arrive(self, data: bytes) -> None:
        """All of it in one turn of the loop."""
        room = self._connection.get_buffer(-1)
        room[: len(data)] = data
        self._connection.buffer_updated(len(data))


def question(correlation_id: int) -> bytes:
    header = RequestHeader(API_VERSIONS, 0, correlation_id, "test")
    return b"".join(encode_request_frame(header, ApiVersionsRequest()))


def correlations(written: bytes) -> list[int]:
    """Of the answers in it, in order."""
    found, position = [], 0
    while position < len(written):
        size = int.from_bytes(written[position : position + 4], "big")
        found.append(int.from_bytes(written[position + 4 : position + 8], "big"))
        position += 4 + size
    assert position == len(written)
    return found


def test_requests_that_arrive_together_are_answered_in_order_by_one_write() -> None:
    listening = Listening(ApiVersionsResponse())
    listening.arrive(question(1) + question(2) + question(3))
    assert [correlations(each) for each in listening.wire.written] == [[1, 2, 3]]


def test_big_answers_do_not_wait_for_one_another() -> None:
    entry = ApiVersion(api_key=1, min_version=0, max_version=1)
    listening = Listening(ApiVersionsResponse(api_keys=[entry] * (CORKED_BYTES_MAX // 6)))
    listening.arrive(question(1) + question(2))
    assert [correlations(each) for each in listening.wire.written] == [[1], [2]]


def test_an_answer_that_comes_later_brings_those_of_what_stood_behind_it() -> None:
    listening = Listening(None)
    listening.arrive(question(1) + question(2))
    assert len(listening.asked) == 1 and not listening.wire.written
    listening.later(ApiVersionsResponse())
    assert len(listening.asked) == 2
    assert [correlations(each) for each in listening.wire.written] == [[1]]
    listening.later(ApiVersionsResponse())
    assert [correlations(each) for each in listening.wire.written] == [[1], [2]]


def test_what_was_answered_leaves_before_a_broken_request_ends_the_connection() -> None:
    listening = Listening(ApiVersionsResponse())
    listening.arrive(question(1) + b"\xff\xff\xff\xff")
    assert [correlations(each) for each in listening.wire.written] == [[1]]
    assert listening.wire.closed
