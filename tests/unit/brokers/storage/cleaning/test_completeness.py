"""What a log lacks because of compaction is known, over restarts and crashes, and nothing is built on half of a log."""

import random
from dataclasses import replace

import pytest

from brokers.effects import NoteGap, TruncateLog
from brokers.log.completeness import Completeness
from brokers.ports import DiskError
from brokers.records.batch import parse_header
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.cleaning.keyed import (
    COMPACT,
    DAY,
    keyed,
    new,
    records,
    rolled,
    sealed,
)
from tests.unit.brokers.storage.driver import NOW, TP, Driver, batch_at

AT_ONCE = replace(COMPACT, delete_retention_ms=0)


def lacks(driver: Driver) -> tuple[int, int]:
    return driver.log.completeness.complete_from, driver.log.completeness.markers_from


def compacted(config: object = COMPACT) -> Driver:
    """Of a, b, a: the first is gone. Everything below 3 is clean."""
    driver = new(config)  # type: ignore[arg-type]
    for key, value in ((b"a", b"1"), (b"b", b"1"), (b"a", b"2")):
        keyed(driver, (key, value))
    rolled(driver)
    driver.clean()
    assert [offset for offset, *_ in sealed(driver)] == [1, 2]
    return driver


def test_a_log_that_was_never_compacted_lacks_nothing() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"), (b"a", b"2"))
    rolled(driver)
    assert lacks(driver) == (0, 0)
    driver.stop()
    driver.start()
    assert lacks(driver) == (0, 0)


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_cleaning_is_remembered(is_killed: bool) -> None:
    driver = compacted()
    assert lacks(driver) == (3, 0)
    if not is_killed:
        driver.stop()
    driver.start()
    assert lacks(driver) == (3, 0)


def test_a_cleaning_that_a_crash_ended_is_remembered_once_a_segment_is_replaced() -> None:
    driver = new()
    for _ in range(2):
        for number in range(12):
            keyed(driver, (b"k%d" % number, b"v" * 150))
        rolled(driver)
    bases = [segment.base_offset for segment in driver.log.segments]
    steps = driver.cleaning_steps()
    driver.perform([driver.cleaning(COMPACT)])
    while not next(steps):
        assert lacks(driver) == (0, 0)
    driver.files.crash(random.Random(1))  # type: ignore[attr-defined]
    driver.start()
    assert lacks(driver) == (bases[-1], 0)


def test_a_log_knows_of_a_gap_before_anybody_can_read_it() -> None:
    driver = new(AT_ONCE)
    keyed(driver, (b"a", b"1"), (b"b", b"1"))
    keyed(driver, (b"a", None))
    keyed(driver, (b"c", b"1"))
    rolled(driver)
    driver.clean(now=NOW)
    keyed(driver, (b"c", b"2"))
    rolled(driver)
    driver.begin_cleaning(now=NOW + 1)
    seen = []
    for _ in driver.cleaning_steps():
        offsets = [offset for offset, *_ in sealed(driver)]
        seen.append(offsets)
        if offsets != [1, 2, 3, 5]:
            assert lacks(driver) == (6, 3)
    assert seen[0] == [1, 2, 3, 5] and seen[-1] == [1, 5]


def test_a_removed_marker_is_remembered() -> None:
    driver = new(AT_ONCE)
    keyed(driver, (b"a", b"1"), (b"b", b"1"))
    keyed(driver, (b"a", None))
    keyed(driver, (b"b", b"2"))
    rolled(driver)
    driver.clean(now=NOW)
    assert lacks(driver) == (4, 0)  # its time began
    keyed(driver, (b"c", b"1"))
    rolled(driver)
    driver.clean(now=NOW + 1)
    assert [offset for offset, *_ in sealed(driver)] == [3, 5]
    assert lacks(driver) == (6, 3)
    driver.start()
    assert lacks(driver) == (6, 3)


def test_a_marker_that_was_replaced_is_not_removed() -> None:
    driver = new(AT_ONCE)
    keyed(driver, (b"a", None))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.clean(now=NOW)
    assert lacks(driver) == (2, 0)


@pytest.mark.parametrize(("held_ms", "is_kept"), [(DAY, True), (0, False)])
def test_a_marker_that_a_mirror_lacks_is_kept_so_long(held_ms: int, is_kept: bool) -> None:
    driver = new(AT_ONCE)
    keyed(driver, (b"a", None))
    keyed(driver, (b"b", None))
    rolled(driver)
    driver.clean(now=NOW)
    keyed(driver, (b"c", b"1"))
    rolled(driver)
    driver.clean(now=NOW + 1, keep_markers_from=1, keep_markers_ms=held_ms)
    offsets = [offset for offset, *_ in sealed(driver)]
    assert offsets == ([1, 3] if is_kept else [3])
    assert lacks(driver)[1] == (1 if is_kept else 2)


@pytest.mark.parametrize("is_killed", [True, False])
def test_gaps_that_were_copied_are_remembered(is_killed: bool) -> None:
    driver = new()
    driver.append(batch_at(0))
    driver.append(batch_at(5))
    assert lacks(driver) == (6, 6)
    driver.append(batch_at(6))
    assert lacks(driver) == (6, 6)
    if not is_killed:
        driver.stop()
    driver.start()
    assert lacks(driver) == (6, 6)


def copied(complete_from: int) -> Driver:
    """Batches 0 and 5 of a log that lacks the records between, as later ones below `complete_from` have replaced
    them."""
    driver = new()
    driver.append(batch_at(0))
    gap = batch_at(5)
    effects = driver.log.append(
        [parse_header(gap)], [gap], NOW, config=COMPACT, sync=False, complete_from=complete_from
    )
    driver.perform(effects)
    return driver


@pytest.mark.parametrize("is_killed", [True, False])
def test_what_has_replaced_the_records_of_a_gap_may_not_be_copied_yet(is_killed: bool) -> None:
    driver = copied(complete_from=20)
    assert lacks(driver) == (20, 6)
    if not is_killed:
        driver.stop()
    driver.start()
    assert lacks(driver) == (20, 20)  # gaps below 20 are not looked for any more
    for offset in range(6, 12):
        driver.append(batch_at(offset))
    (effect,) = driver.log.truncate(10)  # what replaced them may be 10 or above
    assert isinstance(effect, TruncateLog) and effect.begins_anew
    driver.perform([effect])
    assert (driver.log.log_end_offset, lacks(driver)) == (0, (0, 0))


def test_a_gap_that_ends_above_what_the_other_log_says_is_one_all_the_same() -> None:
    assert lacks(copied(complete_from=3)) == lacks(copied(complete_from=-1)) == (6, 6)


def test_a_disk_that_cannot_keep_it_takes_the_log_offline() -> None:
    class Full(SimFiles):
        is_full = False

        def replace(self, path: str, data: object) -> None:
            if self.is_full:
                raise DiskError(f"{path}: no space left")
            super().replace(path, data)  # type: ignore[arg-type]

    files = Full()
    driver = Driver(files, COMPACT)
    driver.append(batch_at(0))
    files.is_full = True
    driver.perform([NoteGap(TP, 6, 20)])
    assert "no space left" in driver.failure


def test_gaps_below_the_recovery_point_are_remembered() -> None:
    driver = new()
    driver.append(batch_at(0))
    driver.append(batch_at(5), sync=True)
    driver.sync()
    driver.storage.root.save_recovery_points()
    driver.append(batch_at(6))
    driver.files.crash(random.Random(1))  # type: ignore[attr-defined]
    driver.start()
    assert driver.log.log_end_offset >= 6 and lacks(driver) == (6, 6)


def test_gaps_that_a_recovery_has_found_are_remembered_by_the_next_ones() -> None:
    """A recovery point above them ends the search for them."""
    driver = new()
    driver.append(batch_at(0))
    driver.append(batch_at(5), sync=True)
    driver.start()  # it was killed
    assert lacks(driver) == (6, 6)
    driver.stop()
    driver.start()
    assert lacks(driver) == (6, 6)


def test_gaps_are_remembered_by_a_log_that_is_cut_above_them() -> None:
    """It is opened again, and the segments that this process has written are not read again."""
    driver = new()
    driver.append(batch_at(0))
    driver.append(batch_at(5))
    for offset in (6, 7, 8):
        driver.append(batch_at(offset), roll_first=True)
    driver.perform(driver.log.truncate(8))
    assert (driver.log.log_end_offset, lacks(driver)) == (8, (6, 6))
    driver.perform(driver.log.truncate(5))
    assert (driver.log.log_end_offset, lacks(driver)) == (0, (0, 0))


def test_a_gap_that_the_disk_had_no_room_for_is_none_above_the_log_end() -> None:
    driver = new()
    driver.append(batch_at(0))
    driver.append(batch_at(5))
    driver.files.full_after(10)  # type: ignore[attr-defined]
    driver.append(batch_at(9))
    assert "full" in driver.failure
    driver.files.full_after(None)  # type: ignore[attr-defined]
    driver.open()
    assert (driver.log.log_end_offset, lacks(driver)) == (6, (6, 6))
    driver.stop()
    driver.start()
    assert (driver.log.log_end_offset, lacks(driver)) == (6, (6, 6))


def test_a_log_that_lacks_what_a_cut_would_need_begins_anew() -> None:
    driver = compacted()
    (effect,) = driver.log.truncate(2)  # the first value of a is gone, and the second goes
    assert effect == TruncateLog(TP, 0, ((0, 0),), begins_anew=True)
    driver.perform([effect])
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (0, 0)
    assert lacks(driver) == (0, 0) and driver.log.epochs.entries == ()
    driver.append(batch_at(0))
    driver.start()
    assert lacks(driver) == (0, 0)


def test_a_cut_above_what_was_compacted_leaves_the_rest() -> None:
    driver = compacted()
    (effect,) = driver.log.truncate(3)
    driver.perform([effect])
    assert [offset for offset, *_ in records(driver)] == [1, 2] and lacks(driver) == (3, 0)


@pytest.mark.parametrize("fuse", range(1, 9))
def test_a_crash_while_a_log_begins_anew_leaves_all_or_nothing(fuse: int) -> None:
    class Fuse(SimFiles):
        left = 1_000

        def truncate(self, path: str, size: int) -> None:
            self.burn()
            super().truncate(path, size)

        def remove(self, path: str) -> None:
            self.burn()
            super().remove(path)

        def replace(self, path: str, data: object) -> None:
            self.burn()
            super().replace(path, data)  # type: ignore[arg-type]

        def burn(self) -> None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    files = Fuse()
    driver = Driver(files, COMPACT)
    for _ in range(3):
        for key in (b"a", b"b"):
            keyed(driver, (key, b"x" * 900))
        rolled(driver)
    driver.clean()
    before = records(driver)
    (effect,) = driver.log.truncate(1)
    files.left = fuse
    try:
        driver.perform([effect])
    except KeyboardInterrupt:
        driver.files.crash(random.Random(fuse))  # type: ignore[attr-defined]
        files.left = 1_000
        driver.start()
    assert records(driver) in (before, before[:-1], [])
    assert lacks(driver) == (
        (driver.log.segments[-1].base_offset, 0) if records(driver) else (0, 0)
    )


def test_removals_are_told_apart_by_their_time() -> None:
    log = Completeness(markers_removed_at=5)
    log.cleaned(10, -1, 7)
    assert (log.complete_from, log.markers_from, log.markers_removed_at) == (10, 0, 5)
    log.cleaned(20, 8, 7)
    log.cleaned(20, 3, 7)
    assert (log.complete_from, log.markers_from, log.markers_removed_at) == (20, 8, 8)
