"""What Kafka clients do to a region of the world, in a line each. Numbers returned are Kafka's error codes."""

from struct import pack
from typing import TYPE_CHECKING

from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages import (
    configs,
    group_admin,
    group_offsets,
    groups,
    partition_offsets,
    produce,
    topics,
)

if TYPE_CHECKING:
    from tests.playbooks.linker.world import Host


def create_topic(host: "Host", name: str, partitions: int = 1, **settings: str) -> int:
    topic = topics.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        configs=[
            topics.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in settings.items()
        ],
    )
    answer = host.request(19, 5, topics.CreateTopicsRequest(topics=[topic], timeout_ms=1000))
    return int(answer.topics[0].error_code)


def delete_topic(host: "Host", name: str) -> int:
    answer = host.request(20, 5, topics.DeleteTopicsRequest(topic_names=[name], timeout_ms=1000))
    return int(answer.responses[0].error_code)


def grow_topic(host: "Host", name: str, count: int) -> int:
    topic = topics.CreatePartitionsTopic(name=name, count=count, assignments=None)
    message = topics.CreatePartitionsRequest(topics=[topic], timeout_ms=1000)
    return int(host.request(37, 2, message).results[0].error_code)


def set_config(host: "Host", topic: str, name: str, value: str | None) -> int:
    """None goes back to the default."""
    change = configs.IncrementalAlterableConfig(
        name=name, config_operation=0 if value is not None else 1, value=value
    )
    resource = configs.IncrementalAlterConfigsResource(
        resource_type=ResourceType.TOPIC, resource_name=topic, configs=[change]
    )
    message = configs.IncrementalAlterConfigsRequest(resources=[resource])
    return int(host.request(44, 1, message).responses[0].error_code)


def send(
    host: "Host",
    topic: str,
    partition: int,
    *values: bytes,
    producer_id: int = -1,
    base_sequence: int = -1,
) -> tuple[int, int]:
    """One batch, acks=all -> (error code, base offset)."""
    batch = batch_of(host, *values, producer_id=producer_id, base_sequence=base_sequence)
    return send_batch(host, topic, partition, batch)


def batch_of(
    host: "Host", *values: bytes, producer_id: int = -1, base_sequence: int = -1
) -> bytearray:
    return build_batch(
        [NewRecord(None, value) for value in values],
        timestamp=host.now,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=base_sequence,
    )


def send_batch(host: "Host", topic: str, partition: int, batch: bytearray) -> tuple[int, int]:
    """acks=all -> (error code, base offset)."""
    message = produce_request({topic: batch}, partition=partition)
    answer = host.request(0, 9, message).responses[0].partition_responses[0]
    return int(answer.error_code), int(answer.base_offset)


def produce_request(
    batches: "dict[str, bytearray]", partition: int = 0, acks: int = -1, timeout_ms: int = 1000
) -> produce.ProduceRequest:
    """A batch for each topic."""
    data = {
        topic: produce.PartitionProduceData(index=partition, records=batch)
        for topic, batch in batches.items()
    }
    return produce.ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            produce.TopicProduceData(name=topic, partition_data=[each])
            for topic, each in data.items()
        ],
    )


def delete_records(host: "Host", topic: str, partition: int, before: int) -> int:
    item = partition_offsets.DeleteRecordsPartition(partition_index=partition, offset=before)
    named = partition_offsets.DeleteRecordsTopic(name=topic, partitions=[item])
    message = partition_offsets.DeleteRecordsRequest(topics=[named], timeout_ms=1000)
    return int(host.request(21, 1, message).topics[0].partitions[0].error_code)


def find_coordinator(host: "Host", group: str) -> None:
    """As every client does first; creates the offsets topic where there is none."""
    message = groups.FindCoordinatorRequest(key=group, key_type=0)
    assert host.request(10, 2, message).error_code == 0


def join(host: "Host", group: str, *topics: str) -> str:
    """A consumer becomes the only member of a group; its member id. Without `topics`, nobody can read of which."""
    find_coordinator(host, group)
    names = b"".join(pack(">h", len(topic)) + topic.encode() for topic in topics)
    metadata = pack(">hi", 0, len(topics)) + names + pack(">i", -1) if topics else b""
    protocol = groups.JoinGroupRequestProtocol(name="range", metadata=metadata)
    message = groups.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    return str(host.request(11, 2, message, timeout_ms=10_000).member_id)


def leave(host: "Host", group: str, member: str) -> int:
    message = groups.LeaveGroupRequest(group_id=group, member_id=member)
    return int(host.request(13, 2, message).error_code)


def commit(host: "Host", group: str, topic: str, partition: int, offset: int) -> int:
    """As an administrator, or a consumer that assigns itself."""
    find_coordinator(host, group)
    item = group_offsets.OffsetCommitRequestPartition(
        partition_index=partition, committed_offset=offset, committed_metadata="m"
    )
    named = group_offsets.OffsetCommitRequestTopic(name=topic, partitions=[item])
    message = group_offsets.OffsetCommitRequest(group_id=group, topics=[named])
    return int(host.request(8, 8, message).topics[0].partitions[0].error_code)


def committed(host: "Host", group: str, topic: str, partition: int = 0) -> int | None:
    found = host.view.group_offsets(group).get(TopicPartition(topic, partition))
    return found.offset if found is not None else None


def delete_offset(host: "Host", group: str, topic: str, partition: int) -> int:
    """As `kafka-consumer-groups --delete-offsets` does."""
    item = group_offsets.OffsetDeleteRequestPartition(partition_index=partition)
    named = group_offsets.OffsetDeleteRequestTopic(name=topic, partitions=[item])
    message = group_offsets.OffsetDeleteRequest(group_id=group, topics=[named])
    answer = host.request(47, 0, message)
    return int(answer.error_code or answer.topics[0].partitions[0].error_code)


def delete_group(host: "Host", group: str) -> int:
    message = group_admin.DeleteGroupsRequest(groups_names=[group])
    return int(host.request(42, 2, message).results[0].error_code)
