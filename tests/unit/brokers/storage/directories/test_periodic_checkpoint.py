"""The periodic checkpoint that another thread writes, late: no file is older than what was saved after it."""

import random

import pytest

from brokers.effects import CloseLog, FlushLog, SaveHighWatermarks
from brokers.events import DirectoryRefused, Event
from brokers.ids import TopicPartition
from brokers.storage.directories.checkpoint_files import (
    HIGH_WATERMARKS,
    RECOVERY_POINTS,
    parse_offsets,
)
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TP, Driver

RECORDS = 9
CHECKPOINTS = (HIGH_WATERMARKS, RECOVERY_POINTS)


@pytest.fixture
def driver() -> Driver:
    """Its log is synced."""
    driver = Driver(SimFiles(), writes_behind=True)
    for _ in range(RECORDS):
        driver.append_next()
    driver.storage.perform(FlushLog(TP), NOW)
    driver.sync()
    return driver


def checkpoint(driver: Driver, high_watermark: int) -> list[Event]:
    return driver.perform([SaveHighWatermarks({TP: high_watermark})])


def run_begun(driver: Driver) -> list[Event]:
    """What the host's threads do."""
    events: list[Event] = []
    while driver.storage.checkpoints:
        events += driver.storage.checkpoints.pop(0)()
    return events


def on_disk(driver: Driver, name: str) -> dict[TopicPartition, int]:
    files = driver.files
    return parse_offsets(files.read(name, 0, files.size(name))) if files.exists(name) else {}


def test_it_is_written_by_whoever_takes_it(driver: Driver) -> None:
    assert checkpoint(driver, 4) == []
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{}, {}]
    assert run_begun(driver) == []
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{TP: 4}, {TP: RECORDS}]


def test_nothing_is_begun_before_the_one_before_has_ended_or_where_nothing_changed(
    driver: Driver,
) -> None:
    checkpoint(driver, 4)
    [*first] = driver.storage.checkpoints
    checkpoint(driver, 5)
    assert driver.storage.checkpoints == first
    run_begun(driver)
    assert on_disk(driver, HIGH_WATERMARKS) == {TP: 4}
    checkpoint(driver, 6)
    run_begun(driver)
    assert on_disk(driver, HIGH_WATERMARKS) == {TP: 6}
    checkpoint(driver, 6)
    assert driver.storage.checkpoints == []


def test_a_truncation_is_not_undone_by_what_was_begun_before_it(driver: Driver) -> None:
    checkpoint(driver, 8)
    driver.perform(driver.log.truncate(3))
    assert driver.failure == ""
    run_begun(driver)
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{TP: 3}, {TP: 3}]


def test_a_truncation_lowers_what_the_disk_may_still_have(driver: Driver) -> None:
    """The high watermark that was begun is low enough, but the disk does not have it yet."""
    checkpoint(driver, 8)
    run_begun(driver)
    checkpoint(driver, 2)
    driver.perform(driver.log.truncate(3))
    assert on_disk(driver, HIGH_WATERMARKS)[TP] <= 3
    run_begun(driver)
    assert on_disk(driver, HIGH_WATERMARKS)[TP] <= 3


@pytest.mark.parametrize("is_run", [False, True])
def test_a_log_that_is_made_anew_finds_no_checkpoint_of_the_one_before(
    driver: Driver, is_run: bool
) -> None:
    """Whether the thread comes before the deletion or never."""
    checkpoint(driver, 8)
    if is_run:
        run_begun(driver)
    driver.perform([CloseLog(TP, delete=True)])
    driver.open(bytes(16))
    assert all(TP not in on_disk(driver, name) for name in CHECKPOINTS)
    run_begun(driver)
    assert all(TP not in on_disk(driver, name) for name in CHECKPOINTS)


def test_a_log_that_is_gone_is_taken_off_the_disk_before_it_is_made_anew(driver: Driver) -> None:
    """The one that was begun does not have it any more, but the disk has."""
    checkpoint(driver, 8)
    run_begun(driver)
    driver.perform([CloseLog(TP, delete=True)])
    driver.perform([SaveHighWatermarks({})])
    assert TP in on_disk(driver, HIGH_WATERMARKS)
    driver.open(bytes(16))
    assert all(TP not in on_disk(driver, name) for name in CHECKPOINTS)


def test_a_disk_that_refuses_is_reported_and_asked_again(driver: Driver) -> None:
    checkpoint(driver, 4)
    driver.files.full_after(0)
    (refused,) = run_begun(driver)
    assert isinstance(refused, DirectoryRefused) and "full" in refused.reason
    (refused,) = checkpoint(driver, 4)
    assert isinstance(refused, DirectoryRefused)
    driver.files.full_after(None)
    assert checkpoint(driver, 5) == []
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{TP: 5}, {TP: RECORDS}]
    checkpoint(driver, 6)
    run_begun(driver)
    assert on_disk(driver, HIGH_WATERMARKS) == {TP: 6}


def test_a_file_that_is_refused_again_does_not_keep_the_other_from_being_written(
    driver: Driver,
) -> None:
    checkpoint(driver, 4)
    driver.files.break_at(RECOVERY_POINTS)
    assert len(run_begun(driver)) == len(checkpoint(driver, 5)) == 1
    driver.files.break_at("")
    checkpoint(driver, 6)
    run_begun(driver)
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{TP: 6}, {TP: RECORDS}]


def test_a_clean_shutdown_has_what_was_begun_and_not_written(driver: Driver) -> None:
    checkpoint(driver, 4)
    driver.stop()
    assert [on_disk(driver, name) for name in CHECKPOINTS] == [{TP: 4}, {TP: RECORDS}]


def test_a_power_cut_leaves_the_one_before(driver: Driver) -> None:
    checkpoint(driver, 4)
    run_begun(driver)
    checkpoint(driver, 6)
    driver.files.crash(random.Random(1))
    driver.start()
    assert driver.log.high_watermark_checkpoint == 4


def test_a_cleaning_trusts_a_recovery_point_that_is_on_disk(driver: Driver) -> None:
    points = driver.storage.root.recovery_points
    checkpoint(driver, 4)
    assert points.get(TP) == RECORDS and points.surely_saved(TP) == 0
    run_begun(driver)
    assert points.surely_saved(TP) == RECORDS
