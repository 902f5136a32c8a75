"""What a connection makes of bytes: requests in order, answers in order, and few writes."""

import asyncio
from typing import Any

import pytest

from brokers.config.broker_config import BrokerConfig
from brokers.events import Disconnected, Listener, Request
from brokers.shell.connection import HELD_REQUESTS_MAX, PRODUCE, Connection
from brokers.shell.response_writer import CORKED_BYTES_MAX
from brokers.shell.server import Server
from brokers.wire.frames import RequestHeader, encode_request_frame
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from brokers.wire.messages.produce import ProduceRequest, ProduceResponse


class Wire(asyncio.Transport):
    """Keeps what is written, one item per call."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = False
        self.is_paused = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

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

    def __init__(self, answer: Message | None, *listener: Any) -> None:
        self.asked: list[Request] = []
        self.gone: list[tuple[int, ...]] = []
        self.wire = Wire()
        config = BrokerConfig.model_validate({"node.id": 1, "log.dirs": "data"})
        self._answer = answer
        self._unread = b""
        self._server = Server(config, self._feed, lambda: 0.0)
        self._connection = Connection(self._server, *listener)
        self._connection.connection_made(self.wire)

    def _feed(self, event: Request | Disconnected) -> None:
        if isinstance(event, Disconnected):
            self.gone.append(event.tickets)
            return
        self.asked.append(event)
        if self._answer is not None:
            self._server.reply(event.ticket, self._answer)

    def later(self, answer: Message | None, asked: Request | None = None) -> None:
        """The answer to a request that waits, or to the last one."""
        self._server.reply((asked or self.asked[-1]).ticket, answer)

    def lose(self) -> None:
        self._connection.connection_lost(None)

    def arrive(self, data: bytes) -> None:
        """In one turn of the loop, as far as the connection reads; the rest with the next."""
        self._unread += data
        while self._unread and not self.wire.is_paused:
            room = self._connection.get_buffer(-1)
            size = min(len(room), len(self._unread))
            room[:size], self._unread = self._unread[:size], self._unread[size:]
            self._connection.buffer_updated(size)


def question(correlation_id: int) -> bytes:
    header = RequestHeader(ApiKey.API_VERSIONS, 0, correlation_id, "test")
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


@pytest.mark.parametrize("listener", [Listener.DATA, Listener.CONTROLLER])
def test_a_request_names_the_listener_that_it_came_in_on(listener: Listener) -> None:
    listening = Listening(None, listener, "CLIENTS")
    listening.arrive(question(1))
    (asked,) = listening.asked
    assert (asked.listener, asked.listener_name) == (listener, "CLIENTS")


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


def produce(correlation_id: int, acks: int = -1) -> bytes:
    header = RequestHeader(PRODUCE, 9, correlation_id, "test")
    return b"".join(encode_request_frame(header, ProduceRequest(acks=acks, timeout_ms=1)))


def test_produce_requests_in_a_row_are_taken_up_together_and_answered_in_order() -> None:
    listening = Listening(None)
    listening.arrive(produce(1) + produce(2) + produce(3))
    first, second, third = listening.asked
    listening.later(ProduceResponse(), first)
    listening.later(ProduceResponse(), third)
    assert [correlations(each) for each in listening.wire.written] == [[1]]
    listening.later(ProduceResponse(), second)
    assert [correlations(each) for each in listening.wire.written] == [[1], [2, 3]]


def test_another_request_waits_for_the_answers_to_produce_requests_before_it() -> None:
    listening = Listening(None)
    listening.arrive(produce(1) + question(2) + produce(3))
    assert [asked.api_key for asked in listening.asked] == [PRODUCE]
    listening.later(ProduceResponse())
    assert [asked.api_key for asked in listening.asked] == [PRODUCE, ApiKey.API_VERSIONS]
    listening.later(ApiVersionsResponse())
    assert [asked.api_key for asked in listening.asked] == [PRODUCE, ApiKey.API_VERSIONS, PRODUCE]
    listening.later(ProduceResponse())
    assert [correlations(each) for each in listening.wire.written] == [[1], [2], [3]]


def test_one_that_wants_no_answer_holds_up_nobody() -> None:
    listening = Listening(None)
    listening.arrive(produce(1) + produce(2, acks=0) + produce(3))
    for asked in listening.asked[::-1]:
        message = asked.message
        assert isinstance(message, ProduceRequest)
        listening.later(ProduceResponse() if message.acks else None, asked)
    assert [correlations(each) for each in listening.wire.written] == [[1, 3]]


def test_unanswered_requests_are_bounded_and_reading_goes_on_with_the_answers() -> None:
    listening = Listening(None)
    sent = 0
    while not listening.wire.is_paused:
        listening.arrive(produce(sent))
        sent += 1
    assert len(listening.asked) == HELD_REQUESTS_MAX
    for asked in listening.asked:  # grows on the way
        listening.later(ProduceResponse(), asked)
        listening.arrive(b"")
    assert not listening.wire.is_paused
    assert correlations(b"".join(listening.wire.written)) == list(range(sent))


def test_an_empty_request_behind_a_waiting_one_ends_the_connection_in_its_turn() -> None:
    listening = Listening(None)
    listening.arrive(produce(1) + bytes(4))
    assert not listening.wire.closed
    listening.later(ProduceResponse())
    assert [correlations(each) for each in listening.wire.written] == [[1]]
    assert listening.wire.closed


def test_whoever_waits_when_a_connection_ends_is_named() -> None:
    listening = Listening(None)
    listening.arrive(produce(1) + produce(2))
    listening.lose()
    assert listening.gone == [tuple(asked.ticket for asked in listening.asked)]


def test_what_was_answered_leaves_before_a_broken_request_ends_the_connection() -> None:
    listening = Listening(ApiVersionsResponse())
    listening.arrive(question(1) + b"\xff\xff\xff\xff")
    assert [correlations(each) for each in listening.wire.written] == [[1]]
    assert listening.wire.closed
