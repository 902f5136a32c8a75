"""Files of deleted segments and folders of deleted logs are renamed, and removed after their delay or by a start."""

import random
from pathlib import Path

import pytest

from brokers.effects import CloseLog, ConfigureLog
from brokers.events import DirectoryRefused
from brokers.log.config import LogConfig
from brokers.ports import DiskError, Files
from brokers.shell.files import DiskFiles
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.cleaning.keyed import COMPACT, keyed, records, rolled
from tests.unit.brokers.storage.driver import TP, Driver

SEGMENTS = LogConfig(segment_bytes=250)  # three batches
DELAY_MS = 60_000


@pytest.fixture(params=["disk", "simulated"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return SimFiles() if request.param == "simulated" else DiskFiles(tmp_path)


def driver_on(files: Files, batches: int = 9, *, delay_ms: int = DELAY_MS) -> Driver:
    driver = Driver(files, SEGMENTS, file_delete_delay_ms=delay_ms)
    for _ in range(batches):
        driver.append_next()
    driver.sync()
    driver.digest()
    return driver


def delays_over(driver: Driver) -> None:
    """The host's timers."""
    while driver.storage.discarded:
        discarded = driver.storage.discarded.pop()
        assert discarded.delay_ms == DELAY_MS
        assert discarded.remove() == []


def of(base: int, *, deleted: bool) -> list[str]:
    suffixes = ("digest", "index", "log", "timeindex")
    return [f"{base:020}.{each}{'.deleted' if deleted else ''}" for each in suffixes]


def test_a_trimmed_segment_stays_renamed_until_its_delay_is_over(files: Files) -> None:
    driver = driver_on(files)
    before = bytes(files.read(f"{TP}/{0:020}.log", 0, 1 << 20))
    held = files.refer(f"{TP}/{0:020}.log", 0, len(before))
    driver.perform(driver.log.trim(3))
    assert driver.files_in(".deleted") == of(0, deleted=True)
    assert f"{0:020}.log" not in driver.files_in()
    assert bytes(files.read(f"{TP}/{0:020}.log.deleted", 0, 1 << 20)) == before
    delays_over(driver)
    assert driver.files_in(".deleted") == []
    assert driver.files_in(".log") == [f"{3:020}.log", f"{6:020}.log"]
    assert bytes(held) == before  # who reads it reads it to its end


def test_without_a_delay_a_segment_goes_at_once(files: Files) -> None:
    driver = driver_on(files, delay_ms=0)
    driver.perform(driver.log.trim(3))
    assert driver.files_in(".deleted") == [] and driver.storage.discarded == []
    assert driver.files_in(".log") == [f"{3:020}.log", f"{6:020}.log"]


def test_the_delay_of_an_open_log_can_be_changed_and_survives_a_truncation() -> None:
    driver = driver_on(SimFiles(), delay_ms=0)
    driver.perform([ConfigureLog(TP, 7)])
    driver.perform(driver.log.truncate(8))
    driver.perform(driver.log.trim(3))
    assert [each.delay_ms for each in driver.storage.discarded] == [7, 7]


def test_a_truncation_leaves_what_it_cuts_though_the_log_is_opened_again(files: Files) -> None:
    driver = driver_on(files)
    driver.perform(driver.log.truncate(4))
    assert f"{6:020}.log.deleted" in driver.files_in(".deleted")
    assert driver.log.log_end_offset == 4 and driver.repairs == ()
    delays_over(driver)
    assert driver.files_in(".deleted") == []


def test_a_segment_that_is_deleted_twice_keeps_its_second_delay() -> None:
    driver = driver_on(SimFiles())
    driver.perform(driver.log.truncate(4))
    first, driver.storage.discarded[:] = list(driver.storage.discarded), []
    for _ in range(3):
        driver.append_next()
    assert driver.files_in(".log")[-1] == f"{6:020}.log"
    driver.perform(driver.log.truncate(4))
    for discarded in first:
        assert discarded.remove() == []
    assert f"{6:020}.log.deleted" in driver.files_in(".deleted")
    delays_over(driver)
    assert driver.files_in(".deleted") == []


@pytest.mark.parametrize("end", ["stopped", "killed", "power cut"])
def test_the_next_start_removes_what_is_left(end: str) -> None:
    driver = driver_on(disk := SimFiles())
    driver.perform(driver.log.trim(3))
    [*left] = driver.storage.discarded
    if end == "stopped":
        driver.stop()
    elif end == "power cut":
        disk.crash(random.Random(5))
    driver.start()
    assert driver.files_in(".deleted") == []
    assert driver.log.log_start_offset == 3 and driver.log.log_end_offset >= 6
    assert end == "power cut" or (driver.repairs, driver.log.log_end_offset) == ((), 9)
    disk.append(f"{TP}/{left[0].paths[0].rpartition('/')[2]}", [b"of the next process"])
    if end == "stopped":  # a late timer of the process before does nothing
        assert [each.remove() for each in left] == [[]] * len(left)
        assert disk.exists(left[0].paths[0])


def test_cleaned_segments_are_renamed_too(files: Files) -> None:
    driver = Driver(files, COMPACT, file_delete_delay_ms=DELAY_MS)
    for value in (b"1", b"2", b"3"):
        keyed(driver, (b"a", value), (b"b", value))
    rolled(driver)
    old = bytes(files.read(f"{TP}/{0:020}.log", 0, 1 << 20))
    driver.clean()
    kept = [(offset, key) for offset, key, _ in records(driver)]
    assert kept == [(4, b"a"), (5, b"b"), (6, b"active")]
    assert set(of(0, deleted=True)) <= set(driver.files_in(".deleted"))
    assert bytes(files.read(f"{TP}/{0:020}.log.deleted", 0, 1 << 20)) == old
    delays_over(driver)
    assert driver.files_in(".deleted") == []
    assert [(offset, key) for offset, key, _ in records(driver)] == kept


def test_the_folder_of_a_deleted_log_is_renamed_and_its_name_free(files: Files) -> None:
    driver = driver_on(files)
    driver.perform(driver.log.trim(3))
    driver.perform([CloseLog(TP, delete=True)])
    [aside] = [name for name in files.list("") if name.startswith(str(TP))]
    assert aside.endswith("-delete")
    driver.open()
    driver.append_next()
    driver.perform([CloseLog(TP, delete=True)])  # of the same id, once more
    assert [name for name in files.list("") if name.startswith(str(TP))] == [aside]
    driver.open(topic_id=b"\x11" * 16)
    assert (driver.log.log_end_offset, driver.repairs) == (0, ())
    delays_over(driver)
    assert [name for name in files.list("") if name.startswith(str(TP))] == [str(TP)]


def test_a_start_removes_the_folders_of_deleted_logs() -> None:
    driver = driver_on(disk := SimFiles())
    driver.perform([CloseLog(TP, delete=True)])
    driver.start()
    assert [name for name in disk.list("") if name.endswith("-delete")] == []


class ReadOnly(SimFiles):
    """It refuses removals from when the test says so."""

    refuses = False

    def remove(self, path: str) -> None:
        if self.refuses:
            raise DiskError(f"{path}: Read-only file system")
        super().remove(path)


def test_a_directory_that_refuses_a_removal_is_reported() -> None:
    driver = driver_on(disk := ReadOnly())
    driver.perform(driver.log.trim(3))
    disk.refuses = True
    events = [event for each in driver.storage.discarded for event in each.remove()]
    assert len(events) == 2 and all(isinstance(event, DirectoryRefused) for event in events)
