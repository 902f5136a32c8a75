"""Raw records are those that `open_batch` reads, and damage is found."""

import random
from contextlib import suppress

import pytest

from brokers.records.batch import BatchError, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.raw_records import first_without_key, keys_and_values, raw_records
from brokers.records.record import open_batch
from tests.unit.brokers.records.columns import columns_of


def drawn(rng: random.Random) -> list[NewRecord]:
    return [
        NewRecord(
            rng.choice([None, b"", rng.randbytes(3), rng.randbytes(200)]),
            rng.choice([None, b"", rng.randbytes(5), rng.randbytes(20_000)]),
            ((b"h", None), (b"", b"v"))[: rng.randrange(3)],
            1_000_000 + rng.randrange(-99_999, 99_999),
        )
        for _ in range(rng.randrange(1, 200))
    ]


def test_they_are_the_records_of_the_batch(rng: random.Random) -> None:
    batch = bytes(build_batch(drawn(rng), timestamp=0))
    header, data = parse_header(batch), batch[61:]
    read = list(open_batch(batch))
    raw = list(raw_records(data, header.record_count, header.last_offset_delta))
    assert [(delta, key, has_value) for _, _, _, delta, key, has_value in raw] == [
        (each.offset, each.key, each.value is not None) for each in read
    ]
    assert raw[-1][1] == len(data)
    without = [each.offset for each in read if each.key is None]
    assert first_without_key(data, header.record_count) == next(iter(without), None)
    pairs = [(each.key, each.value) for each in read]
    assert list(keys_and_values(data, header.record_count)) == pairs


@pytest.mark.parametrize("size", [0, 1, 5, 11])
def test_a_batch_that_is_cut_short_is_damaged(size: int) -> None:
    data = bytes(build_batch([NewRecord(b"key", b"value")], timestamp=0)[61:])
    with pytest.raises(BatchError):
        list(raw_records(data[:size], 1, 0))
    with pytest.raises(BatchError):
        first_without_key(data[:size], 1)
    with pytest.raises(BatchError):
        keys_and_values(data[:size], 1)


def test_bytes_behind_or_offsets_outside_are_damage() -> None:
    data = bytes(build_batch([NewRecord(b"k", b"v")] * 2, timestamp=0)[61:])
    with pytest.raises(BatchError, match="after the last record"):
        list(raw_records(data, 1, 1))
    with pytest.raises(BatchError, match="after the last record"):
        keys_and_values(data, 1)
    with pytest.raises(BatchError, match="outside its batch"):
        list(raw_records(data, 2, 0))
    again = bytes(build_batch([NewRecord(b"k", b"v")], timestamp=0)[61:])
    with pytest.raises(BatchError, match="outside its batch"):
        list(raw_records(again * 2, 2, 1))
    with pytest.raises(BatchError, match="outside its batch"):
        first_without_key(again * 2, 2)
    with pytest.raises(BatchError, match="longer than"):
        list(raw_records(bytes([10, 0, 0, 0, 90, 1, 0]), 1, 0))
    into_the_next = [0, 0, 0, 0, 0, 0, 0, 0, 0]
    for beyond in ([10, 0, 0, 0, 12, 1, 0], [12, 0, 0, 0, 1, 10, 0, 0]):
        with pytest.raises(BatchError, match="longer than the record"):
            keys_and_values(bytes(beyond + into_the_next), 2)


def test_any_bytes_are_records_or_damage(rng: random.Random) -> None:
    for _ in range(2_000):
        data, count = rng.randbytes(rng.randrange(0, 40)), rng.randrange(0, 4)
        with suppress(BatchError):
            found = list(raw_records(data, count, 3))
            assert sum(end - start for start, end, *_ in found) == len(data)
        with suppress(BatchError):
            first_without_key(data, count)


def test_of_a_batch_without_missing_offsets_both_say_the_same(rng: random.Random) -> None:
    for _ in range(2_000):
        made = drawn(rng)[: rng.choice([1, 3, 200])]
        data = bytearray(build_batch(made, timestamp=0)[61:])
        data[rng.randrange(min(len(data), 400))] ^= 1 << rng.randrange(8)
        try:
            found = list(raw_records(bytes(data), len(made), len(made) - 1))
        except BatchError:
            with suppress(BatchError):  # a record without a key may come before the damage
                assert first_without_key(bytes(data), len(made)) is not None
            continue
        without = [number for number, each in enumerate(found) if each[4] is None]
        assert first_without_key(bytes(data), len(made)) == next(iter(without), None)
        assert sum(end - start for start, end, *_ in found) == len(data)


def _with_a_long_zero(field: str, size: int) -> bytes:
    """A record with one number of so many bytes, which is zero all the same."""
    zero = b"\x80" * (size - 1) + b"\0"
    numbers = (zero if each == field else b"\0" for each in ("time", "delta", "key"))
    body = b"\0" + b"".join(numbers) + b"\1\0"
    return bytes([2 * len(body)]) + body


@pytest.mark.parametrize(("field", "at_most"), [("time", 10), ("delta", 5), ("key", 5)])
def test_a_number_has_no_more_bytes_than_java_reads(field: str, at_most: int) -> None:
    data = _with_a_long_zero(field, at_most)
    assert [record[4] for record in raw_records(data, 1, 0)] == [b""]
    assert first_without_key(data, 1) is None
    columns = columns_of(data, [(0, len(data), 1, 0, 0)])
    assert columns.key_starts >= 0 and columns.key_starts == columns.key_ends
    longer = _with_a_long_zero(field, at_most + 1)
    with pytest.raises(BatchError, match="bits"):
        list(raw_records(longer, 1, 0))
    with pytest.raises(BatchError, match="bits"):
        first_without_key(longer, 1)
    with pytest.raises(BatchError, match="bits"):
        columns_of(longer, [(0, len(longer), 1, 0, 0)])


@pytest.mark.parametrize(
    "record",
    [
        [14, 0, 0, 0, 1, 1, 0, 0],  # a byte behind its headers
        [14, 0, 0, 0, 1, 1, 2, 1],  # a header without a name
        [18, 0, 0, 0, 1, 1, 2, 2, 104, 8],  # a header that is longer than the record
        [14, 0, 0, 0, 1, 1, 1, 0],  # fewer headers than none
    ],
)
def test_headers_that_contradict_their_record_are_damage(record: list[int]) -> None:
    with pytest.raises(BatchError):
        keys_and_values(bytes(record), 1)


def test_any_bytes_are_keys_and_values_or_damage(rng: random.Random) -> None:
    for _ in range(5_000):
        data, count = rng.randbytes(rng.randrange(0, 24)), rng.randrange(0, 3)
        try:
            found = list(keys_and_values(data, count))
        except BatchError:
            continue
        assert len(found) == count
        assert sum(len(part or b"") for pair in found for part in pair) <= len(data)
