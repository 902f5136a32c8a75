"""The last records of keys against a dict, through a map that is told of them a few at a time."""

import random

import numpy as np
import pytest

from brokers.storage.cleaning.last_records import LastRecords
from brokers.storage.cleaning.offset_map import OffsetMap
from tests.unit.brokers.storage.cleaning.test_offset_map import hashed


def knows(last: LastRecords, first: int, end: int) -> bool:
    return bool(last.know(np.array([first]), np.array([end - first - 1]))[0])


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
        superseded, are_last = offsets.put_all(hashed(keys), here)
        last.note(superseded, here[are_last], has_value[are_last])
        model.update(zip(keys, zip(here.tolist(), has_value.tolist(), strict=True), strict=True))
        at += count
    wanted = dict(model.values())
    starts = np.arange(first, end, 10)
    assert all(knows(last, start, start + 10) for start in starts.tolist())
    records, markers = last.counts(starts, starts + 10)
    for number, start in enumerate(starts.tolist()):
        found = [offset for offset in range(start, start + 10) if offset in wanted]
        with_value = [offset for offset in found if wanted[offset]]
        assert [records[number], markers[number]] == [
            len(with_value),
            len(found) - len(with_value),
        ]
        are_last, are_markers = last.states(np.arange(start, start + 10))
        assert are_last.tolist() == [offset in wanted for offset in range(start, start + 10)]
        assert np.count_nonzero(are_markers) == markers[number]


def test_batches_that_reach_beyond_its_offsets_are_not_known() -> None:
    last = LastRecords(10, 20)
    assert [knows(last, *each) for each in ((10, 20), (9, 12), (18, 21), (30, 31))] == [
        True, False, False, False,
    ]  # fmt: skip
    assert not knows(LastRecords(10, 5), 7, 8)
