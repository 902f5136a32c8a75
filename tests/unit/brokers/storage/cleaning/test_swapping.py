"""What a crash leaves between the steps of a swap, and what the next opening makes of it."""

import random
from dataclasses import replace

import pytest

from brokers.records.builder import NewRecord, build_batch
from tests.unit.brokers.storage.cleaning.keyed import COMPACT, records, rolled, sealed
from tests.unit.brokers.storage.cleaning.test_cleaning_model import Killed, Mortal
from tests.unit.brokers.storage.driver import NOW, TP, Driver

OLD = [(0, b"a", b"1"), (1, b"b", b"1"), (2, b"b", b"2"), (3, b"b", b"3"), (4, b"c", b"1")]
CLEAN = [(0, b"a", b"1"), (3, b"b", b"3"), (4, b"c", b"1")]


def written(disk: Mortal, delay_ms: int = 0) -> Driver:
    """[0, 2) and [2, 3), which become one segment: nothing is left of the second. Then a larger one, [3, 5)."""
    driver = Driver(disk, replace(COMPACT, segment_bytes=300), file_delete_delay_ms=delay_ms)
    for *pairs, padding in (
        ((b"a", b"1"), (b"b", b"1"), 0),
        ((b"b", b"2"), 0),
        ((b"b", b"3"), (b"c", b"1"), 250),
    ):
        base = driver.log.log_end_offset
        made = [NewRecord(key, value, ((b"h", bytes(padding)),)) for key, value in pairs]
        batch = build_batch(made, timestamp=NOW, base_offset=base, leader_epoch=0)
        driver.append(batch, roll_first=True, sync=True)
    rolled(driver)
    assert [each.base_offset for each in driver.log.segments] == [0, 2, 3, 5]
    return driver


@pytest.mark.parametrize("delay_ms", [0, 60_000])
def test_a_crash_leaves_the_old_segments_or_the_new_one_and_never_a_part(delay_ms: int) -> None:
    fuse, seen = 0, []
    while fuse < 60:
        driver = written(disk := Mortal(random.Random(fuse)), delay_ms)
        disk.fuse = fuse
        try:
            driver.clean()
            break
        except Killed:
            disk.fuse = None
        driver.start()
        found = sealed(driver)
        assert found in (OLD, CLEAN), (fuse, found)
        bases = [each.base_offset for each in driver.log.segments]
        assert bases == ([0, 2, 3, 5] if found == OLD else [0, 3, 5])
        assert not [
            name
            for name in driver.files_in()
            if "cleaned" in name or "swap" in name or "deleted" in name
        ]
        seen.append(found)
        fuse += 1
    assert seen.count(OLD) > 5 and seen.count(CLEAN) > 5
    assert seen == sorted(
        seen, key=CLEAN.__eq__
    )  # there is one moment from which on it is the new one


def test_a_swap_file_that_is_damaged_goes_and_the_old_segments_stay() -> None:
    driver = written(disk := Mortal(random.Random(1)))
    disk.append(f"{TP}/{0:020d}.log.swap", [b"torn"])
    driver.start()
    assert sealed(driver) == OLD and "it is damaged" in driver.repairs[0]


def test_kafkas_own_leftovers_are_removed() -> None:
    driver = written(disk := Mortal(random.Random(1)))
    for name in ("00000000000000000000.log.cleaned", "00000000000000000002.index.swap"):
        disk.append(f"{TP}/{name}", [b"x"])
    driver.start()
    assert (
        records(driver)[:5] == OLD and driver.files_in("swap") == driver.files_in("cleaned") == []
    )
