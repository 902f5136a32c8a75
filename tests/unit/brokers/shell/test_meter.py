"""Where the time of a request goes: a real node and a real connection on a wire in memory."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

import pytest

from brokers.config.broker_config import from_settings
from brokers.events import Request
from brokers.node.broker import Broker
from brokers.shell.clock import Clock
from brokers.shell.connection import Connection
from brokers.shell.meter import Meter
from brokers.shell.node import Node
from brokers.shell.server import Server
from brokers.shell.slow_requests import LINES_MAX, SlowRequests
from brokers.storage.storage import Storage
from brokers.telemetry.request_times import PARTS, RequestParts, RequestStamps, RequestTimes
from brokers.wire.frames import RequestHeader, encode_request_frame
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest
from brokers.wire.messages.fetch import FetchRequest
from tests.sim.files import SimFiles
from tests.unit.brokers.shell.test_server import Wire

WAIT_MS = 40


class Metered:
    """A node whose one client sends what a test has arrive."""

    def __init__(self) -> None:
        config = from_settings({"node.id": 1, "log.dirs": "data"})
        self.broker = Broker(config, "A" * 22, random.Random(1))
        self.node = Node(self.broker, Storage(SimFiles()), Clock())
        self.meter = Meter(self.node)
        self.server = Server(config, self.meter.feed, lambda: 0.0)
        self.node.serve(self.server)
        self.node.perform |= self.meter.perform(self.server)
        self.wire = Wire()
        self.connection = Connection(self.server)

    async def start(self) -> None:
        self.node.start()
        await self.node.ready
        self.connection.connection_made(self.wire)

    def arrive(self, key: int, version: int, message: Message) -> None:
        header = RequestHeader(key, version, 1, "client")
        data = b"".join(encode_request_frame(header, message))
        self.connection.get_buffer(-1)[: len(data)] = data
        self.connection.buffer_updated(len(data))

    def poll(self) -> None:
        """A fetch that waits for its time to be up."""
        self.arrive(ApiKey.FETCH, 12, FetchRequest(max_wait_ms=WAIT_MS, min_bytes=1, max_bytes=1))

    def times(self, name: str) -> RequestTimes:
        return self.meter.traffic.apis[name].times

    def parts(self, name: str) -> dict[str, float]:
        return {part: spent for part, _, spent in self.times(name).by_name()}

    async def answered(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        while name not in self.meter.traffic.apis:
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn


def metered(act: Callable[[Metered], Awaitable[None]]) -> None:
    async def run() -> None:
        one = Metered()
        await one.start()
        try:
            await act(one)
        finally:
            await one.node.stop()

    asyncio.run(run())


def test_what_is_answered_at_once_has_waited_for_nobody() -> None:
    async def act(one: Metered) -> None:
        one.arrive(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        parts, total = one.parts("ApiVersions"), one.times("ApiVersions").total
        assert (total.count, parts["remotetimems"]) == (1, 0.0)
        assert parts["localtimems"] > 0 < parts["responsesendtimems"]
        assert sum(parts.values()) == pytest.approx(total.total)

    metered(act)


def test_a_request_that_waits_has_remote_time() -> None:
    async def act(one: Metered) -> None:
        one.poll()
        assert one.meter.unanswered(ApiKey.FETCH) == 1
        await one.answered("FetchConsumer")
        parts = one.parts("FetchConsumer")
        assert one.times("FetchConsumer").total.count == 1
        assert parts["remotetimems"] >= WAIT_MS * 0.8 / 1000
        assert parts["localtimems"] > 0

    metered(act)


def test_an_answer_counts_once_it_is_sent() -> None:
    async def act(one: Metered) -> None:
        one.poll()
        one.connection.pause_writing()
        await one.answered("FetchConsumer")
        assert one.times("FetchConsumer").total.count == 0
        one.connection.resume_writing()
        assert one.times("FetchConsumer").total.count == 1

    metered(act)


def test_an_answer_whose_client_left_counts_too() -> None:
    async def act(one: Metered) -> None:
        one.poll()
        one.connection.pause_writing()
        await one.answered("FetchConsumer")
        one.connection.connection_lost(None)
        assert one.times("FetchConsumer").total.count == 1

    metered(act)


def test_a_part_that_takes_no_time_has_quantiles_of_zero() -> None:
    times = RequestTimes(0.0)
    for remote in (0.0, 0.0, 0.0, 0.5):
        answered = 0.001 + remote
        times.add(RequestStamps(0.0, 0.0, 0.001, answered, answered, answered + 0.001))
    found = {part: durations for part, durations, _ in times.by_name()}
    assert found.keys() == PARTS.keys()
    recent = times.total.recent(0.0)
    assert found["requestqueuetimems"].quantiles((0.5, 0.99), 0.0, recent) == (0.0, 0.0)
    half, last = found["remotetimems"].quantiles((0.5, 0.99), 0.0, recent)
    assert (half, last) == (0.0, pytest.approx(0.5, rel=0.1))


def slow(log: SlowRequests, key: int, parts: RequestParts, now: float) -> None:
    asked = Request(1, key, 9, "a\nclient", "10.0.0.1", ApiVersionsRequest())
    log.took(log.asked(asked), parts, now)


def test_a_slow_request_has_a_line_with_its_parts(caplog: pytest.LogCaptureFixture) -> None:
    log = SlowRequests(100)
    with caplog.at_level(logging.WARNING):
        slow(log, ApiKey.PRODUCE, RequestParts(0.0, 0.01, 0.08, 0.0, 0.009), 5.0)
        assert caplog.messages == []
        slow(log, ApiKey.PRODUCE, RequestParts(0.0, 0.01, 0.08, 0.0, 0.02), 5.0)
    (line,) = caplog.messages
    assert line.startswith("slow request: Produce version 9 of User:ANONYMOUS, client 'a\\nclient'")
    assert line.endswith(
        "at 10.0.0.1, listener PLAINTEXT: 110.0 ms (request queue 0.0, local 10.0, remote 80.0,"
        " response queue 0.0, response send 20.0)"
    )


def test_waiting_that_is_asked_for_is_not_slow(caplog: pytest.LogCaptureFixture) -> None:
    log = SlowRequests(100)
    with caplog.at_level(logging.WARNING):
        slow(log, ApiKey.FETCH, RequestParts(0.0, 0.01, 9.0, 0.0, 0.01), 5.0)
        assert caplog.messages == []
        slow(log, ApiKey.FETCH, RequestParts(0.0, 0.2, 9.0, 0.0, 0.01), 5.0)
    assert len(caplog.messages) == 1


def test_many_slow_requests_have_few_lines_and_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log, parts = SlowRequests(0), RequestParts(0.0, 0.01, 0.0, 0.0, 0.0)
    with caplog.at_level(logging.WARNING):
        for _ in range(LINES_MAX + 7):
            slow(log, ApiKey.PRODUCE, parts, 5.9)
        assert len(caplog.messages) == LINES_MAX
        slow(log, ApiKey.PRODUCE, parts, 6.0)
        slow(log, ApiKey.PRODUCE, parts, 6.0)
    assert "7 more were slow and have no line" in caplog.messages[-2]
    assert "more were slow" not in caplog.messages[-1]
