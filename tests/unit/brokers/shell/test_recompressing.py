"""Requests that wait until their batches are compressed anew, and those behind them."""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

from brokers.api import fetch, produce
from brokers.errors import KafkaError
from brokers.events import Disconnected, Request
from brokers.records.batch import BatchError
from brokers.records.recompression import Recompressed
from brokers.shell.recompressing import THREADS, Recompressing

READY = Recompressed(4, 3, bytearray(b"batch"))
TIMEOUT_S = 30


class Work:
    """A batch that is ready when a test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end = Event()
        self._error = error

    def run(self) -> Recompressed:
        assert self.may_end.wait(TIMEOUT_S)
        if self._error is not None:
            raise self._error
        return READY


class Listening:
    """Tickets 10 to 19 are of one connection, 20 to 29 of another."""

    def __init__(self) -> None:
        self.fed: asyncio.Queue[Any] = asyncio.Queue()
        self.work: dict[int, list[Work]] = {}
        self.one = Recompressing(self.fed.put_nowait, self._needed)
        self.one.connection_of = lambda ticket: ticket // 10

    def _needed(self, request: Request) -> Any:
        return list(enumerate(self.work.get(request.ticket, [])))

    def produce(self, ticket: int, *work: Work) -> None:
        self.work[ticket] = list(work)
        self.one.feed(Request(ticket, produce.KEY, 9, "c", "h", None))

    def now(self) -> list[int]:
        """The tickets that have been passed on since it was asked last."""
        return [self.fed.get_nowait().ticket for _ in range(self.fed.qsize())]

    async def then(self) -> Request:
        request = await asyncio.wait_for(self.fed.get(), TIMEOUT_S)
        assert isinstance(request, Request)
        return request


def listening(act: Callable[[Listening], Awaitable[None]]) -> None:
    async def run() -> None:
        at = Listening()
        try:
            await act(at)
        finally:
            await at.one.stop()

    asyncio.run(run())


def test_a_connections_requests_keep_their_order_and_others_pass_by() -> None:
    async def act(at: Listening) -> None:
        slow = Work()
        at.produce(10, slow)
        at.produce(11)
        at.produce(20)
        assert at.now() == [20] and at.one.waiting == {10, 11}
        slow.may_end.set()
        first, second = await at.then(), await at.then()
        assert (first.ticket, second.ticket) == (10, 11) and not at.one.waiting
        assert (first.recompressed, second.recompressed) == ({0: READY}, None)
        at.produce(12)
        assert at.now() == [12]  # nothing is before it any more

    listening(act)


def test_what_is_ready_earlier_waits_for_what_came_earlier() -> None:
    async def act(at: Listening) -> None:
        works = [Work() for _ in range(THREADS)]
        for number, work in enumerate(works):
            at.produce(10 + number, work)
        for work in works[1:]:
            work.may_end.set()
        other = Work()
        other.may_end.set()
        at.produce(20, other)
        if THREADS > 1:
            assert (await at.then()).ticket == 20
        works[0].may_end.set()
        found = [(await at.then()).ticket for _ in range(THREADS + (THREADS == 1))]
        assert [each for each in found if each < 20] == [10 + each for each in range(THREADS)]

    listening(act)


def test_a_request_waits_for_all_of_its_batches() -> None:
    async def act(at: Listening) -> None:
        works = [Work(), Work(), Work()]
        at.produce(10, *works)
        for work in works:
            assert at.now() == []
            work.may_end.set()
        assert (await at.then()).recompressed == dict.fromkeys(range(3), READY)

    listening(act)


def test_what_cannot_be_compressed_is_left_to_the_node() -> None:
    async def act(at: Listening) -> None:
        works = [Work(BatchError(KafkaError.CORRUPT_MESSAGE, "damaged")), Work()]
        for work in works:
            work.may_end.set()
        at.produce(10, *works)
        assert (await at.then()).recompressed == {1: READY}

    listening(act)


def test_other_events_and_requests_are_passed_on_at_once() -> None:
    async def act(at: Listening) -> None:
        work = Work()
        at.produce(10, work)
        request = Request(20, fetch.KEY, 12, "c", "h", None)
        gone = Disconnected((10,))
        at.one.feed(request)
        at.one.feed(gone)
        assert [at.fed.get_nowait() for _ in range(2)] == [request, gone]
        work.may_end.set()
        assert (await at.then()).ticket == 10  # acks=0 is written although its connection has ended

    listening(act)


def test_nothing_is_passed_on_once_it_is_stopped() -> None:
    async def act(at: Listening) -> None:
        work = Work()
        at.produce(10, work)
        stopping = asyncio.ensure_future(at.one.stop())  # begins before the loop hears of the work
        work.may_end.set()
        await stopping
        assert at.now() == []

    listening(act)
