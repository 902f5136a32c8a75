"""A power cut takes no leader epoch that recovery would have to know; epochs without a batch are written behind."""

from random import Random

import pytest

from brokers.effects import SaveHighWatermarks
from brokers.log.config import LogConfig
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TP, Driver, batch_at

FILE = "flights-0/leader-epoch-checkpoint"


@pytest.mark.parametrize("luck", range(10))
def test_leader_epochs_that_are_written_during_a_sync_are_on_the_disk_before_the_recovery_point_is_past_them(
    luck: int,
) -> None:
    """Found by simulation: what a power cut took of them was made up from the batches behind the recovery point."""
    driver = Driver(config=LogConfig(segment_bytes=250))
    driver.append(batch_at(0), sync=True)
    result = driver.storage.begin_sync(TP)()
    driver.perform(driver.log.begin_epoch(1))
    driver.storage.end_sync(TP, result)
    while len(driver.log.segments) < 3:
        driver.append_next(leader_epoch=1)
    driver.sync()
    driver.perform([SaveHighWatermarks({TP: 1})])  # and recovery points
    assert isinstance(driver.files, SimFiles)
    driver.files.crash(Random(luck))
    driver.start()
    assert driver.log.epochs.entries == ((0, 0), (1, 1))


def saved(driver: Driver) -> list[str]:
    """The leader epochs in the file, with their first offsets."""
    return bytes(driver.files.read(FILE, 0, 999)).decode().splitlines()[2:]


@pytest.fixture
def led() -> Driver:
    """Its log has a batch of epoch 0, and an epoch 4 in which nothing is written yet."""
    driver = Driver(writes_behind=True)
    driver.append_next()
    driver.perform(driver.log.begin_epoch(4))
    return driver


def test_an_epoch_without_a_batch_is_written_behind(led: Driver) -> None:
    """A node that becomes the leader of thousands of partitions does not write as many files in one step."""
    assert saved(led) == ["0 0"]
    assert list(led.storage.unsaved) == [TP]
    led.save_behind()
    assert saved(led) == ["0 0", "4 1"]
    led.append_next(leader_epoch=4)
    assert not led.storage.unsaved


def test_an_epoch_that_is_behind_is_written_before_its_first_batch(led: Driver) -> None:
    batch = batch_at(1, leader_epoch=4)
    led.append(batch, behind=True)  # a thread is to write it
    assert led.log.written_offset == 1
    assert saved(led) == ["0 0", "4 1"]


def test_a_disk_that_refuses_the_epoch_gets_no_batch_of_it(led: Driver) -> None:
    led.files.full_after(0)
    led.append(batch_at(1, leader_epoch=4))
    assert "leader-epoch-checkpoint" in led.failure
    led.files.full_after(None)
    led.open()
    assert led.log.epochs.entries == ((0, 0),)
    assert led.log.log_end_offset == 1


def test_an_epoch_that_is_behind_is_written_when_the_log_is_closed(led: Driver) -> None:
    led.stop()
    led.start()
    assert led.log.epochs.entries == ((0, 0), (4, 1))


def test_a_later_history_takes_the_place_of_one_that_is_behind(led: Driver) -> None:
    led.perform(led.log.begin_epoch(5))
    led.perform(led.log.truncate(0))
    led.save_behind()
    assert saved(led) == []


def test_a_process_that_ends_loses_only_epochs_that_have_no_batch(led: Driver) -> None:
    led.start()  # another process
    assert led.log.epochs.entries == ((0, 0),)
    led.perform(led.log.begin_epoch(7))
    led.append_next(leader_epoch=7)
    led.start()
    assert led.log.epochs.entries == ((0, 0), (7, 1))
