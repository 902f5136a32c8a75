"""Chunks that are compressed on the wire, and what a source may not make of them."""

import random
from dataclasses import replace

import cramjam
import pytest

from brokers.records.builder import NewRecord, build_batch
from linker.frames import Chunk
from linker.offset_bounds import OffsetBounds
from linker.wire import frames
from linker.wire.compression import compressed, expanded
from linker.wire.limits import FrameError

ATTRIBUTES = 21  # where they are in a batch: two bytes
TEXT = b"the same words again and again, " * 200


def chunk(value: bytes, **fields: int) -> Chunk:
    data = build_batch([NewRecord(None, value)], timestamp=5, base_offset=3, **fields)
    return Chunk(1, 3, 4, 0, False, OffsetBounds(0, 4, 4), 9, bytes(data), is_compressed=True)


def test_a_chunk_is_smaller_on_the_wire_and_the_same_afterwards() -> None:
    sent = chunk(TEXT)
    data = frames.encode(sent)
    assert len(data) < len(sent.data) / 10
    received = frames.decode(data)
    assert isinstance(received, Chunk) and received == sent
    assert len(frames.encode(replace(sent, is_compressed=False))) > len(sent.data)


def test_what_does_not_get_smaller_is_sent_as_it_is(rng: random.Random) -> None:
    gzipped = bytearray(chunk(TEXT).data)
    gzipped[ATTRIBUTES + 1] |= 1
    packed = replace(chunk(TEXT), data=bytes(gzipped))
    for sent in (chunk(rng.randbytes(5_000)), chunk(b"short"), packed):
        assert compressed(sent.data) is None
        received = frames.decode(frames.encode(sent))
        assert received == sent and isinstance(received, Chunk) and not received.is_compressed


@pytest.mark.parametrize("size", [100, 1 << 30])
def test_a_chunk_of_another_size_than_it_says_is_refused(size: int) -> None:
    smaller = cramjam.zstd.compress(bytes(1 << 20), level=1)
    with pytest.raises(FrameError):
        expanded(memoryview(smaller), size, 16 << 20)
    with pytest.raises(FrameError):
        expanded(memoryview(smaller), (1 << 20) + 1, 16 << 20)
    with pytest.raises(FrameError):
        expanded(b"no zstd", 100, 16 << 20)


def test_a_chunk_may_be_no_longer_than_the_node_takes() -> None:
    data = frames.encode(chunk(bytes(1 << 20)))
    assert frames.decode(data, 2 << 20) is not None
    with pytest.raises(FrameError, match="above 1000"):
        frames.decode(data, 1_000)
