"""What a crash leaves between the steps of a swap, and what the next opening makes of it."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from brokers.effects import CleanLog
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.cleaning.cleaning_plan import CleanedSegment
from brokers.storage.cleaning.cleanings import Cleaning, Cleanings
from brokers.storage.cleaning.log_cleaning import LogCleaning
from tests.unit.brokers.storage.cleaning.keyed import COMPACT, DAY, keyed, records, rolled, sealed
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


def _begun(driver: Driver) -> tuple[Cleanings, Cleaning, list[CleanedSegment]]:
    """A cleaning that has finished its segments, none of which is swapped in yet."""
    end = driver.log.segments[-1].base_offset
    driver.perform([CleanLog(TP, 0, end, NOW, DAY, 300, (), driver.limits)])
    cleanings = driver.storage.cleanings
    cleaning = cleanings.begin(TP)
    steps = LogCleaning(driver.files, cleaning.plan).steps()
    return cleanings, cleaning, [each for each in steps if isinstance(each, CleanedSegment)]


def _restart(driver: Driver) -> None:
    driver.storage.cleanings.drop(TP)  # what a process does ends with it
    driver.start()


def _close(driver: Driver) -> None:
    driver.close()
    driver.start()


DURING: dict[str, Callable[[Driver], object]] = {
    "a read": lambda driver: sealed(driver),
    "a restart": _restart,
    "a reopening": lambda driver: driver.open(),
    "a clean shutdown": _close,
    "a digest": lambda driver: driver.digest(),
    "an append": lambda driver: keyed(driver, (b"active", b"")),
}


@pytest.mark.parametrize("delay_ms", [0, 60_000])
@pytest.mark.parametrize("advances", range(5))
@pytest.mark.parametrize("what", DURING)
def test_whatever_comes_between_the_steps_the_log_is_the_old_or_the_new_one(
    what: str, advances: int, delay_ms: int
) -> None:
    driver = written(Mortal(random.Random(1)), delay_ms)
    cleanings, cleaning, (first, *_) = _begun(driver)
    swap = cleanings.begin_swap(TP, cleaning, first)
    for _ in range(advances):
        driver.follow(swap.advance())
        swap.sync()
    found = sealed(driver)
    assert found == (CLEAN if advances >= 2 else OLD)
    DURING[what](driver)
    assert sealed(driver)[:5] in (OLD, CLEAN) and driver.failure == ""
    while not swap.is_over:
        driver.follow(swap.advance())
        swap.sync()
    assert sealed(driver)[:5] in (OLD, CLEAN)
    driver.start()
    has_begun = advances > 0 or what != "a restart"
    assert sealed(driver)[:5] == (CLEAN if has_begun else OLD)
    assert driver.files_in(".swap") == []


@pytest.mark.parametrize("advances", range(5))
@pytest.mark.parametrize(("change", "left"), [("cut", []), ("trim", [3, 4])])
def test_a_truncation_or_a_trim_first_completes_the_swap(
    change: str, left: list[int], advances: int
) -> None:
    driver = written(disk := Mortal(random.Random(advances)))
    cleanings, cleaning, (first, *_) = _begun(driver)
    swap = cleanings.begin_swap(TP, cleaning, first)
    for _ in range(advances):
        driver.follow(swap.advance())
        swap.sync()
    log = driver.log
    # A log that is cut below what it has cleaned begins anew.
    driver.perform(log.truncate(3) if change == "cut" else log.trim(3))
    assert [offset for offset, _, _ in sealed(driver)] == left
    disk.crash(random.Random(advances))
    driver.start()
    assert [offset for offset, _, _ in sealed(driver)] == left


def test_a_device_that_refuses_to_sync_a_step_takes_the_log_offline_and_the_next_opening_ends_it() -> (
    None
):
    for advances in range(1, 4):
        driver = written(disk := Mortal(random.Random(1)))
        cleanings, cleaning, (first, *_) = _begun(driver)
        swap = cleanings.begin_swap(TP, cleaning, first)
        for _ in range(advances):
            disk.ailing = False
            driver.follow(swap.advance())
            disk.ailing = True
            swap.sync()
        disk.ailing = False
        driver.follow(swap.advance())
        assert "the device reports errors" in driver.failure and swap.is_over
        driver.open()
        assert sealed(driver) == CLEAN and driver.failure == ""
