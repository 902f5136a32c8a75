"""Replicas that move between log directories of one broker."""

from brokers.api import alter_replica_log_dirs, delete_topics, incremental_alter_configs
from brokers.errors import KafkaError
from brokers.events import LogFailed
from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import ConfigOperation, ResourceType
from brokers.replication.replication_quota import ZERO_RATE_WAIT_MS
from brokers.storage.moving import STEP_BYTES
from brokers.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from brokers.wire.messages.topics import DeleteTopicsRequest
from tests.unit.brokers.api.several import A, B, Several, described, held

PART = 700_000  # bytes; two of them are more than one step copies


def alter(node: Several, path: str, topic: str, *partitions: int) -> list[KafkaError]:
    named = [AlterReplicaLogDirTopic(name=topic, partitions=[*partitions])]
    message = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=named)])
    (result,) = node.ask(alter_replica_log_dirs, 2, message).results
    assert [each.partition_index for each in result.partitions] == [*partitions]
    return [KafkaError(each.error_code) for each in result.partitions]


def node_with_topic() -> Several:
    node = Several()
    node.create("t", 2)
    node.wait(100)
    assert (node.home("t", 0), node.home("t", 1)) == (A, B)
    return node


def test_a_replica_moves_while_it_is_written_to_and_the_region_hears_of_it() -> None:
    node = node_with_topic()
    for _ in range(4):
        assert node.write("t", 0, PART) == 0
    assert alter(node, "/b", "t", 0) == [KafkaError.NONE]
    first, second, _ = described(node)
    assert held(first) == {("t", 0)}
    (future,) = (item for item in second.topics[0].partitions if item.is_future_key)
    assert (future.partition_index, future.offset_lag) == (0, 4)
    assert 0 < future.partition_size < 2 * PART
    assert node.write("t", 0, 10) == 0
    for _ in range(10):
        node.wait(10)
    first, second, _ = described(node)
    assert held(first) == set() and held(second) == {("t", 0), ("t", 1)}
    assert not any(item.is_future_key for item in second.topics[0].partitions)
    node.wait(100)
    assert node.home("t", 0) == B
    assert node.write("t", 0, 10) == 0
    assert node.disks[A].exists("t-0") is False


def test_each_replica_has_an_answer_of_its_own() -> None:
    node = node_with_topic()
    assert alter(node, "/b", "t", 0, 1, 7) == [
        KafkaError.NONE,
        KafkaError.NONE,  # where it is
        KafkaError.REPLICA_NOT_AVAILABLE,
    ]
    assert alter(node, "/nowhere", "t", 0) == [KafkaError.LOG_DIR_NOT_FOUND]
    assert alter(node, "/c", "t", 0) == [KafkaError.KAFKA_STORAGE_ERROR]


def test_a_replica_that_is_to_come_is_begun_where_it_is_wanted() -> None:
    node = Several()
    assert alter(node, "/b", "t", 0, 2) == [KafkaError.REPLICA_NOT_AVAILABLE] * 2
    node.create("t", 4)
    node.wait(100)
    assert [node.home("t", index) for index in range(4)] == [B, A, B, A]


def test_a_move_is_called_off_by_asking_for_where_it_is() -> None:
    node = node_with_topic()
    for _ in range(4):
        node.write("t", 0, PART)
    alter(node, "/b", "t", 0)
    assert alter(node, "/a", "t", 0) == [KafkaError.NONE]
    for _ in range(10):
        node.wait(10)
    first, second, _ = described(node)
    assert held(first) == {("t", 0)} and held(second) == {("t", 1)}
    assert not any("future" in name for name in node.disks[B].list(""))


def test_a_target_that_fails_is_offline_and_the_replica_stays() -> None:
    node = node_with_topic()
    for _ in range(4):
        node.write("t", 0, PART)
    alter(node, "/b", "t", 0)
    node.disks[B].break_at("future")
    node.wait(10)
    first, second, _ = described(node)
    assert held(first) == {("t", 0)}
    assert second.error_code == KafkaError.KAFKA_STORAGE_ERROR
    assert node.write("t", 0, 10) == 0


def test_a_replica_whose_log_is_offline_does_not_move() -> None:
    node = node_with_topic()
    node.feed(LogFailed(TopicPartition("t", 0), "the device reports errors", A))
    assert alter(node, "/b", "t", 0) == [KafkaError.KAFKA_STORAGE_ERROR]


def test_a_move_goes_on_after_a_restart() -> None:
    node = node_with_topic()
    for _ in range(4):
        node.write("t", 0, PART)
    alter(node, "/b", "t", 0)
    again = node.successor()
    for _ in range(20):
        again.wait(10)
    _, second, _ = described(again)
    assert held(second) == {("t", 0), ("t", 1)}


def test_a_topic_that_is_deleted_is_moved_no_further() -> None:
    node = node_with_topic()
    for _ in range(4):
        node.write("t", 0, PART)
    alter(node, "/b", "t", 0)
    node.ask(delete_topics, 5, DeleteTopicsRequest(topic_names=["t"], timeout_ms=1_000))
    for _ in range(10):
        node.wait(10)
    assert [list(disk.list("t-0")) for disk in node.disks.values()] == [[], []]
    assert not any("future" in name for name in node.disks[B].list(""))


def limit(node: Several, rate: int) -> None:
    setting = IncrementalAlterableConfig(
        name="replica.alter.log.dirs.io.max.bytes.per.second",
        config_operation=ConfigOperation.SET,
        value=str(rate),
    )
    broker = IncrementalAlterConfigsResource(
        resource_type=ResourceType.BROKER, resource_name="1", configs=[setting]
    )
    message = IncrementalAlterConfigsRequest(resources=[broker])
    (said,) = node.ask(incremental_alter_configs, 1, message).responses
    assert KafkaError(said.error_code) is KafkaError.NONE, said.error_message


def copied(node: Several) -> int:
    """Bytes of the copy in /b."""
    topics = described(node)[1].topics
    items = (item for topic in topics for item in topic.partitions if item.is_future_key)
    return sum(item.partition_size for item in items)


def test_a_copy_takes_no_more_bytes_a_second_than_it_may() -> None:
    node = node_with_topic()
    for _ in range(8):
        node.write("t", 0, PART)
    limit(node, STEP_BYTES)
    alter(node, "/b", "t", 0)
    begun = copied(node)
    for second in range(1, 4):
        for _ in range(100):
            node.wait(10)
        # What a second's worth of bytes was saved up, and a step that was begun while anything was left of it.
        assert begun + (second - 1) * STEP_BYTES < copied(node) <= (second + 2) * STEP_BYTES
    limit(node, 1 << 40)
    for _ in range(10):
        node.wait(10)
    assert held(described(node)[1]) == {("t", 0), ("t", 1)}


def test_a_copy_that_may_take_nothing_stands_still_until_it_may() -> None:
    node = node_with_topic()
    for _ in range(4):
        node.write("t", 0, PART)
    limit(node, 0)
    alter(node, "/b", "t", 0)
    begun = copied(node)
    node.wait(2 * ZERO_RATE_WAIT_MS)
    assert copied(node) == begun > 0
    limit(node, 1 << 40)
    for _ in range(10):
        node.wait(10)
    assert held(described(node)[1]) == {("t", 0), ("t", 1)}
