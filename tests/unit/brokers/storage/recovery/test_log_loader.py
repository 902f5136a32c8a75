"""What an opening finds and repairs, damage by damage. Random histories are in `test_machine`."""

import pytest

from brokers.errors import KafkaError
from brokers.log.config import LogConfig
from brokers.log.snapshots import encode_snapshot
from tests.unit.brokers.storage.driver import NOW, TP, Driver, batch_at

FIRST = "flights-0/00000000000000000000.log"


def driver_with(batches: int, **options: object) -> Driver:
    driver = Driver(**options)
    for number in range(batches):
        driver.append_next(2, timestamp=NOW + number, size=60)
    return driver


def restart(driver: Driver) -> Driver:
    driver.start()
    assert driver.failure == ""
    return driver


def test_a_new_partition_is_an_empty_log_with_its_id() -> None:
    driver = Driver()
    assert driver.repairs == ()
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (0, 0)
    assert driver.files_in() == ["00000000000000000000.log", "partition.metadata"]


def test_a_tail_cut_at_any_byte_goes_back_to_the_last_whole_batch() -> None:
    whole = driver_with(3, config=LogConfig())
    content = bytes(whole.files.read(FIRST, 0, 10_000))
    third = len(content) * 2 // 3
    for size in range(third, len(content)):
        whole.files.truncate(FIRST, size)
        restart(whole)
        assert whole.log.log_end_offset == 4
        assert bytes(whole.files.read(FIRST, 0, 10_000)) == content[:third]
        if size > third:
            [repair] = whole.repairs
            assert f"{size - third} bytes cut from offset 4 on" in repair
        whole.append(batch_at(4, 2, size=60))


def test_a_flipped_byte_anywhere_in_a_batch_cuts_the_log_there() -> None:
    content = bytes(driver_with(3, config=LogConfig()).files.read(FIRST, 0, 10_000))
    length = len(content) // 3
    # Base offset and leader epoch lie outside the checksum, in Kafka's format and so in ours.
    for position in [*range(length + 8, length + 12), *range(length + 16, 2 * length)]:
        driver = driver_with(3, config=LogConfig())
        driver.files.damage(FIRST, position, bytes([content[position] ^ 0x10]))
        restart(driver)
        assert driver.log.log_end_offset == 2
        assert len(driver.repairs) == 1


def test_offsets_that_go_backwards_are_damage_although_the_checksum_is_right() -> None:
    driver = driver_with(2)
    driver.files.append(FIRST, [batch_at(2, 2)])
    restart(driver)
    assert driver.log.log_end_offset == 4
    assert "offset 2 follows 3" in driver.repairs[0]


def test_a_batch_below_its_segments_name_is_damage() -> None:
    driver = driver_with(1)
    driver.files.append("flights-0/00000000000000000010.log", [batch_at(5)])
    driver.files.append("flights-0/00000000000000000002.log", [batch_at(1)])
    restart(driver)
    assert driver.log.log_end_offset == 2
    assert driver.files_in(".log") == ["00000000000000000000.log", "00000000000000000002.log"]
    assert driver.files.size("flights-0/00000000000000000002.log") == 0


def test_zeros_at_the_end_are_cut() -> None:
    driver = driver_with(2)
    driver.files.append(FIRST, [bytes(5_000)])
    restart(driver)
    assert driver.log.log_end_offset == 4
    assert len(driver.repairs) == 1


def test_segments_behind_the_damage_go_too() -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    assert len(driver.log.segments) == 5
    driver.files.damage("flights-0/00000000000000000004.log", 100, b"\0\0\0\0")
    restart(driver)
    assert driver.log.log_end_offset == 4
    assert driver.files_in(".log") == ["00000000000000000000.log", "00000000000000000004.log"]
    assert len(driver.repairs) >= 4
    assert driver.append_next()
    assert driver.read_all().endswith(batch_at(4))


def test_a_lost_segment_in_the_middle_ends_the_log() -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    driver.files.remove("flights-0/00000000000000000004.log")
    restart(driver)
    assert driver.log.log_end_offset == 4
    assert driver.files_in(".log") == ["00000000000000000000.log"]


def test_below_the_recovery_point_checksums_are_believed() -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    driver.stop()
    driver.files.damage("flights-0/00000000000000000004.log", 100, b"\0\0\0\0")
    restart(driver)
    assert driver.repairs == ()
    assert driver.log.log_end_offset == 18


def test_a_clean_shutdown_is_believed_only_if_the_log_ends_there() -> None:
    driver = driver_with(3)
    driver.stop()
    driver.files.append(FIRST, [b"torn"])
    restart(driver)
    assert driver.log.log_end_offset == 6
    assert "4 bytes cut" in driver.repairs[0]


@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 16, b"\xff" * 24])
@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("closed", [True, False])
def test_damaged_indexes_are_made_anew(content: bytes, suffix: str, closed: bool) -> None:
    driver = driver_with(20, config=LogConfig(segment_bytes=1_500))
    expected, found = driver.read_all(), driver.find(NOW + 9)
    driver.sync()
    if closed:
        driver.stop()
    for name in driver.files_in(suffix):
        driver.files.replace(f"flights-0/{name}", content)
    restart(driver)
    assert driver.repairs == ()
    assert driver.read_all() == expected
    assert driver.find(NOW + 9) == found
    for offset in range(40):
        assert driver.read(offset, size_max=1).next_offset == offset // 2 * 2 + 2


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_lost_indexes_are_made_anew(suffix: str) -> None:
    driver = driver_with(20, config=LogConfig(segment_bytes=1_500))
    expected = driver.read_all()
    driver.stop()
    names = driver.files_in(suffix)
    for name in names:
        driver.files.remove(f"flights-0/{name}")
    restart(driver)
    assert driver.read_all() == expected
    driver.stop()
    assert driver.files_in(suffix) == names


def test_an_index_that_plausibly_leads_astray_is_made_anew_when_it_is_used() -> None:
    driver = driver_with(20, config=LogConfig(segment_bytes=2_500))
    driver.stop()
    path = "flights-0/00000000000000000000.index"
    size = driver.files.size(path)
    entries = b"".join(
        number.to_bytes(4, "big") + (7 + number).to_bytes(4, "big") for number in range(size // 8)
    )
    driver.files.replace(path, entries)
    restart(driver)
    for offset in range(0, 20, 2):
        assert driver.read(offset, size_max=1).next_offset == offset + 2
    assert bytes(driver.files.read(path, 0, size)) != entries


@pytest.mark.parametrize(
    "content", [b"", b"0\n", b"7\n0\n", b"0\n1\nflights zero 5\n", b"\xff\xff", b"0\n9\n"]
)
def test_damaged_checkpoints_in_the_root_are_reported_and_done_without(content: bytes) -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    expected = driver.read_all()
    driver.stop()
    names = (
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "recovery-point-offset-checkpoint",
    )
    for name in names:
        driver.files.replace(name, content)
    restart(driver)
    assert [repair.split(":")[0] for repair in driver.storage.repairs] == [
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "recovery-point-offset-checkpoint",
    ]
    assert driver.read_all() == expected


@pytest.mark.parametrize("content", [b"", b"0\n1\n1\n", b"0\n2\n1 1\n1 1\n", b"\xff"])
def test_damaged_leader_epochs_are_taken_from_the_batches(content: bytes) -> None:
    driver = Driver()
    for epoch in (0, 3, 4):
        driver.append_next(2, leader_epoch=epoch)
    assert driver.log.epochs.entries == ((0, 0), (3, 2), (4, 4))
    driver.files.replace("flights-0/leader-epoch-checkpoint", content)
    restart(driver)
    assert driver.log.epochs.entries == ((0, 0), (3, 2), (4, 4))
    assert "made anew" in driver.repairs[0]
    restart(driver)
    assert driver.repairs == ()


def test_leader_epochs_above_the_logs_end_are_dropped_and_one_at_its_end_stays() -> None:
    driver = driver_with(2)
    driver.perform(driver.log.begin_epoch(5))
    restart(driver)
    assert driver.log.epochs.entries == ((0, 0), (5, 4))
    assert driver.repairs == ()
    driver.files.truncate(FIRST, driver.files.size(FIRST) - 1)
    restart(driver)
    assert driver.log.epochs.entries == ((0, 0),)


def idempotent(batches: int, **options: object) -> Driver:
    driver = Driver(config=LogConfig(segment_bytes=500), **options)
    for number in range(batches):
        driver.append_next(2, producer_id=9, producer_epoch=1, base_sequence=number * 2, size=60)
    return driver


@pytest.mark.parametrize("damage", ["none", "newest", "all", "lost", "above"])
@pytest.mark.parametrize("closed", [True, False])
def test_producers_are_known_whatever_happens_to_their_snapshots(damage: str, closed: bool) -> None:
    driver = idempotent(9)
    expected = [list(producer.batches) for _, producer in driver.log.producers]
    if closed:
        driver.stop()
    names = driver.files_in(".snapshot")
    assert len(names) == 4 + closed
    for name in names[-1:] if damage == "newest" else names:
        path = f"flights-0/{name}"
        if damage in ("newest", "all"):
            driver.files.damage(path, 8, b"\x55")
        elif damage == "lost":
            driver.files.remove(path)
    if damage == "above":
        driver.files.replace(f"flights-0/{99:020d}.snapshot", b"from another life")
    restart(driver)
    assert [list(producer.batches) for _, producer in driver.log.producers] == expected
    assert driver.read_all()
    damaged = {"none": 0, "newest": 1, "all": len(names), "lost": 0, "above": 1}[damage]
    assert len(driver.repairs) == damaged


def test_snapshots_of_earlier_shutdowns_do_not_pile_up() -> None:
    driver = idempotent(9)
    for _ in range(4):
        driver.stop()
        driver.start()
        driver.append_next()
    assert len(driver.files_in(".snapshot")) <= len(driver.log.segments) + 1


def test_a_snapshot_from_beyond_a_cut_is_not_believed() -> None:
    driver = idempotent(9)
    lied = encode_snapshot(driver.log.producers)
    driver.files.replace(f"flights-0/{16:020d}.snapshot", lied)
    driver.files.truncate("flights-0/00000000000000000012.log", 10)
    restart(driver)
    assert driver.log.log_end_offset == 12
    [(_, producer)] = list(driver.log.producers)
    assert producer.batches[-1].next_offset == 12


def test_leftovers_of_deletions_and_crashes_are_removed() -> None:
    driver = driver_with(2)
    for name in (
        "00000000000000000000.log.deleted",
        "00000000000000000000.log.cleaned",
        "leader-epoch-checkpoint.tmp",
        "00000000000000000077.index",
        "00000000000000000077.timeindex",
    ):
        driver.files.append(f"flights-0/{name}", [b"x"])
    driver.files.append("flights-0/notes-of-an-operator.txt", [b"stay"])
    driver.files.make_directory("flights-0.0011-delete")
    driver.files.append("flights-0.0011-delete/00000000000000000000.log", [b"x"])
    restart(driver)
    assert driver.files_in() == [
        "00000000000000000000.log",
        "leader-epoch-checkpoint",
        "notes-of-an-operator.txt",
        "partition.metadata",
    ]
    assert not driver.files.exists("flights-0.0011-delete")


def test_an_empty_segment_in_the_middle_goes_and_the_last_one_stays() -> None:
    driver = driver_with(2)
    driver.files.append("flights-0/00000000000000000004.log", [])
    restart(driver)
    assert driver.log.log_end_offset == 4
    assert [segment.base_offset for segment in driver.log.segments] == [0, 4]
    driver.append(batch_at(4))
    driver.perform(driver.log.restart_at(9))
    driver.files.append("flights-0/00000000000000000000.log", [])
    restart(driver)
    assert [segment.base_offset for segment in driver.log.segments] == [9]


def test_segments_below_the_log_start_are_removed() -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    driver.perform(driver.log.trim(9))
    driver.files.append(FIRST, [batch_at(0)])
    restart(driver)
    assert driver.log.log_start_offset == 9
    assert driver.files_in(".log")[0] == "00000000000000000008.log"


def test_a_log_start_above_everything_that_survived_begins_an_empty_log_there() -> None:
    driver = driver_with(3)
    driver.perform(driver.log.trim(5))
    driver.files.truncate(FIRST, 10)
    restart(driver)
    assert (driver.log.log_start_offset, driver.log.log_end_offset) == (5, 5)
    assert driver.files_in(".log") == ["00000000000000000005.log"]
    driver.append_next()
    restart(driver)
    assert driver.log.log_end_offset == 6


def test_the_high_watermark_checkpoint_is_kept_within_the_log() -> None:
    driver = driver_with(3)
    for high_watermark, expected in [(0, 2), (3, 3), (6, 6), (99, 6)]:
        driver.perform(driver.log.trim(2))
        content = f"0\n1\nflights 0 {high_watermark}\n".encode()
        driver.files.replace("replication-offset-checkpoint", content)
        restart(driver)
        assert driver.log.high_watermark_checkpoint == expected


def test_damage_found_while_reading_is_an_error_of_that_read_alone() -> None:
    driver = driver_with(9, config=LogConfig(segment_bytes=500))
    driver.files.damage("flights-0/00000000000000000004.log", 8, b"\0\0\0\1")
    assert driver.read(4).error == KafkaError.CORRUPT_MESSAGE
    assert driver.read(0).error == KafkaError.NONE
    assert driver.read(12).error == KafkaError.NONE
    assert driver.failure == ""
    assert TP in driver.storage.unsynced
