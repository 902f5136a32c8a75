"""The last records of keys against a dict, through a map that is told of them a few at a time."""

import random

import numpy as np
import pytest

from brokers.records.batch import BatchHeader, parse_header
from brokers.storage.cleaning.last_records import LastRecords
from brokers.storage.cleaning.offset_map import OffsetMap
from tests.unit.brokers.storage.driver import batch_at


def of(first: int, end: int) -> BatchHeader:
    return parse_header(batch_at(first, end - first))


@pytest.mark.parametrize(("first", "end"), [(100, 400), (100, 250), (130, 400), (100, 100)])
def test_they_are_those_of_a_dict(rng: random.Random, first: int, end: int) -> None:
    offsets, last = OffsetMap(1_000, 0.9, 100), LastRecords(first, end)
    model: dict[bytes, tuple[int, bool]] = {}
    at = 100
    while at < 400:
        count = min(rng.choice([1, 2, 40]), 400 - at)
        keys = [b"%d" % rng.randrange(50) for _ in range(count)]
        has_value = np.array([rng.random() < 0.7 for _ in range(count)])
        here = np.arange(at, at + count)
        superseded, are_last = offsets.put_all(keys, here)
        last.note(superseded, here[are_last], has_value[are_last])
        model.update(zip(keys, zip(here.tolist(), has_value.tolist(), strict=True), strict=True))
        at += count
    wanted = dict(model.values())
    for start in range(first, end, 10):
        header = of(start, start + 10)
        assert last.knows(header)
        found = [offset for offset in range(start, start + 10) if offset in wanted]
        records = sum(wanted[offset] for offset in found)
        assert last.count(header) == (records, len(found) - records)
        flags = last.are_last(np.arange(start, start + 10)).tolist()
        assert flags == [offset in wanted for offset in range(start, start + 10)]


def test_batches_that_reach_beyond_its_offsets_are_not_known() -> None:
    last = LastRecords(10, 20)
    assert [last.knows(of(*each)) for each in ((10, 20), (9, 12), (18, 21), (30, 31))] == [
        True, False, False, False,
    ]  # fmt: skip
    assert not LastRecords(10, 5).knows(of(7, 8))
