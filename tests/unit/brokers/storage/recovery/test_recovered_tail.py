"""What a killed process wrote and never synced is on the disk before anyone is served from it, where that is asked."""

import random

import pytest

from brokers.effects import OpenLog
from brokers.events import LogFailed, LogOpened
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, Driver

CRASHES = range(30)


def killed(files: SimFiles, batches: int) -> None:
    """A process that wrote so many batches, which were not synced yet, and ended."""
    driver = Driver(files)
    for _ in range(batches):
        driver.append_next(3)


def reopened(files: SimFiles) -> list[object]:
    return list(Storage(files).perform(OpenLog(TP, TOPIC_ID, sync=True), NOW))


@pytest.mark.parametrize("seed", CRASHES)
def test_a_recovered_tail_survives_the_next_power_cut(seed: int) -> None:
    files = SimFiles()
    killed(files, batches=1 + seed)  # several segments, in the end
    [opened] = reopened(files)
    assert isinstance(opened, LogOpened)
    files.crash(random.Random(seed))
    assert Driver(files).log.log_end_offset == opened.log.log_end_offset == 3 * (1 + seed)


def test_a_log_whose_recovered_tail_cannot_be_synced_does_not_open() -> None:
    files = SimFiles()
    killed(files, batches=2)
    files.ailing = True
    [failed] = reopened(files)
    assert isinstance(failed, LogFailed)
    assert "the device reports errors" in failed.reason
    files.ailing = False
    [opened] = reopened(files)
    assert isinstance(opened, LogOpened)


def test_a_log_that_ends_where_it_was_synced_costs_no_sync() -> None:
    files = SimFiles()
    killed(files, batches=2)
    storage = Storage(files)
    storage.perform(OpenLog(TP, TOPIC_ID, sync=True), NOW)
    storage.close()
    syncs = files.syncs
    reopened(files)
    assert files.syncs == syncs
