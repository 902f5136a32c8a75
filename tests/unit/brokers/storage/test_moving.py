"""A log moves to another directory while it is written to, and a crash at any step leaves it whole in one of them."""

import random
from collections.abc import Callable
from uuid import UUID

import pytest

from brokers.effects import (
    Append,
    CloseLog,
    ConfigureLog,
    CopyLog,
    OpenLog,
    ReadRange,
    Roll,
    TrimLog,
    TruncateLog,
)
from brokers.events import (
    CopyFailed,
    DirectoryRefused,
    Event,
    LogCopied,
    LogFailed,
    LogMoved,
    LogOpened,
    MoveInterrupted,
    RangeRead,
    Written,
)
from brokers.ids import UNASSIGNED_DIRECTORY, Offset, TopicPartition
from brokers.ports import DiskError
from brokers.records.batch import parse_header
from brokers.storage.log_manager import LogManager
from brokers.storage.moving import STEP_BYTES
from brokers.storage.storage import Storage
from tests.sim.fused import Fused
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, TP, batch_at

A, B = UUID(int=11), UUID(int=12)
BIG = STEP_BYTES // 3


class Killed(Exception):
    """The process is gone."""


class Mortal(Fused):
    """Counts what changes it; `fuse` is shared by the disks of a process, which ends when it is burnt."""

    def __init__(self, fuse: list[int]) -> None:
        super().__init__()
        self.fuse = fuse

    def burn(self) -> None:
        self.fuse[0] -= 1
        if self.fuse[0] == 0:
            raise Killed


class Story:
    """One log, begun in A; everything in it is synced."""

    def __init__(self) -> None:
        self.fuse = [0]
        self.disks = {A: Mortal(self.fuse), B: Mortal(self.fuse)}
        self.end: Offset = 0
        self.acknowledged: Offset = 0
        self.start()

    def start(self) -> None:
        self.storage = LogManager(A, self.disks, missing=0)
        for each, disk in self.disks.items():
            self.storage.add(
                Storage(
                    disk,
                    directory=each,
                    pending=self.storage.pending,
                )
            )
        opened, *self.more = self.storage.perform(
            OpenLog(TP, TOPIC_ID, False, UNASSIGNED_DIRECTORY), NOW
        )
        assert isinstance(opened, LogOpened)
        self.home, self.log = opened.directory, opened.log

    def write(self, size: int = 10, *, sync: bool = True) -> list[Event]:
        batch = batch_at(self.end, size=size)
        effect = Append(TP, (parse_header(batch),), [batch], sync)
        events = self.storage.perform(effect, NOW)
        self.end += 1
        while sync and self.storage.unsynced:
            events += self.storage.sync(TP)
        written = [event.next_offset for event in events if isinstance(event, Written)]
        self.acknowledged = max([self.acknowledged, *written])
        return events

    def digest(self) -> list[Event]:
        events: list[Event] = []
        while self.storage.undigested:
            writing = self.storage.begin_digest(TP)
            assert set(writing.steps()) == {None}
            events += self.storage.end_digest(TP, writing)
        return events

    def roll(self) -> None:
        self.storage.perform(Roll(TP, self.end, b""), NOW)
        while self.storage.unsynced:
            self.storage.sync(TP)

    def digests(self, directory: UUID) -> list[str]:
        names = self.disks[directory].list(str(TP))
        return [name for name in names if name.endswith(".digest")]

    def copy(self, directory: UUID | None = B) -> list[Event]:
        return self.storage.perform(CopyLog(TP, directory), NOW)

    def move(self, meanwhile: Callable[[], object] = lambda: None) -> list[Event]:
        for _ in range(100):
            events = self.copy()
            if not isinstance(events[0], LogCopied):
                return events
            meanwhile()
        raise AssertionError("it never ends")

    def offsets(self) -> list[Offset]:
        """Of all that can be read."""
        found: list[Offset] = []
        position = 0
        while position < self.end:
            wanted = ReadRange(1, TP, position, self.end, 1 << 22, True)
            (read,) = self.storage.perform(wanted, NOW)
            assert isinstance(read, RangeRead) and not read.error, read
            if read.next_offset == position:
                break
            found += range(position, read.next_offset)
            position = read.next_offset
        return found

    def folders(self, directory: UUID) -> list[str]:
        return [name for name in self.disks[directory].list("") if TP.topic in name]


def test_a_small_log_moves_in_one_step_and_goes_on_there() -> None:
    story = Story()
    story.write()
    assert story.copy() == [LogMoved(TP, B)]
    assert (story.folders(A), story.folders(B)) == ([], [str(TP)])
    assert story.write(sync=False) == [Written(TP, 2)]
    assert story.offsets() == [0, 1]
    story.start()
    assert (story.home, story.log.log_end_offset) == (B, 2)


def test_a_big_one_moves_step_by_step_while_it_is_written_and_rolled() -> None:
    story = Story()
    for _ in range(8):
        story.write(BIG)
        story.storage.perform(Roll(TP, story.end, b""), NOW)
    told: list[LogCopied] = []

    def meanwhile() -> None:
        story.write(2_000)

    (copied,) = story.copy()
    assert isinstance(copied, LogCopied) and (copied.directory, copied.next_offset) == (B, 2)
    told.append(copied)
    assert any(name.endswith("-future") for name in story.disks[B].list(""))
    assert story.move(meanwhile) == [LogMoved(TP, B)]
    assert story.offsets() == [*range(story.end)]
    for _ in range(3):
        story.write(BIG)
        story.storage.perform(Roll(TP, story.end, b""), NOW)
    story.start()
    assert (story.home, story.offsets()) == (B, [*range(story.end)])


def test_what_waited_for_a_sync_is_told_when_the_log_has_moved() -> None:
    story = Story()
    story.write(sync=False)
    effect = batch_at(1)
    story.storage.perform(Append(TP, (parse_header(effect),), [effect], True), NOW)
    story.end = 2
    work = story.storage.begin_sync(TP)
    assert story.copy() == [LogMoved(TP, B), Written(TP, 2)]
    assert story.storage.end_sync(TP, work()) == []
    assert story.storage.unsynced == {}
    assert story.write() == [Written(TP, 3)]


@pytest.mark.parametrize("fails", [False, True])
def test_a_log_may_be_back_before_the_sync_that_it_left_behind_has_ended(fails: bool) -> None:
    story = Story()
    story.write(sync=False)
    batch = batch_at(1)
    story.storage.perform(Append(TP, (parse_header(batch),), [batch], True), NOW)
    story.end = 2
    work = story.storage.begin_sync(TP)
    assert story.copy() == [LogMoved(TP, B), Written(TP, 2)]
    assert story.copy(A) == [LogMoved(TP, A)]
    story.disks[A].ailing = fails
    events = story.storage.end_sync(TP, work())
    assert [type(event) for event in events] == [LogFailed] * fails
    story.disks[A].ailing = False
    story.start()
    assert story.offsets() == [0, 1]
    assert story.write() == [Written(TP, 3)]


def test_what_is_trimmed_meanwhile_does_not_come_back() -> None:
    story = Story()
    for _ in range(6):
        story.write(BIG)
        story.storage.perform(Roll(TP, story.end, b""), NOW)
    story.copy()
    story.storage.perform(ConfigureLog(TP, 60_000), NOW)
    story.storage.perform(TrimLog(TP, 2), NOW)
    assert f"{0:020}.log.deleted" in story.disks[A].list(str(TP))
    assert story.move() == [LogMoved(TP, B)]
    names = [name for name in story.disks[B].list(str(TP)) if ".log" in name]
    assert names[0] == f"{2:020}.log" and not any(name.endswith(".deleted") for name in names)
    story.start()
    assert story.log.log_start_offset == 2


def test_partitions_of_a_topic_with_a_long_name_move_side_by_side() -> None:
    story = Story()
    long = [TopicPartition("x" * 240, number) for number in (0, 1)]
    for number, partition in enumerate(long):
        story.storage.perform(OpenLog(partition, TOPIC_ID, False, A), NOW)
        for offset in range(5):
            batch = batch_at(offset, size=BIG + number)
            story.storage.perform(Append(partition, (parse_header(batch),), [batch], False), NOW)
    moved: set[TopicPartition] = set()
    while len(moved) < len(long):
        for partition in long:
            events = story.storage.perform(CopyLog(partition, B), NOW)
            assert isinstance(events[0], LogCopied | LogMoved)
            moved |= {event.partition for event in events if isinstance(event, LogMoved)}
    story.start()
    for number, partition in enumerate(long):
        story.storage.perform(OpenLog(partition, TOPIC_ID, False, UNASSIGNED_DIRECTORY), NOW)
        read = story.storage.perform(ReadRange(1, partition, 0, 5, 1 << 24, True), NOW)
        assert read[0].next_offset == 5
        assert len(read[0].data) == 5 * len(batch_at(0, size=BIG + number))


def test_a_cut_begins_the_copy_anew() -> None:
    story = Story()
    for _ in range(6):
        story.write(BIG)
    story.copy()
    story.storage.perform(TruncateLog(TP, 1, ((0, 0),)), NOW)
    story.end = 1
    for _ in range(6):
        story.write(BIG + 7)
    assert story.move() == [LogMoved(TP, B)]
    assert story.offsets() == [*range(7)]
    story.start()
    assert (story.home, story.offsets()) == (B, [*range(7)])


def test_a_move_that_is_called_off_leaves_nothing() -> None:
    story = Story()
    for _ in range(6):
        story.write(BIG)
    story.copy()
    assert story.copy(None) == []
    assert (story.folders(A), story.folders(B)) == ([str(TP)], [])
    assert story.offsets() == [*range(6)]


def test_a_move_that_was_interrupted_is_told_once_the_log_is_open() -> None:
    story = Story()
    for _ in range(6):
        story.write(BIG)
    story.copy()
    story.start()
    assert story.more == [MoveInterrupted(TP, B)]
    assert (story.home, story.folders(B)) == (A, [])
    assert story.move() == [LogMoved(TP, B)]
    story.start()
    assert (story.home, story.more) == (B, [])


def test_a_topic_that_is_deleted_takes_its_copy_along() -> None:
    story = Story()
    for _ in range(6):
        story.write(BIG)
    story.copy()
    story.storage.perform(CloseLog(TP, delete=True), NOW)
    assert (story.folders(A), story.folders(B)) == ([], [])


def test_a_target_that_refuses_leaves_the_log_where_it_is() -> None:
    story = Story()
    story.write()
    story.disks[B].break_at("future")
    (failed,) = story.copy()
    assert isinstance(failed, CopyFailed) and failed.directory == B
    assert story.offsets() == [0]
    assert story.write() == [Written(TP, 2)]


def test_a_source_that_refuses_is_the_one_that_failed() -> None:
    story = Story()
    story.write()
    for name in story.disks[A].list(str(TP)):
        if name.endswith(".log"):
            story.disks[A].remove(f"{TP}/{name}")
    (failed,) = story.copy()
    assert isinstance(failed, LogFailed) and failed.directory == A


def test_an_original_that_cannot_be_removed_does_not_count_any_more() -> None:
    story = Story()
    story.write()

    class Stubborn(Mortal):
        def rename(self, path: str, new_path: str) -> None:
            raise DiskError("the device reports errors")

    story.disks[A].__class__ = Stubborn
    moved, refused = story.copy()
    assert moved == LogMoved(TP, B)
    assert isinstance(refused, DirectoryRefused) and refused.directory == A
    story.write()
    story.disks[A].__class__ = Mortal
    story.start()
    assert (story.home, story.offsets()) == (B, [0, 1])


@pytest.mark.parametrize("is_dead", [False, True])
def test_a_name_that_may_not_last_leaves_the_original_the_one_that_counts(is_dead: bool) -> None:
    story = Story()
    story.write()

    class Unsure(Mortal):
        def rename(self, path: str, new_path: str) -> None:
            super().rename(path, new_path)
            raise DiskError("the directory can't be synced")

        def remove(self, path: str) -> None:
            if is_dead and path == str(TP):
                raise DiskError("the device reports errors")
            super().remove(path)

    story.disks[B].__class__ = Unsure
    (failed,) = story.copy()
    assert isinstance(failed, CopyFailed) and failed.directory == B
    assert story.write() == [Written(TP, 2)]
    story.disks[B].__class__ = Mortal
    assert (str(TP) in story.folders(B)) == is_dead
    story.start()
    assert (story.home, story.offsets()) == (A, [0, 1])
    assert story.move() == [LogMoved(TP, B)]
    story.start()
    assert (story.home, story.offsets()) == (B, [0, 1])


@pytest.mark.parametrize("power", [False, True])
def test_a_crash_at_any_step_leaves_the_whole_log_in_one_place(power: bool) -> None:
    homes: list[UUID] = []
    for step in range(1, 200):
        story = Story()
        for _ in range(3):
            story.write(BIG)
            story.storage.perform(Roll(TP, story.end, b""), NOW)
        story.write()
        story.fuse[0] = step
        try:
            story.move(lambda story=story: story.write(100))  # type: ignore[misc]
            finished = True
        except Killed:
            finished = False
        story.fuse[0] = 0
        if power and not finished:
            for disk in story.disks.values():
                disk.crash(random.Random(step))
        story.start()
        homes.append(story.home)
        assert story.offsets()[:4] == [0, 1, 2, 3], step
        assert story.log.log_end_offset >= story.acknowledged, step
        assert len(story.folders(A)) + len(story.folders(B)) <= 2
        story.end = story.log.log_end_offset
        story.write()
        story.start()
        assert story.offsets() == [*range(story.end)], step
        if finished:
            break
    assert finished and {*homes} == {A, B}
    assert homes == sorted(homes)  # first the old place, then the new one
