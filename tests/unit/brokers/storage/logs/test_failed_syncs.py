"""After a failed sync the page cache is not believed: Linux takes the pages for clean, and the next sync for done."""

import random
from collections.abc import Callable

import pytest

from brokers.effects import OpenLog
from brokers.events import LogFailed, LogOpened, Written
from brokers.log.config import LogConfig
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, Driver, batch_at

CRASHES = range(20)
MARKER = f"{TP}/sync-failed"
SEGMENTS = LogConfig(segment_bytes=400)


def synced(files: SimFiles, batches: int = 4) -> Driver:
    """A log in several segments, all of it on the disk."""
    driver = Driver(files, SEGMENTS)
    for number in range(batches):
        driver.append(batch_at(3 * number, 3), sync=True)
        assert driver.sync() == [Written(TP, 3 * number + 3)]
    return driver


def failed(files: SimFiles) -> Driver:
    """The same, and three batches more, whose sync failed."""
    driver = synced(files)
    for number in range(4, 7):
        driver.append(batch_at(3 * number, 3), sync=True)
    files.ailing = True
    [event] = driver.sync()
    assert isinstance(event, LogFailed)
    files.ailing = False
    return driver


def opened(storage: Storage) -> LogOpened:
    [event] = storage.perform(OpenLog(TP, TOPIC_ID, sync=True), NOW)
    assert isinstance(event, LogOpened)
    return event


def same_process(driver: Driver) -> Storage:
    return driver.storage


def next_process(driver: Driver) -> Storage:
    return Storage(driver.files)


@pytest.mark.parametrize("seed", CRASHES)
@pytest.mark.parametrize("whose", [same_process, next_process])
def test_what_an_opened_log_holds_survives_though_its_sync_had_failed(
    whose: Callable[[Driver], Storage], seed: int
) -> None:
    files = SimFiles()
    found = opened(whose(failed(files)))
    assert found.log.log_end_offset == 21  # nothing that could be read was given up
    assert not files.exists(MARKER)
    files.crash(random.Random(seed))
    driver = Driver(files, SEGMENTS)
    assert (driver.log.log_end_offset, driver.repairs) == (21, ())
    assert len(driver.read_all()) == 7 * len(batch_at(0, 3))


@pytest.mark.parametrize("seed", CRASHES)
def test_a_process_that_ends_before_it_hears_of_the_failed_sync_leaves_the_doubt(seed: int) -> None:
    files = SimFiles()
    driver = synced(files)
    driver.append(batch_at(12, 3), sync=True)
    files.ailing = True
    driver.storage.begin_sync(TP)()  # in another thread, and nobody is left to hear
    files.ailing = False
    assert opened(Storage(files)).log.log_end_offset == 15
    files.crash(random.Random(seed))
    assert Driver(files, SEGMENTS).log.log_end_offset == 15


@pytest.mark.parametrize("seed", CRASHES)
def test_what_is_appended_behind_a_doubt_survives_with_it(seed: int) -> None:
    files = SimFiles()
    driver = failed(files)
    driver.open()
    driver.append(batch_at(21, 3), sync=True)
    assert driver.sync() == [Written(TP, 24)]
    files.crash(random.Random(seed))
    driver.start()
    assert driver.log.log_end_offset == 24


def test_while_the_disk_ails_the_log_stays_in_doubt() -> None:
    files = SimFiles()
    driver = failed(files)
    files.ailing = True
    for _ in range(3):
        [event] = driver.storage.perform(OpenLog(TP, TOPIC_ID, sync=True), NOW)
        assert isinstance(event, LogFailed)
        assert files.exists(MARKER)
    files.ailing = False
    assert opened(driver.storage).log.log_end_offset == 21


def test_a_doubt_about_a_log_that_the_power_cut_took_whole_is_settled() -> None:
    files = SimFiles()
    Driver(files)
    files.remove(f"{TP}/00000000000000000000.log")
    files.touch(MARKER)
    driver = Driver(files)
    assert (driver.failure, driver.log.log_end_offset) == ("", 0)
    assert not files.exists(MARKER)


def test_a_doubt_that_found_no_room_on_the_disk_is_remembered() -> None:
    files = SimFiles()
    driver = synced(files)
    driver.append(batch_at(12, 3), sync=True)
    files.break_at(f"{TP}/")
    [event] = driver.sync()
    assert isinstance(event, LogFailed)
    files.break_at("")
    assert not files.exists(MARKER)
    opened(driver.storage)
    files.crash(random.Random(0))
    driver.start()
    assert driver.log.log_end_offset == 15


@pytest.mark.parametrize("again", [True, False])
def test_a_sync_that_fails_after_its_log_has_failed_is_heard(again: bool) -> None:
    """Of the two, opened anew or not, no later sync would tell."""
    files = SimFiles()
    driver = synced(files)
    driver.append(batch_at(12, 3), sync=True)
    work = driver.storage.begin_sync(TP)
    files.full_after(10)
    driver.append(batch_at(15, 3), sync=True)
    files.full_after(None)
    files.ailing = True
    result = work()
    files.ailing = False
    if again:
        opened(driver.storage)
    events = driver.storage.end_sync(TP, result)
    assert [type(event) for event in events] == [LogFailed] * again
    assert opened(driver.storage).log.log_end_offset == 15
    files.crash(random.Random(1))
    driver.start()
    assert driver.log.log_end_offset == 15


@pytest.mark.parametrize("seed", CRASHES)
def test_a_sync_that_fails_after_its_log_was_closed_is_heard(seed: int) -> None:
    files = SimFiles()
    driver = synced(files)
    for number in range(4, 7):
        driver.append(batch_at(3 * number, 3), sync=True)
    work = driver.storage.begin_sync(TP)
    files.ailing = True
    result = work()
    files.ailing = False
    driver.close()
    assert driver.storage.end_sync(TP, result) == []
    driver.stop()
    opened(Storage(files))
    files.crash(random.Random(seed))
    driver.start()
    assert (driver.log.log_end_offset, driver.repairs) == (21, ())
    assert [driver.find(NOW)[0], driver.read(20).next_offset] == [0, 21]


@pytest.mark.parametrize("seed", CRASHES)
def test_a_sync_that_fails_while_the_log_is_closed_leaves_a_doubt(seed: int) -> None:
    files = SimFiles()
    driver = synced(files)
    driver.append(batch_at(12, 3))
    files.ailing = True
    driver.stop()
    files.ailing = False
    opened(Storage(files))
    files.crash(random.Random(seed))
    driver.start()
    assert driver.log.log_end_offset == 15


def test_indexes_whose_sync_failed_are_not_taken_for_the_logs() -> None:
    """They are made anew below the recovery point, where no other sync comes by."""
    files = SimFiles()
    synced(files).storage.close()
    [index, *_] = [name for name in files.list(str(TP)) if name.endswith(".timeindex")]
    files.remove(f"{TP}/{index}")
    files.ailing = True
    [event] = Storage(files).perform(OpenLog(TP, TOPIC_ID), NOW)
    assert isinstance(event, LogFailed)
    files.ailing = False
    opened(Storage(files))
    before = bytes(files.read(f"{TP}/{index}", 0, 1_000))
    files.crash(random.Random(0))
    assert bytes(files.read(f"{TP}/{index}", 0, 1_000)) == before
