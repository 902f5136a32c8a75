import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.records.batch import HEADER_SIZE, BatchError, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from tests.quick import examples
from tests.unit.brokers.records.batches import (
    foreign_batch,
    one_batch,
    record_lists,
    with_field,
)


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4], ids=["none", "gzip", "snappy", "lz4", "zstd"])
@given(record_lists)
@examples(40)
def test_what_a_client_packed_is_what_is_read(codec: int, records: list[NewRecord]) -> None:
    read = list(open_batch(foreign_batch(records, codec)))
    assert [tuple(record) for record in read] == [
        (
            number,
            1_000 if record.timestamp is None else record.timestamp,
            record.key,
            record.value,
            record.headers,
        )
        for number, record in enumerate(records)
    ]


@given(record_lists, st.integers(0, 2**62))
def test_offsets_count_from_the_base_offset(records: list[NewRecord], base: int) -> None:
    batch = build_batch(records, timestamp=0, base_offset=base)
    assert [record.offset for record in open_batch(batch)] == [
        base + number for number in range(len(records))
    ]


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_records_cut_at_any_byte_are_refused(codec: int) -> None:
    records = [NewRecord(b"key", b"value" * 9, ((b"h", b"x"),)), NewRecord(None, b"second")]
    batch = foreign_batch(records, codec)
    for size in range(HEADER_SIZE, len(batch)):
        with pytest.raises(BatchError):
            list(open_batch(batch[:size]))
        cut = with_field(batch[:size], 8, (size - 12).to_bytes(4, "big"))
        with pytest.raises(BatchError) as refused:
            list(open_batch(cut))
        assert refused.value.error == KafkaError.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
@given(data=st.data())
@examples(60)
def test_damaged_records_are_refused_or_read_and_nothing_else(
    codec: int, data: st.DataObject
) -> None:
    records = [NewRecord(b"key", b"value" * 20, ((b"h", b"x"),)) for _ in range(3)]
    batch = bytearray(foreign_batch(records, codec))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(HEADER_SIZE, len(batch) - 1))
        batch[position] = data.draw(st.integers(0, 255))
    try:
        read = list(open_batch(batch, size_max=1 << 20))
    except BatchError:
        return
    assert len(read) == parse_header(batch).record_count


@given(st.binary(max_size=80), st.integers(0, 7), st.integers(-1, 2**31 - 1))
def test_random_records_are_refused_or_read(packed: bytes, codec: int, count: int) -> None:
    batch = bytearray(one_batch()[:HEADER_SIZE]) + packed
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[21:23] = codec.to_bytes(2, "big")
    batch[57:61] = count.to_bytes(4, "big", signed=True)
    try:
        read = list(open_batch(batch, size_max=1 << 16))
    except BatchError:
        return
    assert len(read) == max(count, 0)


def packed_record(body: bytes) -> bytearray:
    """A batch of one record with these bytes behind its length."""
    batch = bytearray(one_batch()[:HEADER_SIZE]) + bytes([len(body) * 2]) + body
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    return batch


@pytest.mark.parametrize(
    ("body", "because"),
    [
        (bytes([0, 0, 0, 1, 1, 0]), ""),  # null key, null value, no headers
        (bytes([0, 0, 0, 1, 1, 2, 1, 1]), "without a name"),
        (bytes([0, 0, 0, 1, 1, 1]), "number of headers"),
        (bytes([0, 0, 0, 1, 1, 126]), "number of headers"),
        (bytes([0, 0, 0, 1, 1, 0, 0]), "does not match its fields"),
        (bytes([0, 0, 0, 3, 1, 0]), "longer than its batch"),  # a key of length -2
        (bytes([0, 0, 0, 200, 1, 1, 0]), "longer than its batch"),
        (bytes([0, *[0xFF] * 10, 1, 0, 1, 1, 0]), "more than 64 bits"),
        (bytes([0, 0, 0, 1]), "cut short"),
        (bytes([0, 0, 2, 1, 1, 0]), "outside its batch"),  # the second offset of one
        (bytes([0, 0, 1, 1, 1, 0]), "outside its batch"),  # the one before the first
        (bytes([0, 0xFE, *[0xFF] * 8, 1, 0, 1, 1, 0]), "outside its batch"),  # after time ends
    ],
)
def test_a_record_that_contradicts_itself_is_refused(body: bytes, because: str) -> None:
    if because:
        with pytest.raises(BatchError, match=because):
            list(open_batch(packed_record(body)))
    else:
        assert len(list(open_batch(packed_record(body)))) == 1


def test_a_record_longer_than_its_batch_and_bytes_behind_the_last_are_refused() -> None:
    batch = packed_record(bytes([0, 0, 0, 1, 1, 0]))
    batch[HEADER_SIZE] = 100
    with pytest.raises(BatchError, match="longer than its batch"):
        list(open_batch(batch))
    padded = packed_record(bytes([0, 0, 0, 1, 1, 0])) + b"\0"
    padded[8:12] = (len(padded) - 12).to_bytes(4, "big")
    with pytest.raises(BatchError, match="after the last record"):
        list(open_batch(padded))
