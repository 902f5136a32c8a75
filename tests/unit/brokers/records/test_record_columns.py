"""The columns of many batches are the raw records of each, and damage is found where it is found there."""

import random

import numpy as np
import pytest

from brokers.records.batch import BatchError, parse_header
from brokers.records.builder import build_batch
from brokers.records.raw_records import RawRecord, raw_records
from brokers.records.record import open_batch
from brokers.records.record_columns import RecordColumns
from tests.unit.brokers.records.columns import Span, columns_of
from tests.unit.brokers.records.test_raw_records import drawn

Row = tuple[int, int, int, bytes | None, bool]  # start, end, offset, key, has a value


def rows(columns: RecordColumns) -> list[Row]:
    keys = [
        None if start < 0 else columns.data[start:end]
        for start, end in zip(columns.key_starts, columns.key_ends, strict=True)
    ]
    return list(
        zip(
            columns.starts.tolist(),
            columns.ends.tolist(),
            columns.offsets.tolist(),
            keys,
            columns.has_value.tolist(),
            strict=True,
        )
    )


def rows_of(raw: list[RawRecord], start: int, base: int) -> list[Row]:
    return [
        (start + first, start + end, base + delta, key, has_value)
        for first, end, _, delta, key, has_value in raw
    ]


def test_they_are_the_records_of_all_batches(rng: random.Random) -> None:
    data, spans, wanted, times = b"gap", [], [], []
    for base in (5, 1 << 40, 1 << 41):
        batch = bytes(build_batch(drawn(rng), timestamp=0))
        header, body = parse_header(batch), batch[61:]
        raw = list(raw_records(body, header.record_count, header.last_offset_delta))
        wanted += rows_of(raw, len(data), base)
        times += [each.timestamp - header.base_timestamp for each in open_batch(batch)]
        span = len(data), len(data) + len(body), header.record_count, base, len(raw) - 1
        spans.append(span)
        data += body + b"gap"
    columns = columns_of(data, spans)
    assert rows(columns) == wanted
    assert columns.time_deltas(np.arange(len(times))).tolist() == times
    assert columns.spans.are_dense and columns.dense_offsets.tolist() == columns.offsets.tolist()
    assert [columns.bodies[0], columns.batches.tolist().count(1)] == [
        next(raw_records(data[3 : spans[0][1]], *spans[0][2:3], spans[0][4]))[2] + 3,
        spans[1][2],
    ]


def many_batches(rng: random.Random) -> tuple[bytes, list[Span], list[Row]]:
    """So many that their first records are found together, and a few that go on."""
    pieces, spans, wanted, at, base = [], list[Span](), list[Row](), 0, 0
    for number in range(400):
        made = drawn(rng)[: rng.choice([0, 1, 1, 2]) if number % 40 else 60]
        body = bytes(build_batch(made, timestamp=0)[61:]) if made else b""
        wanted += rows_of(list(raw_records(body, len(made), len(made) - 1)), at, base)
        spans.append((at, at + len(body), len(made), base, len(made) - 1))
        pieces.append(body)
        at, base = at + len(body), base + len(made)
    return b"".join(pieces), spans, wanted


def test_the_records_of_very_many_batches_are_found_together(rng: random.Random) -> None:
    data, spans, wanted = many_batches(rng)
    assert rows(columns_of(data, spans)) == wanted


def test_damage_among_very_many_batches_is_found(rng: random.Random) -> None:
    data, spans, _ = many_batches(rng)
    for _ in range(50):
        start, end, count, base, delta = span = rng.choice(spans)
        if count < 2:
            continue
        number = spans.index(span)
        fewer = [*spans[:number], (start, end, count - 1, base, delta), *spans[number + 1 :]]
        longer = [*spans[:number], (start, end + 1, count, base, delta), *spans[number + 1 :]]
        for wrong in (fewer, longer):
            with pytest.raises(BatchError, match="as long as their batch"):
                columns_of(data, wrong)


def test_damage_is_found_where_the_slow_walk_finds_it(rng: random.Random) -> None:
    damaged = 0
    for _ in range(1_000):
        made = drawn(rng)[: rng.choice([1, 2, 30])]
        body = bytearray(build_batch(made, timestamp=0)[61:])
        if rng.random() < 0.5:
            body[rng.randrange(min(len(body), 300))] ^= 1 << rng.randrange(8)
        else:
            del body[rng.randrange(len(body)) :]
        data, count, delta = bytes(body), len(made), len(made) - 1
        try:
            wanted = rows_of(list(raw_records(data, count, delta)), 0, 7)
        except BatchError:
            damaged += 1
            with pytest.raises(BatchError):
                columns_of(data, [(0, len(data), count, 7, delta)])
            continue
        assert rows(columns_of(data, [(0, len(data), count, 7, delta)])) == wanted
    assert damaged > 300


def one_record(key_length: bytes) -> bytes:
    """Attributes, time and offset; a key of this length; no value, no headers."""
    record = b"\0\0\0" + key_length + b"\1\0"
    return bytes([2 * len(record)]) + record


def test_that_there_is_no_key_is_said_in_one_byte() -> None:
    data = one_record(b"\1")
    assert columns_of(data, [(0, len(data), 1, 0, 0)]).key_starts.tolist() == [-1]
    data = one_record(b"\x81\0")
    with pytest.raises(BatchError, match="no length"):
        list(raw_records(data, 1, 0))
    with pytest.raises(BatchError, match="no length"):
        columns_of(data, [(0, len(data), 1, 0, 0)])


def test_a_batch_does_not_reach_into_the_next_one() -> None:
    one = bytes(build_batch(drawn(random.Random(1))[:1], timestamp=0)[61:])
    longer = bytes([one[0] + 2]) + one[1:]
    with pytest.raises(BatchError, match="as long as their batch"):
        columns_of(longer + one, [(0, len(one), 1, 0, 0), (len(one), 2 * len(one), 1, 1, 0)])
