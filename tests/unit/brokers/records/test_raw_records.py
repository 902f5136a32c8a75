"""Raw records are those that `open_batch` reads, and damage is found."""

import random

import pytest

from brokers.records.batch import BatchError, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.raw_records import keys_of, raw_records
from brokers.records.record import open_batch


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
    assert keys_of(data, header.record_count) == [each.key for each in read]


@pytest.mark.parametrize("size", [0, 1, 5, 11])
def test_a_batch_that_is_cut_short_is_damaged(size: int) -> None:
    data = bytes(build_batch([NewRecord(b"key", b"value")], timestamp=0)[61:])
    with pytest.raises(BatchError):
        list(raw_records(data[:size], 1, 0))
    with pytest.raises(BatchError):
        keys_of(data[:size], 1)


def test_bytes_behind_or_offsets_outside_are_damage() -> None:
    data = bytes(build_batch([NewRecord(b"k", b"v")] * 2, timestamp=0)[61:])
    with pytest.raises(BatchError, match="after the last record"):
        list(raw_records(data, 1, 1))
    with pytest.raises(BatchError, match="outside its batch"):
        list(raw_records(data, 2, 0))
    again = bytes(build_batch([NewRecord(b"k", b"v")], timestamp=0)[61:])
    with pytest.raises(BatchError, match="outside its batch"):
        list(raw_records(again * 2, 2, 1))
    with pytest.raises(BatchError, match="outside its batch"):
        keys_of(again * 2, 2)
    with pytest.raises(BatchError, match="longer than"):
        list(raw_records(bytes([10, 0, 0, 0, 90, 1, 0]), 1, 0))


def test_any_bytes_are_records_or_damage(rng: random.Random) -> None:
    for _ in range(2_000):
        data = rng.randbytes(rng.randrange(0, 40))
        try:
            found = list(raw_records(data, rng.randrange(0, 4), 3))
        except BatchError:
            continue
        assert sum(end - start for start, end, *_ in found) == len(data)
