"""Frames come out whole, in order, and in memory that nobody writes to again."""

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.client.response_buffer import AHEAD_BYTES, SCRATCH_BYTES, ResponseBuffer
from brokers.wire.primitives import WireError

FRAME_MAX = 64 << 20


def deliver(buffer: ResponseBuffer, data: bytes) -> int:
    """Put as much as there is room for; how much that was."""
    room = buffer.room()
    size = min(len(room), len(data))
    room[:size] = data[:size]
    buffer.received(size)
    return size


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@given(
    sizes=st.lists(
        st.integers(0, 300) | st.integers(0, 3 * SCRATCH_BYTES)
        | st.integers(SCRATCH_BYTES - 8, SCRATCH_BYTES + 8),
        min_size=1, max_size=10,
    ),
    chunk=st.integers(1, 3 * SCRATCH_BYTES),
    seed=st.integers(0, 1 << 30),
)  # fmt: skip
def test_frames_come_out_whole_and_stay_as_they_were(
    sizes: list[int], chunk: int, seed: int
) -> None:
    rng = random.Random(seed)
    bodies = [rng.randbytes(size) for size in sizes]
    stream = b"".join(map(framed, bodies))
    buffer, seen, sent = ResponseBuffer(FRAME_MAX), [], 0
    while sent < len(stream):
        size = deliver(buffer, stream[sent : sent + chunk])
        assert size > 0
        sent += size
        seen += buffer.frames()
    assert [bytes(frame) for frame in seen] == bodies


def test_a_big_frame_is_not_copied_once_its_length_is_known() -> None:
    buffer = ResponseBuffer(FRAME_MAX)
    body = bytes(range(256)) * 4096
    deliver(buffer, framed(body)[:SCRATCH_BYTES])
    assert list(buffer.frames()) == []
    room = buffer.room()
    assert len(room) == len(body) - (SCRATCH_BYTES - 4)
    room[:] = body[SCRATCH_BYTES - 4 :]
    buffer.received(len(room))
    (frame,) = buffer.frames()
    assert frame.obj is room.obj and frame == body


def test_a_length_alone_allocates_a_bounded_amount() -> None:
    buffer = ResponseBuffer(FRAME_MAX)
    deliver(buffer, struct.pack(">i", FRAME_MAX))
    assert list(buffer.frames()) == []
    assert len(buffer.room()) == AHEAD_BYTES
    body = bytes(FRAME_MAX)
    sent, frames = 0, []
    while sent < FRAME_MAX:
        sent += deliver(buffer, body[sent : sent + (8 << 20)])
        frames += buffer.frames()
    assert [len(frame) for frame in frames] == [FRAME_MAX]


@pytest.mark.parametrize("length", [-1, FRAME_MAX + 1, -(1 << 31), (1 << 31) - 1])
def test_an_illegal_length_is_refused(length: int) -> None:
    buffer = ResponseBuffer(FRAME_MAX)
    deliver(buffer, struct.pack(">i", length))
    with pytest.raises(WireError):
        list(buffer.frames())


def test_what_is_missing_of_a_big_frame_is_known_until_it_is_whole() -> None:
    buffer, body = ResponseBuffer(FRAME_MAX), bytes(3 * SCRATCH_BYTES)
    assert buffer.missing_bytes == 0
    data = framed(body)
    sent = deliver(buffer, data)
    assert list(buffer.frames()) == []
    assert buffer.missing_bytes == len(data) - sent
    sent += deliver(buffer, data[sent : sent + 1000])
    assert list(buffer.frames()) == []
    assert buffer.missing_bytes == len(data) - sent
    deliver(buffer, data[sent:])
    assert list(buffer.frames()) == [body]
    assert buffer.missing_bytes == 0


def test_a_small_frame_that_is_not_whole_is_not_waited_for() -> None:
    buffer = ResponseBuffer(FRAME_MAX)
    deliver(buffer, framed(bytes(100))[:50])
    assert list(buffer.frames()) == []
    assert buffer.missing_bytes == 0
