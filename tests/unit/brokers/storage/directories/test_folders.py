"""Whose a folder is, in doubt nobody's: no topic gets another's data, and none waits for the disk to be made."""

import random

import pytest

from brokers.effects import OpenLog
from brokers.events import LogOpened
from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.log.log import Log
from brokers.records.batch import parse_header
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, SMALL, TOPIC_ID, Driver, batch_at

DAMAGED = [b"", b"version: 1\ntopic_id: x", b"\0\0\0"]


def test_a_folder_of_an_earlier_topic_is_put_aside_and_not_touched() -> None:
    driver = Driver()
    driver.append_next(3)
    driver.stop()
    driver.start()
    driver.open(topic_id=b"\xee" * 16)
    assert driver.log.log_end_offset == 0
    aside = f"flights-0.{TOPIC_ID.hex()}-stray"
    assert aside in driver.repairs[0]
    assert "00000000000000000000.log" in driver.files.list(aside)
    assert driver.append_next()


def test_whatever_was_put_aside_before_finds_room_beside_it() -> None:
    driver = Driver()
    other = b"\xee" * 16
    for owner, following in [(TOPIC_ID, other), (other, TOPIC_ID), (TOPIC_ID, other)]:
        driver.append_next()
        driver.open(following)
        assert f".{owner.hex()}" in driver.repairs[0]
    assert sum(name.endswith("-stray") for name in driver.files.list("")) == 3


def test_partitions_of_a_topic_with_a_long_name_are_put_aside_each_for_itself() -> None:
    files = SimFiles()
    storage = Storage(files)
    long = [TopicPartition("x" * 249, number) for number in (0, 1, 10_000)]
    for topic_id in (TOPIC_ID, b"\x22" * 16):
        for partition in long:
            storage.perform(OpenLog(partition, topic_id), NOW)
    aside = [name for name in files.list("") if name.endswith("-stray")]
    assert len(aside) == len(long) and max(map(len, aside)) <= 255


@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_partition_metadata_of_an_empty_folder_is_made_anew(content: bytes) -> None:
    driver = Driver()
    driver.files.replace("flights-0/partition.metadata", content)
    driver.start()
    assert "partition.metadata: made anew" in driver.repairs[0]
    assert driver.append_next()
    driver.start()
    assert (driver.log.log_end_offset, driver.repairs) == (1, ())


@pytest.mark.parametrize("content", [None, *DAMAGED])
def test_data_of_which_nobody_knows_whose_they_are_are_put_aside(content: bytes | None) -> None:
    driver = Driver()
    for number in range(2):
        driver.append_next(3)
        driver.perform(driver.log.trim(1))
        driver.files.remove("flights-0/partition.metadata")
        if content is not None:
            driver.files.append("flights-0/partition.metadata", [content])
        driver.start()
        assert (driver.log.log_start_offset, driver.log.log_end_offset) == (0, 0)
        aside = f"flights-0.unknown{number}-stray"
        assert aside in driver.repairs[-1]
        assert driver.files.size(f"{aside}/00000000000000000000.log") > 0


def test_the_folder_of_the_metadata_log_is_never_anyone_elses() -> None:
    """It holds the vote of this voter, too, which must not be forgotten."""
    files = SimFiles()
    files.make_directory(str(METADATA_PARTITION))
    files.replace(f"{METADATA_PARTITION}/quorum-state", b"voted")
    for damage in ("none yet", "garbled"):
        storage = Storage(files)
        [opened] = storage.perform(OpenLog(METADATA_PARTITION, TOPIC_ID), NOW)
        assert isinstance(opened, LogOpened), damage
        log = Log.of(METADATA_PARTITION, opened.log)
        batch = batch_at(log.log_end_offset)
        config, header = SMALL, parse_header(batch)
        for effect in log.append([header], [batch], NOW, config=config, sync=False):
            storage.perform(effect, NOW)
        files.replace(f"{METADATA_PARTITION}/partition.metadata", b"garbled")
    [opened] = Storage(files).perform(OpenLog(METADATA_PARTITION, TOPIC_ID), NOW)
    assert isinstance(opened, LogOpened)
    assert opened.log.log_end_offset == 2
    assert bytes(files.read(f"{METADATA_PARTITION}/quorum-state", 0, 9)) == b"voted"


@pytest.mark.parametrize("seed", range(30))
def test_whose_a_folder_is_costs_its_making_no_sync_and_is_known_once_data_are_synced(
    seed: int,
) -> None:
    files = SimFiles()
    driver = Driver(files)
    assert files.syncs == 0
    driver.append(batch_at(0, 3), sync=True)
    driver.sync()
    files.crash(random.Random(seed))
    driver.start()
    assert (driver.log.log_end_offset, driver.repairs) == (3, ())


@pytest.mark.parametrize("seed", range(30))
def test_a_log_start_that_is_kept_is_never_one_of_nobodys_folder(seed: int) -> None:
    files = SimFiles()
    driver = Driver(files)
    driver.append_next(3)
    driver.perform(driver.log.trim(3))
    files.crash(random.Random(seed))
    driver.start()
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (3, 3)
