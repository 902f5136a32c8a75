"""A sealed segment gets its digest once it is on the disk, and the core hears of it; the digest goes where it goes."""

import random
from collections.abc import Callable

import pytest

from brokers.effects import CloseLog, SaveHighWatermarks
from brokers.events import Event, SegmentSealed
from brokers.log.config import LogConfig
from brokers.storage.segments.segment_digest import DigestError, decode
from tests.sim.disks import Disk, Killed
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TOPIC_ID, TP, Driver, batch_at

CONFIG = LogConfig(segment_bytes=250)  # three batches
FIRST = "flights-0/00000000000000000000.digest"
SECOND = "flights-0/00000000000000000003.digest"


def driver_with(batches: int, files: SimFiles | None = None) -> Driver:
    driver = Driver(SimFiles() if files is None else files, config=CONFIG)
    for _ in range(batches):
        driver.append_next()
    return driver


def sealed(events: list[Event]) -> list[tuple[int, int, int]]:
    return [
        (event.base_offset, event.next_offset, event.size)
        for event in events
        if isinstance(event, SegmentSealed)
    ]


def check_digests(driver: Driver) -> list[str]:
    """Each says of its segment what lies there -> their names."""
    for name in driver.files_in(".digest"):
        path = f"flights-0/{name}"
        whole, rows, _ = decode(driver.files.read(path, 0, driver.files.size(path)))
        segment = path.replace(".digest", ".log")
        data = bytes(driver.files.read(segment, 0, 1 << 20))
        assert (whole.topic_id, whole.size) == (TOPIC_ID, len(data))
        assert [data[row.position + 17 :][:4] for row in rows] == [
            row.crc.to_bytes(4, "big") for row in rows
        ]
        assert name != driver.files_in(".log")[-1].replace(".log", ".digest"), "of the active one"
    return driver.files_in(".digest")


def test_a_segment_waits_for_its_sync_and_then_for_its_digest() -> None:
    driver = driver_with(4)
    assert TP in driver.storage.unsynced and TP not in driver.storage.undigested
    assert sealed(driver.sync()) == []
    assert [segment.is_sealed for segment in driver.log.segments] == [False, False]
    [event] = driver.digest()
    assert isinstance(event, SegmentSealed) and event.partition == TP
    assert sealed([event]) == [(0, 3, driver.log.segments[0].size)]
    whole = decode(driver.files.read(FIRST, 0, 1 << 20))[0]
    assert (whole.digest, whole.batches, whole.next_offset) == (event.digest, 3, 3)
    assert check_digests(driver) == [FIRST.rpartition("/")[2]]
    driver.log.on_sealed(event.base_offset, event.size)
    assert [segment.is_sealed for segment in driver.log.segments] == [True, False]


def test_each_segment_has_its_own_turn() -> None:
    driver = driver_with(10)
    driver.sync()
    assert [base for base, *_ in sealed(driver.digest())] == [0, 3, 6]
    assert len(check_digests(driver)) == 3
    assert driver.digest() == []


def test_a_sync_while_a_digest_is_written_asks_for_none_twice() -> None:
    driver = driver_with(4)
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    steps = writing.steps()
    next(steps)
    driver.append(batch_at(4), sync=True)
    driver.sync()
    assert driver.storage.undigested == {} and list(steps) == []
    assert sealed(driver.storage.end_digest(TP, writing)) != []
    assert driver.storage.undigested == {}


def test_a_failed_sync_leaves_a_segment_unsealed() -> None:
    files = SimFiles()
    driver = driver_with(4, files)
    files.ailing = True
    driver.sync()
    assert driver.failure and driver.storage.undigested == {}


def test_a_gap_before_the_next_segment_does_not_belong_to_the_digest() -> None:
    driver = driver_with(2)
    driver.append(batch_at(10), roll_first=True)
    driver.sync()
    assert [each[:2] for each in sealed(driver.digest())] == [(0, 10)]
    assert decode(driver.files.read(FIRST, 0, 1 << 20))[0].next_offset == 2


def test_a_segment_that_never_held_anything_has_no_digest() -> None:
    driver = driver_with(0)
    driver.perform(driver.log.restart_at(50))
    driver.append_next()
    driver.sync()
    assert driver.digest() == [] and check_digests(driver) == []


def test_an_opening_finds_the_digests_and_says_so() -> None:
    driver = driver_with(10)
    driver.sync()
    driver.digest()
    before = driver.files.read(FIRST, 0, 1 << 20)
    driver.stop()
    driver.start()
    assert [segment.is_sealed for segment in driver.log.segments] == [True, True, True, False]
    assert driver.storage.undigested == {}
    assert driver.files.read(FIRST, 0, 1 << 20) == before


@pytest.mark.parametrize("closed", [True, False])
def test_an_opening_writes_the_digests_that_are_missing(closed: bool) -> None:
    driver = driver_with(10)
    driver.sync()
    driver.digest()
    for path in (FIRST, SECOND):
        driver.files.remove(path)
    if closed:
        driver.stop()
    else:
        driver.perform([SaveHighWatermarks({TP: 0})])
    driver.start()
    assert not driver.log.segments[0].is_sealed
    driver.sync()
    assert [base for base, *_ in sealed(driver.digest())][:2] == [0, 3]
    assert len(check_digests(driver)) == 3


def changed_at(place: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: bytes(len(data)),
        changed_at(0),
        changed_at(6),  # of another topic
        changed_at(-1),
    ],
)
def test_a_torn_or_foreign_digest_is_removed_and_written_anew(
    change: Callable[[bytes], bytes],
) -> None:
    driver = driver_with(4)
    driver.sync()
    driver.digest()
    before = bytes(driver.files.read(FIRST, 0, 1 << 20))
    driver.stop()
    driver.files.replace(FIRST, change(before))
    driver.start()
    assert driver.repairs == () and driver.failure == ""
    assert not driver.files.exists(FIRST) and not driver.log.segments[0].is_sealed
    assert [base for base, *_ in sealed(driver.digest())] == [0]
    assert driver.files.read(FIRST, 0, 1 << 20) == before


def test_a_digest_of_the_active_segment_or_of_none_is_removed() -> None:
    driver = driver_with(4)
    driver.sync()
    driver.digest()
    digest = driver.files.read(FIRST, 0, 1 << 20)
    for offset in (3, 99):
        driver.files.replace(f"flights-0/{offset:020d}.digest", digest)
    driver.files.replace(f"{SECOND}.tmp", b"torn")
    driver.stop()
    driver.start()
    assert check_digests(driver) == [FIRST.rpartition("/")[2]]


def test_a_digest_goes_with_its_segment() -> None:
    driver = driver_with(10)
    driver.sync()
    driver.digest()
    driver.perform(driver.log.trim(7))
    assert check_digests(driver) == ["00000000000000000006.digest"]
    driver.perform([CloseLog(TP, delete=True)])
    assert list(driver.files.list("")) == ["log-start-offset-checkpoint"]


@pytest.mark.parametrize("offset", range(10))
def test_a_cut_takes_the_digests_of_what_it_cuts(offset: int) -> None:
    driver = driver_with(10)
    driver.sync()
    driver.digest()
    driver.perform(driver.log.truncate(offset))
    assert driver.log.log_end_offset == offset
    check_digests(driver)
    driver.digest()  # recovery has looked at the last of them
    assert len(check_digests(driver)) == len(driver.log.segments) - 1 == offset // 3
    for _ in range(4):
        driver.append_next(size=20)
    driver.sync()
    driver.digest()
    check_digests(driver)


def test_a_segment_trimmed_while_its_digest_is_written_leaves_none() -> None:
    driver = driver_with(7)
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    steps = writing.steps()
    next(steps)
    driver.perform(driver.log.trim(3))
    assert list(steps) == [] and driver.files.exists(FIRST)
    assert driver.storage.end_digest(TP, writing) == [] and not driver.files.exists(FIRST)
    assert [base for base, *_ in sealed(driver.digest())] == [3]
    assert len(check_digests(driver)) == 1


def test_a_segment_trimmed_before_its_turn_is_not_begun() -> None:
    driver = driver_with(7)
    driver.sync()
    driver.perform(driver.log.trim(3))
    assert [base for base, *_ in sealed(driver.digest())] == [3]
    driver = driver_with(4)
    driver.sync()
    driver.perform(driver.log.trim(3))
    assert driver.storage.undigested == {}


@pytest.mark.parametrize("late", [True, False])
def test_a_log_cut_while_a_digest_is_written_has_none_of_what_was_there(late: bool) -> None:
    driver = driver_with(7)
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    steps = writing.steps()
    next(steps)
    if not late:
        assert list(steps) == []
    driver.perform(driver.log.truncate(2))
    assert list(steps) == []
    assert driver.storage.end_digest(TP, writing) == []
    assert check_digests(driver) == []
    for _ in range(4):
        driver.append_next(size=11)
    driver.sync()
    assert [base for base, *_ in sealed(driver.digest())][:1] == [0]
    check_digests(driver)


def test_what_an_opening_found_is_not_removed_by_an_older_writing() -> None:
    driver = driver_with(7)
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    assert set(writing.steps()) == {None}
    driver.open()
    assert driver.log.segments[0].is_sealed
    assert driver.storage.end_digest(TP, writing) == []
    assert [base for base, *_ in sealed(driver.digest())] == [3]
    assert len(check_digests(driver)) == 2


def test_a_closed_log_gives_up_its_digest() -> None:
    driver = driver_with(4)
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    driver.stop()
    assert list(writing.steps()) == []
    assert driver.storage.end_digest(TP, writing) == []
    driver.start()
    assert [base for base, *_ in sealed(driver.digest())] == [0]


def test_without_room_for_the_digest_the_segment_is_sealed_all_the_same() -> None:
    files = SimFiles()
    driver = driver_with(4, files)
    driver.sync()
    files.full_after(30)
    [event] = driver.digest()
    assert isinstance(event, SegmentSealed) and event.digest == b""
    assert driver.files_in(".digest") == [] and driver.files_in(".tmp") == []
    files.full_after(None)
    driver.stop()
    driver.start()
    [event] = driver.digest()
    assert isinstance(event, SegmentSealed) and len(event.digest) == 16


def test_a_process_killed_between_any_two_changes_leaves_a_whole_digest_or_none() -> None:
    fuse, is_through = 0, False
    while not is_through:
        disk = Disk(lambda path, data: None)
        driver = Driver(disk, config=CONFIG)
        disk.fuse = fuse
        try:
            for _ in range(8):
                driver.append_next()
            driver.sync()
            driver.digest()
            driver.perform(driver.log.trim(3))
            driver.perform(driver.log.truncate(5))
            is_through = True
        except Killed:
            pass
        disk.fuse = None
        driver.start()
        assert driver.failure == ""
        assert not driver.files_in(".tmp")
        try:
            check_digests(driver)
        except DigestError as error:
            raise AssertionError(f"killed at change {fuse}") from error
        driver.sync()
        driver.digest()
        assert len(check_digests(driver)) == len(driver.log.segments) - 1
        fuse += 1
    assert fuse > 40


@pytest.mark.parametrize("seed", range(60))
def test_a_power_cut_leaves_a_whole_digest_or_none(seed: int) -> None:
    rng = random.Random(seed)
    disk = Disk(lambda path, data: None)
    driver = Driver(disk, config=CONFIG)
    for _ in range(4):
        disk.fuse = rng.randrange(80)
        try:
            while True:
                for _ in range(rng.randrange(6)):
                    driver.append_next()
                driver.sync()
                driver.digest()
                if rng.random() < 0.3:
                    driver.perform(driver.log.truncate(driver.log.log_end_offset - 2))
        except Killed:
            disk.fuse = None
        disk.crash(rng)
        driver.start()
        check_digests(driver)
        driver.sync()
        driver.digest()
        held = sum(segment.size > 0 for segment in driver.log.segments[:-1])
        assert len(check_digests(driver)) == held


def test_a_digest_costs_no_sync_of_the_log() -> None:
    files = SimFiles()
    driver = driver_with(4, files)
    driver.sync()
    before = files.syncs
    driver.digest()
    assert files.syncs == before and driver.storage.unsynced == {}
