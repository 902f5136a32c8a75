"""A hole between two segments is durable at once, with all that lies before it, whoever is syncing that already.

And the one way back: an empty log begins anew below its start.
"""

import random

import pytest

from brokers.events import LogFailed, Written
from brokers.ids import Offset
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TP, Driver, batch_at

CRASHES = range(20)
GAP = 50


def with_a_sync_under_way(driver: Driver) -> Offset:
    """A sealed segment is being synced, and another has begun -> the log's end."""
    for number in range(3):
        driver.append(batch_at(number), sync=True)
    driver.append(batch_at(3), sync=True, roll_first=True)
    driver.storage.begin_sync(TP)  # in another thread, and slow
    driver.append(batch_at(4), sync=True)
    return driver.log.log_end_offset


@pytest.mark.parametrize("seed", CRASHES)
def test_what_is_reported_at_a_gap_survives_though_a_sync_was_under_way(seed: int) -> None:
    files = SimFiles()
    driver = Driver(files)
    end = with_a_sync_under_way(driver)
    events = driver.append(batch_at(end + GAP), sync=True, roll_first=True)
    assert events == [Written(TP, end + GAP)]
    files.crash(random.Random(seed))
    driver = Driver(files)
    assert driver.log.log_end_offset >= end + GAP
    assert driver.read(0).next_offset == 3
    assert driver.read(3).next_offset == 5


def test_a_segment_that_was_trimmed_while_it_was_synced_does_not_hinder_a_gap() -> None:
    driver = Driver()
    end = with_a_sync_under_way(driver)
    driver.perform(driver.log.trim(4))
    driver.append(batch_at(end + GAP), sync=True, roll_first=True)
    assert driver.failure == ""


def test_a_gap_that_cannot_be_synced_is_reported_as_nothing() -> None:
    files = SimFiles()
    driver = Driver(files)
    end = with_a_sync_under_way(driver)
    files.break_at("00000000000000000000.log")
    events = driver.append(batch_at(end + GAP), sync=True, roll_first=True)
    assert [type(event) for event in events] == [LogFailed]


@pytest.mark.parametrize("seed", CRASHES)
def test_a_clean_shutdown_relies_on_no_sync_that_has_not_ended(seed: int) -> None:
    files = SimFiles()
    driver = Driver(files)
    end = with_a_sync_under_way(driver)
    driver.stop()
    files.crash(random.Random(seed))
    driver = Driver(files)
    assert driver.log.log_end_offset == end
    assert driver.read(0).next_offset == 3


@pytest.mark.parametrize("survives", [True, False])
def test_an_empty_log_begins_anew_below_its_start_and_trusts_nothing_there(survives: bool) -> None:
    driver = Driver()
    driver.append(batch_at(0, 30))
    driver.perform(driver.log.trim(30))
    driver.stop()
    driver.start()
    driver.perform(driver.log.step_back(28))
    driver.append(batch_at(28, 8, leader_epoch=2))
    assert driver.read(30).next_offset == 36
    if not survives:
        driver.files.damage(f"{TP}/00000000000000000028.log", 80, b"torn")
    driver.start()
    assert driver.log.log_start_offset == 30
    assert driver.log.log_end_offset == (36 if survives else 30)
    assert driver.log.epochs.entries == ((2, 30),)
