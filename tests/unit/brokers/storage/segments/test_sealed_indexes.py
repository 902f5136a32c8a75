"""Indexes of a sealed segment are believed after a power cut only if they had reached the disk.

A time index of zeros says that a segment is from 1970, and retention deletes it.
"""

from brokers.effects import SaveHighWatermarks
from brokers.ids import Offset
from brokers.log.config import LogConfig
from brokers.storage.directories.checkpoint_files import CLEAN_SHUTDOWN
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TP, Driver, batch_at

A_WEEK = LogConfig(segment_bytes=2_000, retention_ms=7 * 24 * 3_600_000)


class Zeroing(SimFiles):
    """A disk that knows how long its files were, and has zeros where they were not synced."""

    def lose_power(self) -> None:
        for file in self._files.values():
            file.content[file.synced :] = bytes(len(file.content) - file.synced)
            file.synced, file.named = len(file.content), True


def append_synced(driver: Driver, count: int) -> Offset:
    """Batches that are on the disk one by one -> the log's end."""
    for _ in range(count):
        append(driver)
        driver.sync()
    return driver.log.log_end_offset


def append(driver: Driver, *, roll_first: bool = False) -> None:
    offset = driver.log.log_end_offset
    driver.append(batch_at(offset, timestamp=NOW + offset), sync=True, roll_first=roll_first)


def save_recovery_point(driver: Driver) -> None:
    """As the periodic checkpoint does."""
    driver.storage.root.recovery_points.save()


def assert_nothing_expires(files: Zeroing, end: Offset) -> None:
    files.lose_power()
    driver = Driver(files)
    assert driver.log.log_end_offset == end
    assert driver.log.segments[0].newest == NOW + 11
    assert driver.log.retention(NOW + end, A_WEEK, end) is None
    assert [driver.find(NOW + offset)[0] for offset in range(end)] == list(range(end))


def test_a_segment_whose_data_was_synced_before_it_was_sealed() -> None:
    driver = Driver(files := Zeroing())
    append_synced(driver, 12)
    append(driver, roll_first=True)
    driver.sync()
    end = append_synced(driver, 2)
    save_recovery_point(driver)
    assert_nothing_expires(files, end)


def test_a_segment_that_was_sealed_a_moment_ago() -> None:
    """The recovery point stands at its end, and its indexes are still on their way."""
    driver = Driver(files := Zeroing())
    end = append_synced(driver, 12)
    append(driver, roll_first=True)
    save_recovery_point(driver)
    assert_nothing_expires(files, end)


def test_a_log_that_a_full_disk_took_offline_before_the_indexes_were_synced() -> None:
    driver = Driver(files := Zeroing())
    append_synced(driver, 12)
    append(driver, roll_first=True)
    files.full_after(10)
    append(driver)
    assert "full" in driver.failure
    files.full_after(None)
    driver.open()
    end = append_synced(driver, 2)
    save_recovery_point(driver)
    assert_nothing_expires(files, end)


def test_a_log_that_was_closed_with_nothing_in_its_last_segment() -> None:
    driver = Driver(files := Zeroing())
    append_synced(driver, 12)
    driver.perform([driver.log._roll(12)])
    driver.stop()
    assert_nothing_expires(files, 12)
    assert Driver(files).repairs == ()


def test_a_process_that_never_opened_a_log_does_not_vouch_for_it() -> None:
    driver = Driver(files := Zeroing())
    end = append_synced(driver, 12)
    driver.perform([SaveHighWatermarks({TP: end})])
    files.lose_power()
    Storage(files).close()  # told to end before it heard which logs there are
    assert_nothing_expires(files, end)


def test_logs_that_are_gone_or_were_closed_before_hinder_no_clean_end() -> None:
    driver = Driver(files := Zeroing())
    append_synced(driver, 12)
    driver.perform([SaveHighWatermarks({TP: 12})])
    files.remove(str(TP))
    driver.start()  # as a new log, after a crash
    driver.stop()
    Storage(files).close()
    assert files.exists(CLEAN_SHUTDOWN)
    files.remove(CLEAN_SHUTDOWN)
    files.remove(str(TP))
    Storage(files).close()
    assert files.exists(CLEAN_SHUTDOWN)
