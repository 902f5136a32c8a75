"""A cut log is as if its tail had never been written: bytes, epochs, producers, after crashes too."""

import contextlib
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokers.effects import SaveHighWatermarks, TruncateLog
from brokers.events import LogFailed, LogOpened
from brokers.log.config import LogConfig
from brokers.ports import Files
from brokers.records.batch import parse_header
from brokers.shell.files import DiskFiles
from brokers.storage.storage import Storage
from tests.sim.disks import Disk, Killed
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TP, Driver, batch_at

SEGMENTS = LogConfig(segment_bytes=400)


@pytest.fixture(params=["disk", "simulated"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return SimFiles() if request.param == "simulated" else DiskFiles(tmp_path)


def truncate(driver: Driver, offset: int) -> None:
    events = driver.perform(driver.log.truncate(offset))
    assert all(isinstance(event, LogOpened) for event in events), events


def shape(driver: Driver) -> dict[str, object]:
    log = driver.log
    return {
        "bounds": (log.log_start_offset, log.written_offset, log.log_end_offset),
        "epochs": log.epochs.entries,
        "segments": [
            (each.base_offset, each.size, each.max_timestamp) for each in log.segments if each.size
        ],
        "producers": {
            number: (producer.epoch, list(producer.batches)) for number, producer in log.producers
        },
        "bytes": driver.read_all(),
    }


def fill(driver: Driver, number: int = 9) -> None:
    """Batches of three records, an epoch every two batches, a producer that counts."""
    for index in range(number):
        driver.append(
            batch_at(
                3 * index,
                3,
                leader_epoch=index // 2,
                timestamp=NOW + index,
                producer_id=7,
                producer_epoch=0,
                base_sequence=3 * index,
            )
        )


def test_batches_at_and_above_the_offset_go_and_the_rest_stays(files: Files) -> None:
    cut, never = Driver(files, SEGMENTS), Driver(config=SEGMENTS)
    fill(cut)
    fill(never, 4)
    assert len(cut.log.segments) == 3
    truncate(cut, 12)
    assert shape(cut) == shape(never)
    assert cut.repairs == ()
    assert cut.files_in(".log") == never.files_in(".log")


def test_a_batch_that_straddles_the_offset_goes_as_a_whole(files: Files) -> None:
    driver = Driver(files, SEGMENTS)
    fill(driver)
    truncate(driver, 11)
    assert driver.log.log_end_offset == 9
    truncate(driver, 0)
    assert (driver.log.log_end_offset, driver.read_all()) == (0, b"")
    assert driver.log.epochs.entries == ()


def test_a_cut_log_goes_on_and_survives_a_restart(files: Files) -> None:
    driver = Driver(files, SEGMENTS)
    fill(driver)
    truncate(driver, 12)
    driver.append(batch_at(12, 3, leader_epoch=9))
    before = shape(driver)
    driver.start()
    assert driver.repairs == ()
    assert shape(driver) == before
    assert driver.log.epochs.entries == ((0, 0), (1, 6), (9, 12))


def test_what_is_left_was_synced_and_nothing_claims_more() -> None:
    files = SimFiles()
    driver = Driver(files, SEGMENTS)
    fill(driver)
    driver.stop()
    driver.start()
    driver.perform([SaveHighWatermarks({TP: 27})])
    truncate(driver, 12)
    driver.append(batch_at(12, 3, leader_epoch=9), roll_first=True)
    files.crash(random.Random(4))
    driver.start()
    assert 12 <= driver.log.log_end_offset <= 15
    assert driver.log.high_watermark_checkpoint == 12


def test_above_the_end_only_an_epoch_without_data_is_forgotten(files: Files) -> None:
    driver = Driver(files, SEGMENTS)
    fill(driver, 2)
    driver.perform(driver.log.begin_epoch(5))
    assert driver.log.epochs.entries == ((0, 0), (5, 6))
    effects = driver.log.truncate(6)
    assert not any(isinstance(effect, TruncateLog) for effect in effects)
    driver.perform(effects)
    driver.start()
    assert driver.log.epochs.entries == ((0, 0),)
    assert driver.log.truncate(6) == []


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_log_that_is_cut_below_its_start_begins_anew_there(files: Files, is_empty: bool) -> None:
    """Else it would lack what its leader, or its source, has between."""
    driver = Driver(files, SEGMENTS)
    fill(driver)
    end = driver.log.log_end_offset
    driver.perform(driver.log.trim(end if is_empty else 13))
    truncate(driver, 2)
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (2, 2)
    assert driver.log.epochs.entries == ()
    driver.append(batch_at(2, 1, leader_epoch=9))
    driver.start()
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (2, 3)
    assert driver.log.epochs.entries == ((9, 2),)
    assert driver.read(2).next_offset == 3


def test_of_a_log_that_is_cut_at_its_start_the_deleted_records_below_go_too(files: Files) -> None:
    """Else nothing could begin there that lies in the middle of its source's first batch."""
    driver = Driver(files, SEGMENTS)
    fill(driver, 3)
    driver.perform(driver.log.trim(3))
    truncate(driver, 3)
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (3, 3)
    assert driver.log.is_empty
    driver.start()
    assert driver.log.is_empty


@pytest.mark.parametrize("fuse", range(1, 9))
def test_a_crash_meanwhile_leaves_nothing_of_it(fuse: int) -> None:
    disk = Disk(lambda path, data: None)
    driver = Driver(disk, SEGMENTS)
    fill(driver)
    driver.perform(driver.log.trim(13))
    disk.fuse = fuse
    with contextlib.suppress(Killed):
        driver.perform(driver.log.truncate(2))
    disk.fuse = None
    driver.start()
    start, end = driver.log.log_start_offset, driver.log.log_end_offset
    assert end == 27 or (start == end and start <= 24)
    if end > 2:
        truncate(driver, 2)
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (2, 2)


def test_a_log_that_is_not_open_has_nothing_to_cut() -> None:
    assert Storage(SimFiles()).perform(TruncateLog(TP, 3, ()), NOW) == []


def test_a_disk_that_refuses_takes_the_log_offline_and_an_opening_brings_it_back() -> None:
    driver = Driver(config=SEGMENTS)
    fill(driver)
    driver.files.break_at("leader-epoch")
    events = driver.perform(driver.log.truncate(12))
    assert [type(event) for event in events] == [LogFailed]
    driver.files.break_at("")
    driver.open()
    assert driver.log.log_end_offset == 12


def test_a_sync_that_began_before_the_cut_means_nothing_after_it() -> None:
    driver = Driver(config=SEGMENTS)
    driver.append(batch_at(0, 3), sync=True)
    driver.append(batch_at(3, 3), sync=True)
    work = driver.storage.begin_sync(TP)
    truncate(driver, 3)
    assert driver.storage.end_sync(TP, work()) == []
    assert driver.log.written_offset == 3


def test_an_empty_log_that_goes_on_at_a_lower_offset_is_there_after_a_restart() -> None:
    driver = Driver()
    driver.append(batch_at(0, 3))
    driver.perform(driver.log.restart_at(13))
    driver.perform(driver.log.restart_at(12))
    driver.append(batch_at(12, 4, leader_epoch=2))
    driver.perform(driver.log.trim(13))
    driver.start()
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (13, 16)
    assert driver.log.epochs.entries == ((2, 13),)
    assert driver.repairs == ()


def killed_at(fuse: int, offset: int, delay_ms: int) -> tuple[Driver, bool]:
    """A log that was being cut when its process ended, opened again; and whether it had come to its end."""
    disk = Disk(lambda path, data: None)
    driver = Driver(disk, SEGMENTS, file_delete_delay_ms=delay_ms)
    fill(driver)
    driver.sync()
    disk.sync(f"{TP}/{driver.files_in('.log')[-1]}")  # in its own time, as disks do
    driver.perform([SaveHighWatermarks({TP: 20})])
    disk.fuse = fuse
    finished = True
    try:
        driver.perform(driver.log.truncate(offset))
    except Killed:
        finished = False
    disk.fuse = None
    return driver, finished


@pytest.mark.parametrize("offset", [0, 7, 12, 26])
@pytest.mark.parametrize("end", ["killed", "power cut"])
@pytest.mark.parametrize("delay_ms", [0, 60_000])
def test_a_crash_at_any_point_leaves_a_log_that_opens(offset: int, end: str, delay_ms: int) -> None:
    whole = Driver(config=SEGMENTS)
    fill(whole)
    everything = whole.read_all()
    for fuse in range(100):
        driver, finished = killed_at(fuse, offset, delay_ms)
        if finished:
            break
        if end == "power cut":
            driver.files.crash(random.Random(fuse))
        driver.start()
        left = driver.log.log_end_offset
        assert left >= offset // 3 * 3
        assert everything.startswith(driver.read_all())
        sequences = [batch.next_offset for _, one in driver.log.producers for batch in one.batches]
        assert max(sequences, default=0) == left
        truncate(driver, offset)
        assert driver.log.log_end_offset == offset // 3 * 3
    assert 2 < fuse < 99


@settings(max_examples=150, deadline=None)
@given(
    kept=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 1), st.sampled_from([1, 90]))),
    lost=st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 2), st.sampled_from([1, 90])), min_size=1
    ),
    synced=st.booleans(),
    straddle=st.booleans(),
    restart=st.booleans(),
)
def test_a_cut_log_equals_one_that_never_had_the_tail(
    kept: list[tuple[int, int, int]],
    lost: list[tuple[int, int, int]],
    synced: bool,
    straddle: bool,
    restart: bool,
) -> None:
    cut, never = Driver(config=SEGMENTS), Driver(config=SEGMENTS)
    _append(cut, kept)
    _append(never, kept)
    end = never.log.log_end_offset
    _append(cut, lost)
    if synced:
        cut.sync()
    first_lost = parse_header(cut.read(end).data)
    inside = first_lost.next_offset - 1 if straddle else end
    truncate(cut, inside)
    if restart:
        cut.start()
    assert shape(cut) == shape(never)


def _append(driver: Driver, batches: list[tuple[int, int, int]]) -> None:
    for count, step, size in batches:
        producers = dict(driver.log.producers)
        driver.append(
            batch_at(
                driver.log.log_end_offset,
                count,
                size=size,
                leader_epoch=max(0, driver.log.epochs.latest + step),
                producer_id=3,
                producer_epoch=0,
                base_sequence=producers[3].next_sequence if producers else 0,
            )
        )
