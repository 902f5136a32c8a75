"""Frames come out whole and unchanged however the bytes come in, and memory follows what has arrived."""

import random
import struct
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.shell.request_buffer import READ_AHEAD, SIZE_START, RequestBuffer
from brokers.wire.primitives import WireError

FRAME_MAX = 1 << 20


def deliver(buffer: RequestBuffer, data: bytes) -> int:
    """Put as much as there is room for; how much that was."""
    room = buffer.room()
    size = min(len(room), len(data))
    room[:size] = data[:size]
    buffer.received(size)
    return size


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@given(
    sizes=st.lists(st.integers(0, 5 * READ_AHEAD), min_size=1, max_size=8),
    chunk=st.integers(1, 3 * READ_AHEAD),
    seed=st.integers(0, 1 << 30),
)
def test_frames_come_out_whole_in_order_and_unchanged(
    sizes: list[int], chunk: int, seed: int
) -> None:
    rng = random.Random(seed)
    bodies = [rng.randbytes(size) for size in sizes]
    stream = b"".join(map(framed, bodies))
    buffer, seen, sent = RequestBuffer(FRAME_MAX), [], 0
    while sent < len(stream):
        size = deliver(buffer, stream[sent : sent + chunk])
        assert size > 0
        sent += size
        while (frame := buffer.frame()) is not None:
            seen.append(bytes(frame))
            buffer.done()
    assert seen == bodies


@given(sizes=st.lists(st.integers(0, 3 * READ_AHEAD), min_size=2, max_size=6))
def test_a_frame_in_hand_stays_where_it_is_while_more_arrives(sizes: list[int]) -> None:
    bodies = [bytes([index + 1]) * size for index, size in enumerate(sizes)]
    stream = b"".join(map(framed, bodies))
    buffer, seen, sent = RequestBuffer(FRAME_MAX), [], 0
    while len(seen) < len(bodies):
        while (frame := buffer.frame()) is None:
            sent += deliver(buffer, stream[sent:])
        while not buffer.is_full and sent < len(stream):
            sent += deliver(buffer, stream[sent:])
        seen.append(bytes(frame))
        buffer.done()
    assert seen == bodies


@given(
    sizes=st.lists(st.integers(0, 3 * READ_AHEAD), min_size=1, max_size=12),
    chunk=st.integers(1, 3 * READ_AHEAD),
    seed=st.integers(0, 1 << 30),
)
def test_frames_in_hand_stay_unchanged_while_others_come_and_the_oldest_go(
    sizes: list[int], chunk: int, seed: int
) -> None:
    rng = random.Random(seed)
    bodies = [rng.randbytes(size) for size in sizes]
    stream, sent = b"".join(map(framed, bodies)), 0
    buffer, held, seen = RequestBuffer(FRAME_MAX), deque[memoryview](), 0
    while seen < len(bodies):
        if sent < len(stream):
            size = deliver(buffer, stream[sent : sent + chunk])
            assert size > 0
            sent += size
        while (frame := buffer.frame()) is not None:
            held.append(frame)
        assert buffer.held_bytes == sum(len(frame) + 4 for frame in held)
        for _ in range(rng.randint(0 if sent < len(stream) else len(held), len(held))):
            assert bytes(held.popleft()) == bodies[seen]
            buffer.done()
            seen += 1


def test_memory_for_frames_in_hand_is_as_much_as_they_fill() -> None:
    buffer, body = RequestBuffer(FRAME_MAX), bytes(15_000)
    for _ in range(200):
        stream, sent = framed(body), 0
        while sent < len(stream):
            sent += deliver(buffer, stream[sent:])
        assert buffer.frame() is not None
    assert len(buffer.room()) <= READ_AHEAD


def test_an_announced_length_allocates_nothing() -> None:
    buffer = RequestBuffer(100 << 20)
    deliver(buffer, struct.pack(">i", 100 << 20))
    assert len(buffer.room()) <= SIZE_START


def test_memory_is_at_most_twice_what_arrived() -> None:
    buffer = RequestBuffer(100 << 20)
    deliver(buffer, struct.pack(">i", 100 << 20))
    arrived = 4
    while arrived < 8 << 20:
        room = buffer.room()
        assert len(room) + arrived <= max(2 * arrived + READ_AHEAD, SIZE_START)
        buffer.received(len(room))
        arrived += len(room)
    assert buffer.frame() is None


@pytest.mark.parametrize("length", [-1, FRAME_MAX + 1, -(1 << 31), (1 << 31) - 1])
def test_an_illegal_length_is_refused(length: int) -> None:
    buffer = RequestBuffer(FRAME_MAX)
    deliver(buffer, struct.pack(">i", length))
    with pytest.raises(WireError):
        buffer.frame()


def test_a_big_buffer_is_let_go_only_when_it_holds_nothing() -> None:
    buffer = RequestBuffer(FRAME_MAX)
    body = bytes(FRAME_MAX)
    stream, sent = framed(body), 0
    while sent < len(stream):
        sent += deliver(buffer, stream[sent:])
    frame = buffer.frame()
    buffer.shrink()
    assert frame is not None and len(frame) == FRAME_MAX
    buffer.done()
    buffer.shrink()
    assert len(buffer.room()) <= SIZE_START


def test_what_is_missing_of_the_first_frame_that_is_not_whole() -> None:
    buffer = RequestBuffer(FRAME_MAX)
    assert buffer.missing_bytes <= 0
    data = framed(b"whole") + framed(bytes(1000))
    deliver(buffer, data[:2])
    assert buffer.missing_bytes <= 0  # its length is not known
    deliver(buffer, data[2:100])
    assert buffer.missing_bytes <= 0  # a frame waits to be taken
    assert buffer.frame() == b"whole"
    assert buffer.missing_bytes == len(data) - 100
    buffer.done()
    assert buffer.missing_bytes == len(data) - 100
    deliver(buffer, data[100:])
    assert buffer.missing_bytes <= 0
