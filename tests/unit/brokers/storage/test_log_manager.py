"""Several log directories behind one door: every log lies in one of them, and each effect finds it."""

from uuid import UUID

import pytest

from brokers.effects import (
    Append,
    CloseLog,
    FindRanges,
    KeepBrokerEpoch,
    LeaveDirectory,
    OpenLog,
    Range,
    ReadRange,
    RemoveStrays,
    SaveHighWatermarks,
    SaveState,
)
from brokers.errors import KafkaError
from brokers.events import (
    DirectoryRefused,
    LogFailed,
    LogOpened,
    RangeRead,
    RangesFound,
    Written,
)
from brokers.ids import (
    LOST_DIRECTORY,
    METADATA_PARTITION,
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
    TopicPartition,
)
from brokers.ports import DiskError
from brokers.records.batch import parse_header
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import NOW, TOPIC_ID, batch_at

A, B, C = UUID(int=11), UUID(int=12), UUID(int=13)
DISKS = {A: "a", B: "b", C: "c"}


class Node:
    """The disks stay, the storage comes and goes as processes do; the first holds the metadata log."""

    def __init__(self, *directories: UUID) -> None:
        self.disks = {each: SimFiles() for each in directories}
        self.start()

    def start(self, *without: UUID) -> None:
        online = [each for each in self.disks if each not in without]
        self.storage = LogManager(next(iter(self.disks)), online, missing=len(without))
        for each in online:
            made = Storage(self.disks[each], directory=each, pending=self.storage.pending)
            self.storage.add(made)

    def open(self, name: str, directory: UUID = UNASSIGNED_DIRECTORY) -> UUID | str:
        """Where it lies, or why it cannot be opened."""
        (event,) = self.storage.perform(OpenLog(at(name), TOPIC_ID, False, directory), NOW)
        if isinstance(event, LogFailed):
            return event.reason
        assert isinstance(event, LogOpened)
        return event.directory

    def write(self, name: str, offset: int = 0, *, sync: bool = False) -> list[object]:
        batch = batch_at(offset)
        effect = Append(at(name), (parse_header(batch),), [batch], sync)
        return [*self.storage.perform(effect, NOW)]


def at(name: str) -> TopicPartition:
    topic, _, index = name.rpartition("-")
    return TopicPartition(topic, int(index))


def test_a_new_log_goes_where_the_fewest_are() -> None:
    node = Node(A, B)
    assert [node.open(f"t-{index}") for index in range(4)] == [A, B, A, B]
    node.storage.perform(CloseLog(at("t-1"), delete=True), NOW)
    node.storage.perform(CloseLog(at("t-3"), delete=True), NOW)
    assert [node.open(f"u-{index}") for index in range(3)] == [B, B, A]


def test_a_log_is_found_again_whatever_the_region_says() -> None:
    node = Node(A, B)
    assert (node.open("t-0"), node.open("t-1")) == (A, B)
    node.start()
    assert node.open("t-1", A) == B
    assert node.open("t-0", LOST_DIRECTORY) == A
    assert node.open("t-2", B) == B


def test_while_a_directory_is_missing_what_may_lie_there_is_not_begun_anew() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.start(B)
    for known in (B, MIGRATING_DIRECTORY, LOST_DIRECTORY, UUID(int=99)):
        assert node.open("t-1", known) == "it lies in a log directory that is offline"
    assert node.open("t-0", A) == A
    assert node.open("new-0", UNASSIGNED_DIRECTORY) == A


def test_once_all_are_there_what_is_nowhere_is_begun_anew() -> None:
    node = Node(A, B)
    assert node.open("t-0", UUID(int=99)) == A


def test_each_effect_finds_its_log_and_syncs_are_asked_for_by_all() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    assert node.write("t-0") == [Written(at("t-0"), 1)]
    assert node.write("t-1", sync=True) == []
    assert [*node.storage.unsynced] == [at("t-1")]
    assert node.storage.sync(at("t-1")) == [Written(at("t-1"), 1)]
    (read,) = node.storage.perform(ReadRange(1, at("t-1"), 0, 1, 1000, True), NOW)
    assert isinstance(read, RangeRead) and read.next_offset == 1
    (nothing,) = node.storage.perform(ReadRange(2, at("no-0"), 0, 1, 1000, True), NOW)
    assert isinstance(nothing, RangeRead) and nothing.error is KafkaError.KAFKA_STORAGE_ERROR


def test_ranges_of_several_directories_are_found_in_the_order_asked() -> None:
    node = Node(A, B)
    for name in ("t-0", "t-1", "t-2"):
        node.open(name)
        node.write(name)
    ranges = tuple(Range(at(name), 0, 1, 1000) for name in ("t-1", "t-0", "gone-0", "t-2"))
    (found,) = node.storage.perform(FindRanges(1, ranges, 10_000), NOW)
    assert isinstance(found, RangesFound)
    assert [each.next_offset for each in found.found] == [1, 1, 0, 1]
    assert found.found[2].error is KafkaError.KAFKA_STORAGE_ERROR


def test_high_watermarks_are_kept_where_the_logs_are() -> None:
    node = Node(A, B)
    for name in ("t-0", "t-1"):
        node.open(name)
        node.write(name)
    node.storage.perform(SaveHighWatermarks({at("t-0"): 1, at("t-1"): 1}), NOW)
    for disk, name in ((node.disks[A], "t 0 1"), (node.disks[B], "t 1 1")):
        text = bytes(disk.read("replication-offset-checkpoint", 0, 100)).decode()
        assert text.splitlines()[2:] == [name]


def test_the_metadata_log_and_its_state_lie_in_their_own_directory() -> None:
    node = Node(A, B)
    (opened,) = node.storage.perform(OpenLog(METADATA_PARTITION, TOPIC_ID), NOW)
    assert isinstance(opened, LogOpened) and opened.directory == A
    node.storage.perform(SaveState("__cluster_metadata-0/quorum-state", b"x"), NOW)
    assert node.disks[A].exists("__cluster_metadata-0/quorum-state")
    assert node.open("t-0") == A  # it is no partition of a topic


def test_a_directory_for_the_metadata_log_alone_takes_no_partitions() -> None:
    disks = {A: SimFiles(), B: SimFiles()}
    several = LogManager(A, (B,), missing=0)
    for each, disk in disks.items():
        several.add(Storage(disk, directory=each, pending=several.pending))
    for partition, home in ((METADATA_PARTITION, A), (at("t-0"), B), (at("t-1"), B)):
        (opened,) = several.perform(OpenLog(partition, TOPIC_ID, False, UNASSIGNED_DIRECTORY), NOW)
        assert isinstance(opened, LogOpened) and opened.directory == home


def test_a_failed_directory_is_left_as_it_is_and_the_others_go_on() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.disks[B].break_at("t-1")
    (failed,) = node.write("t-1")
    assert isinstance(failed, LogFailed) and failed.directory == B
    node.storage.perform(LeaveDirectory(B), NOW)
    assert node.open("t-1", B) == "it lies in a log directory that is offline"
    assert node.write("t-0") == [Written(at("t-0"), 1)]
    assert [node.open(f"new-{index}") for index in range(3)] == [A, A, A]
    node.storage.close()
    assert node.disks[A].exists(".kafka_cleanshutdown")
    assert not node.disks[B].exists(".kafka_cleanshutdown")


def test_what_was_asked_of_a_directory_before_it_was_left_comes_to_nothing() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.write("t-1", sync=True)
    work = node.storage.begin_sync(at("t-1"))
    node.storage.perform(LeaveDirectory(B), NOW)
    assert node.storage.end_sync(at("t-1"), work()) == []
    assert node.storage.unsynced == {}


def test_a_log_whose_file_was_taken_away_is_not_taken_for_synced() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.write("t-1", sync=True)
    node.disks[B].remove("t-1")
    (failed,) = node.storage.sync(at("t-1"))
    assert isinstance(failed, LogFailed) and failed.directory == B


def test_a_checkpoint_that_is_refused_says_which_directory_it_was_for() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.disks[B].break_at("checkpoint")
    events = node.storage.perform(SaveHighWatermarks({at("t-0"): 0, at("t-1"): 0}), NOW)
    assert [event.directory for event in events if isinstance(event, DirectoryRefused)] == [B]


def test_a_clean_end_is_one_of_all_directories() -> None:
    node = Node(A, B)
    node.storage.perform(KeepBrokerEpoch(7), NOW)
    node.storage.close()
    node.start()
    assert node.storage.previous_broker_epoch == 7
    node.storage.perform(KeepBrokerEpoch(8), NOW)
    node.storage.close()
    node.start(B)
    assert node.storage.previous_broker_epoch == -1


@pytest.mark.parametrize("known", [A, B])
def test_of_two_folders_of_one_name_the_one_that_the_region_knows_is_kept(known: UUID) -> None:
    node = Node(A, B)
    for each in (A, B):
        Storage(node.disks[each]).perform(OpenLog(at("t-0"), TOPIC_ID), NOW)
    node.start()
    assert node.open("t-0", known) == known
    (other,) = {A, B} - {known}
    assert [name for name in node.disks[other].list("") if "t-0" in name] == [
        f"t-0.{TOPIC_ID.hex()}-stray"
    ]


@pytest.mark.parametrize("what", ["rename", "read"])
def test_of_two_the_directory_that_refuses_is_the_one_that_has_failed(what: str) -> None:
    def refuse(self: SimFiles, path: str, *rest: object) -> object:
        raise DiskError(f"{path}: the device reports errors")

    node = Node(A, B)
    for each in (A, B):
        Storage(node.disks[each]).perform(OpenLog(at("t-0"), TOPIC_ID), NOW)
    node.start()
    node.disks[B].__class__ = type("Refusing", (SimFiles,), {what: refuse})
    events = node.storage.perform(OpenLog(at("t-0"), TOPIC_ID, False, A), NOW)
    opened, refused = events
    assert isinstance(opened, LogOpened) and opened.directory == A
    assert isinstance(refused, DirectoryRefused) and refused.directory == B


def test_a_folder_of_an_earlier_topic_does_not_count() -> None:
    node = Node(A, B)
    Storage(node.disks[A]).perform(OpenLog(at("t-0"), bytes(16)), NOW)
    Storage(node.disks[B]).perform(OpenLog(at("t-0"), TOPIC_ID), NOW)
    node.start()
    assert node.open("t-0", A) == B


def test_strays_are_removed_from_all_and_no_longer_counted() -> None:
    node = Node(A, B)
    for index in range(4):
        node.open(f"t-{index}")
    node.start()
    node.open("t-0")
    (removed,) = node.storage.perform(RemoveStrays(frozenset((at("t-0"),))), NOW)
    assert sorted(removed.folders) == ["t-1", "t-2", "t-3"]  # type: ignore[union-attr]
    assert [node.open(f"new-{index}") for index in range(2)] == [B, A]


def test_a_log_that_is_kept_and_not_open_yet_is_found_all_the_same() -> None:
    node = Node(A, B)
    node.open("t-0"), node.open("t-1")
    node.start()
    assert node.storage.perform(RemoveStrays(frozenset((at("t-0"), at("t-1")))), NOW) == []
    assert (node.open("t-1"), node.open("t-0")) == (B, A)


def test_of_three_the_emptiest_in_the_order_of_the_settings() -> None:
    node = Node(C, A, B)
    assert [node.open(f"t-{index}") for index in range(4)] == [C, A, B, C]
