"""The bytes a second that a link asks for, over any time."""

import random

from linker.data.byte_rate import ByteRate
from linker.data.credit import CreditWindow, StreamSender
from linker.events import Send
from linker.frames import CHUNK_BYTES_MIN, Credit
from linker.region_client import RegionClient

START = 1_000_000
LIMIT = 1_000_000
WINDOW_BYTES = 32 << 20


class Link:
    """A destination that places what comes at once, and a source that sends all that it may."""

    def __init__(self, limit: int, streams: int = 1) -> None:
        self.limit = limit
        self.region = RegionClient(None, random.Random(1))  # type: ignore[arg-type]
        self.rate = ByteRate(self.region, lambda: self.limit)
        self.now = START
        self.received = 0
        self._windows: list[CreditWindow] = []
        self._granted = [0] * streams
        for number in range(1, streams + 1):
            self._windows.append(CreditWindow(StreamSender(number), WINDOW_BYTES, self.rate))
            self._take(self._windows[-1].open(0))

    def _take(self, sends: list[Send]) -> None:
        for send in sends:
            assert isinstance(send.frame, Credit)
            index = send.stream - 1
            size = send.frame.granted_bytes - self._granted[index]
            self._granted[index] = send.frame.granted_bytes
            self.received += size
            self._take(self._windows[index].release(size))

    def run(self, milliseconds: int) -> None:
        until = self.now + milliseconds
        while (due := self.region.timers.deadline) is not None and due <= until:
            self.now = max(self.now, due)
            for act in self.region.timers.due(self.now):
                self._take(act(self.now))
        self.now = until


def test_no_more_comes_than_the_limit_and_about_as_much() -> None:
    for streams in (1, 3):
        link = Link(LIMIT, streams)
        link.run(10_000)
        assert 9 * LIMIT <= link.received <= (11 + streams) * LIMIT
        before = link.received
        link.run(10_000)
        assert 9 * LIMIT <= link.received - before <= 11 * LIMIT


def test_a_small_limit_still_lets_chunks_through() -> None:
    link = Link(1_000)
    link.run(600_000)
    assert 500_000 <= link.received <= 700_000 + CHUNK_BYTES_MIN


def test_without_a_limit_everything_is_granted_at_once() -> None:
    region = RegionClient(None, random.Random(1))  # type: ignore[arg-type]
    window = CreditWindow(StreamSender(1), 800, ByteRate(region, lambda: 0))
    (first,) = window.open(0)
    assert first.frame == Credit(800)
    (second,) = window.release(800)
    assert second.frame == Credit(1_600)
    assert region.timers.deadline is None


def test_a_limit_that_is_lifted_releases_what_waits() -> None:
    region = RegionClient(None, random.Random(1))  # type: ignore[arg-type]
    limits = [1]
    rate = ByteRate(region, lambda: limits[0])
    granted: list[int] = []
    for size in (1_000, 2_000):
        rate.defer(size, lambda size=size: granted.append(size) or [])  # type: ignore[misc]
    for act in region.timers.due(START):
        act(START)
    assert granted == [1_000]
    limits[0] = 0
    due = region.timers.deadline
    assert due == START + 1_000  # far too early for 1,000 bytes at one a second
    for act in region.timers.due(due):
        act(due)
    assert granted == [1_000, 2_000]
