"""A clean shutdown says whose it was, once, and never after a crash."""

import pytest

from brokers.effects import KeepBrokerEpoch, KeepProducers, SaveHighWatermarks
from brokers.log.snapshots import encode_snapshot
from brokers.storage.directories.checkpoint_files import CLEAN_SHUTDOWN, parse_clean_shutdown
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.log.test_producers import after, header
from tests.unit.brokers.storage.driver import TP, Driver


def test_the_next_start_knows_under_which_broker_epoch_it_ended() -> None:
    files = SimFiles()
    first = Storage(files)
    assert first.previous_broker_epoch == -1
    first.perform(KeepBrokerEpoch(41), 0)
    first.perform(KeepBrokerEpoch(77), 0)
    assert not files.exists(CLEAN_SHUTDOWN)
    first.close()
    assert bytes(files.read(CLEAN_SHUTDOWN, 0, 100)) == b'{"version":0,"brokerEpoch":77}'
    second = Storage(files)
    assert second.previous_broker_epoch == 77
    assert Storage(files).previous_broker_epoch == -1  # the second never got to its end


def test_a_shutdown_under_no_broker_epoch_says_so() -> None:
    files = SimFiles()
    Storage(files).close()
    assert Storage(files).previous_broker_epoch == -1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"brokerEpoch":"7"}', b"\xff"])
def test_a_marker_that_names_no_broker_epoch_names_none(data: bytes) -> None:
    assert parse_clean_shutdown(data) == -1


class Watched(SimFiles):
    """Tells what is removed."""

    def __init__(self) -> None:
        super().__init__()
        self.removed: list[str] = []

    def remove(self, path: str) -> None:
        if self.exists(path):
            self.removed.append(path)
        super().remove(path)


@pytest.mark.parametrize("count", [0, 3])
def test_a_log_that_was_closed_is_opened_as_it_is_be_it_empty(count: int) -> None:
    files = Watched()
    driver = Driver(files)
    driver.perform(driver.log.begin_epoch(0))
    for _ in range(count):
        driver.append_next()
    driver.perform([SaveHighWatermarks({TP: count})])  # and indexes, be they empty
    driver.stop()
    files.removed.clear()
    driver.start()
    assert [path for path in files.removed if path.startswith(str(TP))] == []
    driver.append_next()
    driver.stop()
    driver.start()
    assert (driver.log.log_end_offset, driver.repairs) == (count + 1, ())


def test_an_empty_log_whose_index_is_not_empty_has_it_made_anew() -> None:
    files = Watched()
    driver = Driver(files)
    driver.perform(driver.log.begin_epoch(0))
    driver.stop()
    files.append(f"{TP}/00000000000000000000.index", [bytes(8)])
    driver.start()
    assert files.size(f"{TP}/00000000000000000000.log") == 0
    assert f"{TP}/00000000000000000000.index" in files.removed


AT_THE_END = f"{TP}/00000000000000000003.snapshot"


def closed_with(*effects: KeepProducers) -> Driver:
    driver = Driver()
    for _ in range(3):
        driver.append_next()
    driver.perform(effects)
    driver.storage.close()
    return driver


def test_the_producers_that_the_core_gave_are_written_when_the_log_is_closed() -> None:
    snapshot = encode_snapshot(after(header(7, 3, offset=0)))
    driver = closed_with(KeepProducers(TP, 2, b"outdated"), KeepProducers(TP, 3, snapshot))
    assert driver.files.read(AT_THE_END, 0, 1_000) == snapshot
    driver.start()
    assert driver.log.snapshot() == snapshot and driver.repairs == ()


@pytest.mark.parametrize("effects", [(), (KeepProducers(TP, 2, b"of another end"),)])
def test_without_the_producers_at_its_end_a_log_is_closed_all_the_same(
    effects: tuple[KeepProducers, ...],
) -> None:
    driver = closed_with(*effects)
    assert not driver.files.exists(AT_THE_END)
    driver.start()
    assert (driver.log.log_end_offset, driver.repairs) == (3, ())


def test_producers_of_a_log_that_is_not_open_are_not_kept() -> None:
    files = SimFiles()
    assert Storage(files).perform(KeepProducers(TP, 3, b"snapshot"), 0) == []
    assert list(files.list("")) == []


def test_a_log_that_nothing_happened_to_gets_no_snapshot() -> None:
    driver = Driver()
    driver.stop()
    before = driver.files_in()
    driver.start()
    driver.stop()
    assert driver.files_in() == before
