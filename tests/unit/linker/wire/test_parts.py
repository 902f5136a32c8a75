"""Parts of a frame that are none: refused as soon as they come."""

import pytest

from linker.frames import Hello
from linker.wire import frames, parts
from linker.wire.limits import FrameError
from linker.wire.parts import PART_BYTES, PART_BYTES_MIN, LongFrame
from linker.wire.v1 import link_pb2 as pb

SIZE = 3 * PART_BYTES


def part(frame_bytes: int, size: int) -> bytes:
    return pb.Frame(
        frame_part=pb.FramePart(frame_bytes=frame_bytes, data=bytes(size))
    ).SerializeToString()


@pytest.mark.parametrize(
    ("first", "because"),
    [
        (part(SIZE + 1, PART_BYTES), "above"),
        (part((1 << 64) - 1, PART_BYTES), "above"),
        (part(SIZE, 0), "not the last one"),
        (part(0, 0), "not the last one"),
        (part(SIZE, PART_BYTES_MIN - 1), "not the last one"),
        (part(5, 6), "where 5 are missing"),
        (part(SIZE, 5)[:-1], "not a part"),
        (part(SIZE, 5) + frames.encode(Hello("l", "i", "east")), "another frame"),
    ],
)
def test_a_first_part_that_is_none(first: bytes, because: str) -> None:
    assert parts.is_part(first)
    with pytest.raises(FrameError, match=because):
        LongFrame(first, SIZE)


@pytest.mark.parametrize(
    ("following", "because"),
    [
        (part(SIZE - 1, PART_BYTES), "none of a frame"),
        (part(SIZE, 2 * PART_BYTES + 1), "are missing"),
        (part(SIZE, 0), "not the last one"),
        (part(SIZE, PART_BYTES_MIN - 1), "not the last one"),
        (frames.encode(Hello("l", "i", "east")), "another frame"),
    ],
)
def test_a_part_that_does_not_go_on_with_its_frame(following: bytes, because: str) -> None:
    frame = LongFrame(part(SIZE, PART_BYTES), SIZE)
    with pytest.raises(FrameError, match=because):
        frame.add(following)


def test_a_frame_of_short_parts_is_whole_and_only_the_last_may_be_shorter() -> None:
    size = 2 * PART_BYTES_MIN + 1
    frame = LongFrame(part(size, PART_BYTES_MIN), SIZE)
    for length in (PART_BYTES_MIN, 1):
        assert not frame.is_whole
        frame.add(part(size, length))
    assert frame.is_whole
    assert frame.whole() == bytes(size)


def test_a_frame_within_parts_is_no_part_itself() -> None:
    with pytest.raises(FrameError, match="within a frame"):
        frames.decode(part(SIZE, 5))
