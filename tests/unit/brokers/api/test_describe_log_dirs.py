"""Bytes on the disk."""

import pytest

from brokers.errors import KafkaError
from brokers.events import LogFailed, RecordsCompacted
from brokers.ids import LOST_DIRECTORY, TopicPartition
from brokers.wire.messages.log_dirs import DescribableLogDirTopic
from tests.sim.files import ROOM
from tests.unit.brokers.api.several import B, Several, described, held
from tests.unit.brokers.api.whole import Whole


def node_with_logs() -> Whole:
    node = Whole()
    node.create("a", 2)
    node.create("b", 1)
    return node


@pytest.mark.parametrize("version", range(1, 6))
def test_every_log_at_every_version(version: int) -> None:
    (directory,) = described(node_with_logs(), None, version)
    assert (directory.error_code, directory.log_dir) == (0, "data")
    assert held(directory) == {("a", 0), ("a", 1), ("b", 0)}
    volume = (ROOM, ROOM) if version >= 4 else (-1, -1)
    assert (directory.total_bytes, directory.usable_bytes) == volume


@pytest.mark.parametrize(("version", "told"), [(1, (-1, -1)), (2, (7, 5)), (5, (7, 5))])
def test_what_a_log_lacks_because_of_compaction(version: int, told: tuple[int, int]) -> None:
    node = node_with_logs()
    partition = TopicPartition("b", 0)
    node.feed(RecordsCompacted(partition, complete_from=7, markers_from=5))
    (directory,) = described(node, None, version)
    (b,) = next(each.partitions for each in directory.topics if each.name == "b")
    assert (b.complete_from, b.markers_from) == told
    other = next(each.partitions for each in directory.topics if each.name == "a")[0]
    assert (other.complete_from, other.markers_from) == ((0, 0) if version > 1 else (-1, -1))


def test_only_what_is_asked_for_exists_and_is_online() -> None:
    node = node_with_logs()
    node.feed(LogFailed(TopicPartition("a", 0), "disk full"))
    topics = [
        DescribableLogDirTopic(topic="a", partitions=[0, 1, 1, 9]),
        DescribableLogDirTopic(topic="nope", partitions=[0]),
    ]
    (directory,) = described(node, topics)
    assert held(directory) == {("a", 1)}
    (directory,) = described(node, [])
    assert directory.topics == []


def test_each_directory_has_what_lies_in_it_and_an_error_where_it_failed() -> None:
    node = Several()
    node.create("t", 4)
    first, second, third = described(node, None)
    assert [each.log_dir for each in (first, second, third)] == ["/a", "/b", "/c"]
    assert held(first) == {("t", 0), ("t", 2)} and held(second) == {("t", 1), ("t", 3)}
    assert (third.error_code, third.topics) == (KafkaError.KAFKA_STORAGE_ERROR, [])
    assert (third.total_bytes, third.usable_bytes) == (-1, -1)
    node.disks[B].full_after(77)
    assert described(node, None)[1].usable_bytes == 77
    node.feed(LogFailed(TopicPartition("t", 1), "the device reports errors", B))
    first, second, _ = described(node, None)
    assert (first.error_code, second.error_code) == (0, KafkaError.KAFKA_STORAGE_ERROR)
    assert second.topics == []


def test_a_replica_in_nobody_knows_which_failed_directory_is_reported_lost() -> None:
    node = Several()
    node.create("t", 1)
    node.wait(100)
    node.feed(LogFailed(TopicPartition("t", 0), "it lies in a log directory that is offline"))
    node.wait(2_000)
    assert node.home("t", 0) == LOST_DIRECTORY
    assert node.broker.view.image.topics_by_name["t"].partitions[0].leader == -1


@pytest.mark.parametrize("waited_ms", [100, 0])
def test_a_lone_node_without_a_directory_has_no_leader_for_what_lies_there(waited_ms: int) -> None:
    """Be it before or after the controller was told where the replicas lie."""
    node = Several()
    node.create("t", 4)
    node.wait(waited_ms)
    node.feed(LogFailed(TopicPartition("t", 1), "the device reports errors", B))
    node.wait(100)
    partitions = node.broker.view.image.topics_by_name["t"].partitions
    assert [each.leader for each in partitions] == [1, -1, 1, -1]
