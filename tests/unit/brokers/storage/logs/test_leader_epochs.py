"""A power cut takes no leader epoch that recovery would have to know."""

from random import Random

import pytest

from brokers.effects import SaveHighWatermarks
from brokers.log.config import LogConfig
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TP, Driver, batch_at


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
