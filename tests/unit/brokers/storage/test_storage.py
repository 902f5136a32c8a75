import pytest

from brokers.effects import (
    Append,
    CloseLog,
    FindTimestamp,
    LoadState,
    OpenLog,
    ReadRange,
    SaveEpochs,
    SaveHighWatermarks,
    SaveState,
    TrimLog,
)
from brokers.errors import KafkaError
from brokers.events import LogFailed, StateLoaded, StateSaved, TimestampFound, Written
from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.ports import DiskError
from brokers.records.batch import iter_headers, parse_header
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, Driver, batch_at

FIRST = "flights-0/00000000000000000000.log"
ALL_FIRST = [FIRST.replace(".log", suffix) for suffix in (".log", ".index", ".timeindex")]


def test_an_append_is_reported_at_once_and_read_back() -> None:
    driver = Driver()
    batch = batch_at(0, 3)
    assert driver.append(batch) == [Written(TP, 3)]
    found = driver.read(0)
    assert (bytes(found.data), found.next_offset, found.ticket) == (bytes(batch), 3, 7)
    assert driver.storage.unsynced == {}


def test_a_synced_append_is_reported_only_after_the_sync() -> None:
    driver = Driver()
    assert driver.append(batch_at(0), sync=True) == []
    assert driver.append(batch_at(1), sync=True) == []
    assert list(driver.storage.unsynced) == [TP]
    assert driver.read(0, bound=2).next_offset == 2
    syncs = driver.files.syncs
    assert driver.sync() == [Written(TP, 2)]
    assert (
        driver.files.syncs == syncs + 3
    )  # the log, and once whose it is and its first leader epoch
    driver.append(batch_at(2), sync=True)
    driver.sync()
    assert driver.files.syncs == syncs + 4
    assert driver.storage.unsynced == {}


def test_what_is_appended_during_a_sync_waits_for_the_next() -> None:
    driver = Driver()
    driver.append(batch_at(0), sync=True)
    work = driver.storage.begin_sync(TP)
    driver.append(batch_at(1), sync=True)
    assert driver.storage.end_sync(TP, work()) == [Written(TP, 1)]
    assert driver.sync() == [Written(TP, 2)]


def test_an_append_behind_one_that_waits_for_its_sync_waits_too() -> None:
    driver = Driver()
    driver.append(batch_at(0), sync=True)
    assert driver.append(batch_at(1), sync=False) == []
    assert driver.sync() == [Written(TP, 2)]
    assert driver.append(batch_at(2), sync=False) == [Written(TP, 3)]


def test_a_sealed_segment_is_synced_without_a_report() -> None:
    driver = Driver(config=LogConfig(segment_bytes=100))
    driver.append(batch_at(0))
    driver.append(batch_at(1))
    small = ["flights-0/partition.metadata", "flights-0/leader-epoch-checkpoint"]
    assert list(driver.storage.unsynced[TP].paths) == [*small, *ALL_FIRST]
    assert driver.sync() == []
    driver.perform([SaveHighWatermarks({TP: 2})])
    assert (
        bytes(driver.files.read("recovery-point-offset-checkpoint", 0, 99))
        == b"0\n1\nflights 0 1\n"
    )


def test_a_failed_sync_takes_the_log_offline_and_an_opening_brings_it_back() -> None:
    driver = Driver()
    driver.append(batch_at(0), sync=True)
    driver.files.break_at(".log")
    assert driver.sync() == [LogFailed(TP, f"{FIRST}: the device reports errors; check the disk")]
    assert driver.append(batch_at(1), sync=True) == []
    assert driver.read(0).error == KafkaError.KAFKA_STORAGE_ERROR
    driver.files.break_at("")
    driver.open()
    assert driver.failure == ""
    assert driver.log.log_end_offset == 1


def test_a_segment_trimmed_during_its_sync_is_no_failure_but_another_is() -> None:
    driver = Driver(config=LogConfig(segment_bytes=100))
    for offset in range(3):
        driver.append(batch_at(offset))
    work = driver.storage.begin_sync(TP)
    driver.perform(driver.log.trim(1))
    result = work()
    assert list(result.failures) == ALL_FIRST
    assert driver.storage.end_sync(TP, result) == []
    driver.append(batch_at(3))
    work = driver.storage.begin_sync(TP)
    driver.files.break_at("00000000000000000002.timeindex")
    driver.perform(driver.log.trim(2))
    assert isinstance(driver.storage.end_sync(TP, work())[0], LogFailed)


def test_a_sync_of_a_log_that_was_opened_anew_meanwhile_means_nothing() -> None:
    driver = Driver()
    driver.append(batch_at(0), sync=True)
    work = driver.storage.begin_sync(TP)
    driver.open()
    driver.append(batch_at(1), sync=True)
    assert driver.storage.end_sync(TP, work()) == []
    assert driver.sync() == [Written(TP, 2)]


def test_a_closed_log_answers_without_a_disk() -> None:
    storage = Storage(SimFiles())
    batch = batch_at(0)
    for effect in (
        Append(TP, (parse_header(batch),), (batch,)),
        SaveEpochs(TP, ((0, 0),)),
        TrimLog(TP, 5),
        CloseLog(TP, delete=False),
    ):
        assert storage.perform(effect, NOW) == []
    [found] = storage.perform(FindTimestamp(1, TP, NOW, 5), NOW)
    assert found == TimestampFound(1, TP, -1, -1, -1)
    [read] = storage.perform(ReadRange(1, TP, 3, 5, 100, True), NOW)
    assert (read.error, read.next_offset) == (KafkaError.KAFKA_STORAGE_ERROR, 3)


EVERY_WRITE = {
    "append": lambda driver: driver.append(batch_at(driver.log.log_end_offset), roll_first=False),
    "roll": lambda driver: driver.append(batch_at(driver.log.log_end_offset), roll_first=True),
    "epoch": lambda driver: driver.perform(driver.log.begin_epoch(9)),
    "trim": lambda driver: driver.perform(driver.log.trim(3)),
    "restart": lambda driver: driver.perform(driver.log.restart_at(50)),
}


@pytest.mark.parametrize("name", EVERY_WRITE)
@pytest.mark.parametrize("room", [0, 10, 30, 60])
def test_a_full_disk_at_any_write_loses_nothing_that_was_reported(name: str, room: int) -> None:
    driver = Driver(config=LogConfig(segment_bytes=250))
    for _ in range(5):
        driver.append_next(producer_id=1, producer_epoch=0, base_sequence=driver.log.log_end_offset)
    written = driver.read_all()
    driver.files.full_after(room)
    EVERY_WRITE[name](driver)
    driver.files.full_after(None)
    if driver.failure:
        assert "the disk is full; free some space" in driver.failure
        driver.open()
    assert driver.failure == ""
    if name not in ("trim", "restart"):
        assert driver.read_all().startswith(written)
    elif driver.log.log_start_offset == 0:
        assert driver.read_all() == written
    before = driver.log.log_end_offset
    driver.append_next()
    driver.start()
    assert (driver.repairs, driver.log.log_end_offset) == ((), before + 1)


def test_a_disk_that_is_full_when_a_partition_is_made_says_so_and_makes_it_later() -> None:
    files = SimFiles()
    files.full_after(0)
    driver = Driver(files)
    assert "partition.metadata: the disk is full" in driver.failure
    files.full_after(None)
    driver.open()
    assert driver.failure == ""
    assert driver.append_next()


def test_the_periodic_checkpoint_survives_a_full_disk_and_saves_index_tails() -> None:
    driver = Driver()
    for _ in range(20):
        driver.append_next()
    driver.files.full_after(3)
    (refused,) = driver.perform([SaveHighWatermarks({TP: 20})])
    assert "full" in refused.reason
    assert driver.failure == ""
    driver.files.full_after(None)
    driver.perform([SaveHighWatermarks({TP: 20})])
    assert driver.files.size("flights-0/00000000000000000000.index") > 0
    content = bytes(driver.files.read("replication-offset-checkpoint", 0, 99))
    assert content == b"0\n1\nflights 0 20\n"


def test_a_shutdown_leaves_what_kafka_leaves() -> None:
    driver = Driver(config=LogConfig(segment_bytes=250))
    for _ in range(5):
        driver.append_next()
    driver.stop()
    assert list(driver.files.list("")) == [
        ".kafka_cleanshutdown",
        "flights-0",
        "recovery-point-offset-checkpoint",
    ]
    assert driver.files_in() == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000003.index",
        "00000000000000000003.log",
        "00000000000000000003.snapshot",
        "00000000000000000003.timeindex",
        "00000000000000000005.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]
    driver.start()
    assert not driver.files.exists(".kafka_cleanshutdown")


def test_a_log_that_nothing_happened_to_is_closed_without_a_write() -> None:
    driver = Driver()
    driver.append_next()
    driver.stop()
    driver.start()
    driver.read_all()
    syncs, names = driver.files.syncs, driver.files_in()
    driver.stop()
    assert (driver.files.syncs, driver.files_in()) == (syncs, names)
    driver.start()
    assert (driver.repairs, driver.log.log_end_offset) == ((), 1)


def test_no_shutdown_is_clean_while_a_log_is_offline() -> None:
    driver = Driver()
    driver.append_next()
    driver.files.full_after(0)
    driver.append_next()
    driver.files.full_after(None)
    driver.stop()
    assert not driver.files.exists(".kafka_cleanshutdown")


def test_a_shutdown_on_a_full_disk_is_left_to_recovery() -> None:
    driver = Driver()
    driver.append_next()
    driver.files.full_after(0)
    driver.stop()
    assert not driver.files.exists(".kafka_cleanshutdown")
    driver.files.full_after(None)
    driver.start()
    assert driver.log.log_end_offset == 1


def test_a_deleted_log_is_gone_and_its_name_free() -> None:
    driver = Driver()
    driver.append_next()
    driver.perform([SaveHighWatermarks({TP: 1})])
    driver.perform([CloseLog(TP, delete=True)])
    assert not any(name.startswith("flights") for name in driver.files.list(""))
    driver.open(topic_id=b"\x11" * 16)
    assert driver.repairs == ()
    assert (driver.log.log_end_offset, driver.log.high_watermark_checkpoint) == (0, 0)


def test_nothing_that_was_said_of_a_deleted_log_holds_for_the_next_of_its_name() -> None:
    driver = Driver(config=LogConfig(segment_bytes=100))
    for _ in range(5):
        driver.append_next()
    driver.sync()
    driver.perform(driver.log.trim(4))
    driver.perform([SaveHighWatermarks({TP: 5})])
    driver.perform([CloseLog(TP, delete=True)])
    driver.open(topic_id=b"\x11" * 16)
    driver.append_next()
    driver.storage = Storage(driver.files)
    driver.open(topic_id=b"\x11" * 16)
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (0, 1)
    driver.files.damage(FIRST, 70, b"?")
    driver.storage = Storage(driver.files)
    driver.open(topic_id=b"\x11" * 16)
    assert driver.log.log_end_offset == 0


def test_a_log_that_is_offline_can_be_deleted() -> None:
    driver = Driver()
    driver.files.full_after(0)
    driver.append_next()
    driver.perform([CloseLog(TP, delete=True)])
    assert not driver.files.exists("flights-0")
    driver.stop()
    assert not driver.files.exists(".kafka_cleanshutdown")  # the disk is still full


def test_a_topic_with_the_longest_name_can_be_put_aside() -> None:
    longest = TopicPartition("x" * 249, 0)
    storage = Storage(SimFiles())
    storage.perform(OpenLog(longest, TOPIC_ID), NOW)
    [opened] = storage.perform(OpenLog(longest, b"\x22" * 16), NOW)
    assert len(opened.repairs[0].split("now ")[1]) < 255


def test_a_trim_is_durable_before_its_segments_go() -> None:
    driver = Driver(config=LogConfig(segment_bytes=250))
    for _ in range(7):
        driver.append_next()
    driver.files.break_at("log-start-offset-checkpoint")
    driver.perform(driver.log.trim(4))
    assert "log-start-offset-checkpoint" in driver.failure
    assert len(driver.files_in(".log")) == 3
    driver.files.break_at("")
    driver.open()
    assert driver.log.log_start_offset == 0
    driver.perform(driver.log.trim(4))
    assert driver.files_in(".log")[0] == "00000000000000000003.log"
    assert driver.read(3).error == KafkaError.OFFSET_OUT_OF_RANGE
    assert [header.base_offset for _, header in iter_headers(driver.read(4).data)] == [4, 5]


def test_a_batch_larger_than_asked_comes_only_if_one_at_least_is_wanted() -> None:
    driver = Driver(config=LogConfig())
    driver.append(batch_at(0, size=100_000), batch_at(1))
    assert len(driver.read(0, size_max=10).data) > 100_000
    assert driver.read(0, size_max=10).next_offset == 1
    assert driver.read(0, size_max=10, at_least_one=False).next_offset == 0
    assert driver.read(0, size_max=200_000, at_least_one=False).next_offset == 2


def test_a_read_in_the_middle_of_a_batch_returns_that_batch() -> None:
    driver = Driver()
    driver.append(batch_at(0, 10))
    driver.append(batch_at(10, 10))
    [(_, header)] = list(iter_headers(driver.read(15).data))
    assert header.base_offset == 10


def test_a_read_ends_with_its_segment_and_goes_on_in_the_next() -> None:
    driver = Driver(config=LogConfig(segment_bytes=250))
    for _ in range(5):
        driver.append_next()
    assert driver.read(0).next_offset == 3
    assert driver.read(3).next_offset == 5
    assert driver.read(5).next_offset == 5


def test_more_sequential_readers_than_are_remembered_all_advance() -> None:
    driver = Driver(config=LogConfig())
    for _ in range(60):
        driver.append_next()
    positions = list(range(0, 60, 2))
    for step in range(1, 15):
        for reader, start in enumerate(positions):
            expected = min(start + step, 60)
            assert driver.read(min(start + step - 1, 60), size_max=1).next_offset == expected, (
                reader
            )


def test_small_state_files_come_and_go() -> None:
    storage = Storage(SimFiles())
    name = "__cluster_metadata-0/quorum-state"
    assert storage.perform(LoadState(name), NOW) == [StateLoaded(name, None)]
    assert storage.perform(SaveState(name, b"{}"), NOW) == [StateSaved(name)]
    [loaded] = storage.perform(LoadState(name), NOW)
    assert bytes(loaded.data or b"") == b"{}"
    assert storage.perform(SaveState(name, None), NOW) == [StateSaved(name)]
    assert storage.perform(LoadState(name), NOW) == [StateLoaded(name, None)]


def test_a_state_file_that_is_refused_takes_its_log_offline_or_is_raised() -> None:
    driver = Driver()
    driver.files.full_after(0)
    with pytest.raises(DiskError):
        driver.storage.perform(SaveState("elsewhere/state", b"x"), NOW)
    for _ in range(2):  # the second of one step finds the log offline
        [failed] = driver.storage.perform(SaveState("flights-0/state", b"x"), NOW)
    assert isinstance(failed, LogFailed)
    assert failed.partition == TP


def test_sealed_segments_keep_their_indexes_out_of_memory_beyond_a_number() -> None:
    driver = Driver(config=LogConfig(segment_bytes=800))
    for number in range(450):
        driver.append_next(timestamp=NOW + number)
    driver.stop()
    driver.start()
    segments = driver.storage._logs[TP].segments
    assert len(segments) > 40
    for offset in range(0, 450, 3):
        assert driver.read(offset, size_max=1).next_offset == offset + 1
        assert driver.find(NOW + offset) == (offset, NOW + offset)
    assert sum(segment._index is not None for segment in segments) <= 33
