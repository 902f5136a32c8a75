"""Memory is used again, but never while somebody refers to it."""

from brokers.client.frame_memory import KEPT_BYTES_MAX, FrameMemory

MIB = 1 << 20


def test_memory_is_used_again_once_nobody_refers_to_it() -> None:
    memory = FrameMemory()
    first = memory.take(MIB)
    owner = first.obj
    del first
    again = memory.take(MIB // 2)
    assert again.obj is owner
    assert (len(again), len(owner)) == (MIB // 2, MIB)


def test_memory_that_a_part_of_a_frame_lies_in_is_left_alone() -> None:
    memory = FrameMemory()
    part = memory.take(MIB)[10:20]
    part[:] = b"0123456789"
    other = memory.take(MIB)
    other[:] = bytes(MIB)
    assert other.obj is not part.obj
    assert bytes(part) == b"0123456789"


def test_a_longer_frame_gets_memory_of_its_own() -> None:
    memory = FrameMemory()
    memory.take(MIB)
    assert len(memory.take(2 * MIB)) == 2 * MIB


def test_what_was_forgotten_is_not_used_again() -> None:
    memory = FrameMemory()
    kept = memory.take(MIB)
    memory.forget()
    assert len(kept) == MIB
    assert memory.take(MIB).obj is not kept.obj


def test_memory_of_a_very_long_frame_is_not_kept() -> None:
    memory = FrameMemory()
    long = memory.take(KEPT_BYTES_MAX + 1)
    assert len(long) == KEPT_BYTES_MAX + 1
    short = memory.take(MIB)
    assert len(short.obj) == MIB
