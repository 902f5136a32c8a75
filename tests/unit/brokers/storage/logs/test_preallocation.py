"""`preallocate`: the active segment takes its disk beforehand, and gives back what it does not need."""

import pytest

from brokers.effects import CloseLog, ConfigureLog, OpenLog, Roll, TruncateLog
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, Driver, batch_at

SIZE = 1 << 20
FIRST = "flights-0/00000000000000000000.log"
SECOND = "flights-0/00000000000000000002.log"


def preallocating() -> Driver:
    driver = Driver()
    driver.perform([CloseLog(TP, delete=False), OpenLog(TP, TOPIC_ID, preallocate_bytes=SIZE)])
    assert driver.files.preallocated() == {FIRST: SIZE}
    return driver


def roll(driver: Driver) -> None:
    driver.perform([Roll(TP, driver.log.log_end_offset, b"")])


def test_each_new_segment_takes_its_disk_and_the_one_before_gives_back_the_rest() -> None:
    driver = preallocating()
    driver.append(batch_at(0, 2))
    roll(driver)
    assert driver.files.preallocated() == {SECOND: SIZE}
    driver.append(batch_at(2))
    assert bytes(driver.read(2).data) == bytes(batch_at(2))


@pytest.mark.parametrize("records", [0, 2])
def test_a_closed_log_takes_what_it_holds(records: int) -> None:
    driver = preallocating()
    if records:
        driver.append(batch_at(0, records))
    driver.perform([CloseLog(TP, delete=False)])
    assert driver.files.preallocated() == {}


def test_a_change_of_the_setting_is_for_the_next_segment() -> None:
    driver = preallocating()
    driver.append(batch_at(0, 2))
    driver.perform([ConfigureLog(TP, 0, 0)])
    assert driver.files.preallocated() == {FIRST: SIZE}
    roll(driver)
    assert driver.files.preallocated() == {}
    driver.perform([ConfigureLog(TP, 0, 2 * SIZE)])
    driver.append(batch_at(2))
    roll(driver)
    assert list(driver.files.preallocated().values()) == [2 * SIZE]


def test_a_log_that_was_cut_goes_on_as_before() -> None:
    driver = preallocating()
    driver.append(batch_at(0, 2))
    roll(driver)
    driver.append(batch_at(2))
    driver.storage.perform(TruncateLog(TP, 2, ()), NOW)
    (path,) = driver.files.preallocated()
    assert path in (FIRST, SECOND)


def test_after_a_crash_the_log_ends_where_its_records_do() -> None:
    driver = preallocating()
    driver.append(batch_at(0, 2))
    driver.start()
    assert driver.log.log_end_offset == 2
    assert bytes(driver.read(0).data) == bytes(batch_at(0, 2))
