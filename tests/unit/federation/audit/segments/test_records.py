"""MetadataRecovery batches: what was put in comes out, and hostile bytes only ever raise Unopenable."""

import random
import struct

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.audit.segments.headers import HEADER_BYTES
from federation.audit.segments.records import StoredRecord, Unopenable, compare, records
from tests.spark import generate
from tests.spark.generate import Made, Row


@pytest.mark.parametrize("codec", generate.CODECS)
def test_every_codec_gives_back_what_was_stored(codec: str) -> None:
    for batch in generate.batches(random.Random(3), 20, codec, start=100):
        found = list(records(batch.encoded()))
        assert [(one.offset, one.key, one.value) for one in found] == [
            (batch.base_offset + row.delta, row.key, row.value) for row in batch.rows
        ]
        assert [one.timestamp for one in found] == [
            batch.first_timestamp + row.timestamp_delta for row in batch.rows
        ]


def test_headers_are_part_of_the_body() -> None:
    row = Row(0, b"k", b"v")
    other = Row(0, b"k", b"v", headers=((b"h", b"1"),))
    (one,), (two,) = (list(records(Made(0, (it,)).encoded())) for it in (row, other))
    assert (one.key, one.value) == (two.key, two.value)
    assert one.body != two.body


def test_log_append_time_is_the_batch_s() -> None:
    batch = Made(0, (Row(0, None, b"a", 0), Row(1, None, b"b", 7)), flags=0x08)
    assert {one.timestamp for one in records(batch.encoded())} == {batch.first_timestamp + 7}


@pytest.mark.parametrize("codec", generate.CODECS)
@given(data=st.data())
def test_damaged_records_raise_unopenable_or_read_within_the_batch(
    codec: str, data: st.DataObject
) -> None:
    batch = generate.batches(random.Random(data.draw(st.integers(0, 50))), 1, codec)[0].encoded()
    flips = st.lists(st.integers(HEADER_BYTES * 8, len(batch) * 8 - 1), min_size=1, max_size=5)
    for bit in data.draw(flips):
        batch = generate.flipped(batch, bit // 8, bit % 8)
    try:
        found = list(records(batch))
    except Unopenable:
        return
    assert len(found) == struct.unpack_from(">i", batch, 57)[0]


@given(body=st.binary(max_size=300), codec=st.integers(0, 7), count=st.integers(-5, 1 << 30))
def test_hostile_bytes_allocate_nothing_and_raise_unopenable(
    body: bytes, codec: int, count: int
) -> None:
    head = struct.pack(
        ">qiibIhiqqqhii", 0, 49 + len(body), 0, 2, 0, codec, 0, 0, 0, -1, -1, -1, count
    )
    try:
        found = list(records(head + body))
    except Unopenable:
        return
    assert len(found) == max(0, count)


def opened(codec: int, body: bytes) -> list[StoredRecord]:
    head = struct.pack(">qiibIhiqqqhii", 0, 49 + len(body), 0, 2, 0, codec, 0, 0, 0, -1, -1, -1, 1)
    return list(records(head + body))


@pytest.mark.parametrize(("codec", "name"), [(1, "gzip"), (3, "lz4"), (4, "zstd")])
def test_a_small_batch_that_opens_to_very_much_is_refused(codec: int, name: str) -> None:
    bomb = bytes(getattr(cramjam, name).compress(bytes(300 << 20)))
    with pytest.raises(Unopenable):
        opened(codec, bomb)


def test_a_snappy_block_that_announces_too_much_is_refused() -> None:
    with pytest.raises(Unopenable, match="announces"):
        opened(2, b"\xff\xff\xff\xff\x0f" + b"x" * 20)


def test_snappy_frames_are_held_to_the_limit_together() -> None:
    block = bytes(cramjam.snappy.compress_raw(bytes(60 << 20)))
    framed = b"\x82SNAPPY\x00" + bytes(8) + 5 * (struct.pack(">i", len(block)) + block)
    with pytest.raises(Unopenable, match="more than"):
        opened(2, framed)


def record(offset: int, value: bytes = b"v") -> StoredRecord:
    return StoredRecord(offset, 0, None, value, value)


def test_equal_records_do_not_differ() -> None:
    assert compare([record(1), record(2)], [record(1), record(2)])[:4] == (None, 0, 0, 0)


def test_the_first_difference_is_named_with_both_records() -> None:
    found = compare([record(1), record(2), record(3)], [record(1), record(2, b"w"), record(4)])
    assert found == (2, 1, 1, 1, (record(2), record(2, b"w")))


def test_two_records_at_one_offset_are_a_difference() -> None:
    assert compare([record(1), record(1)], [record(1)]).differing == 1
