"""What is known of the sizes of records says where each one begins, or nothing."""

import random

import numpy as np
import pytest

from brokers.records.builder import NewRecord, build_batch
from brokers.records.record_columns import RecordColumns, Spans
from brokers.storage.cleaning.record_sizes import RecordSizes


def made(rng: random.Random, base: int, *, size_max: int = 300) -> tuple[bytes, Spans]:
    """Three batches with a few records each, from offset `base` on, without a gap."""
    pieces, spans, at = [], [], 0
    for _ in range(3):
        count = rng.randrange(1, 9)
        records = [NewRecord(b"k", rng.randbytes(rng.randrange(size_max))) for _ in range(count)]
        pieces.append(bytes(build_batch(records, timestamp=0)[61:]))
        spans.append((at, at + len(pieces[-1]), count, base, count - 1))
        at, base = at + len(pieces[-1]), base + count
    return b"".join(pieces), Spans(*np.array(spans).T)


def test_where_records_begin_is_what_was_noted(rng: random.Random) -> None:
    sizes, base, noted = RecordSizes(100, 5_000), 100, list[tuple[bytes, Spans]]()
    while base < 4_000:
        data, spans = made(rng, base)
        sizes.note(RecordColumns(data, spans))
        noted.append((data, spans))
        base += int(spans.counts.sum())
    for data, spans in noted:
        starts = sizes.starts(spans)
        assert starts is not None
        wanted = RecordColumns(data, spans)
        assert starts.tolist() == wanted.starts.tolist()
        found = RecordColumns(data, spans, starts)
        assert [found.ends.tolist(), found.offsets.tolist(), found.key_starts.tolist()] == [
            wanted.ends.tolist(), wanted.offsets.tolist(), wanted.key_starts.tolist(),
        ]  # fmt: skip


@pytest.mark.parametrize(("first", "end"), [(0, 0), (0, 105), (101, 200), (500, 600)])
def test_of_offsets_that_are_not_covered_nothing_is_known(
    first: int, end: int, rng: random.Random
) -> None:
    data, spans = made(rng, 100)
    sizes = RecordSizes(first, end)
    if int(spans.counts.sum()) > 5:
        sizes.note(RecordColumns(data, spans))
        assert sizes.starts(spans) is None


def test_of_a_very_long_record_nothing_is_known(rng: random.Random) -> None:
    sizes = RecordSizes(0, 1_000)
    short, long = made(rng, 0), made(rng, 100, size_max=300_000)
    for data, spans in (short, long):
        sizes.note(RecordColumns(data, spans))
    assert sizes.starts(short[1]) is not None
    longest = int((RecordColumns(*long).ends - RecordColumns(*long).starts).max())
    assert (sizes.starts(long[1]) is None) == (longest >= 1 << 16)


def test_sizes_that_contradict_a_batch_are_not_used(rng: random.Random) -> None:
    data, spans = made(rng, 0)
    sizes = RecordSizes(0, 1_000)
    assert sizes.starts(spans) is None  # nothing was noted
    sizes.note(RecordColumns(data, spans))
    assert sizes.starts(spans._replace(ends=spans.ends + np.array([0, 1, 0]))) is None
