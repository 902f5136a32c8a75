"""DescribeTopicPartitions (key 75): topics page by page, in order of their names (KIP-966). Version 0."""

from collections.abc import Iterator

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.metadata.image.image import NO_LEADER, PartitionImage, TopicImage
from brokers.metadata.topics.topic_names import check_name
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.replication.offline_replicas import offline_replicas
from brokers.security.authorized_operations import TOPIC_OPERATIONS
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.metadata import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

KEY = ApiKey.DESCRIBE_TOPIC_PARTITIONS
VERSIONS = (0, 0)


class DescribeTopicPartitionsHandler:
    """Answers DescribeTopicPartitions requests."""

    def __init__(
        self, config: BrokerConfig, metadata: MetadataCache, replicas: HostedPartitions
    ) -> None:
        self._config = config
        self._replicas = replicas
        self._metadata = metadata

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeTopicPartitionsRequest)
        response = DescribeTopicPartitionsResponse()
        at_most = self._config.max_request_partition_size_limit
        left = max(1, min(message.response_partition_limit, at_most))
        for name, first in self._pages(message):
            if left == 0:
                response.next_cursor = Cursor(topic_name=name, partition_index=first)
                break
            topic = self._metadata.image.topics_by_name.get(name)
            if topic is None:
                response.topics.append(_unknown(name))
                continue
            item = self._described(topic, first, left)
            response.topics.append(item)
            left -= len(item.partitions)
            following = first + len(item.partitions)
            if following < len(topic.partitions):
                response.next_cursor = Cursor(topic_name=name, partition_index=following)
                break
        return [Reply(request.ticket, response)]

    def _pages(self, message: DescribeTopicPartitionsRequest) -> Iterator[tuple[str, int]]:
        """(topic, first partition) from the cursor on; without a list, of all topics."""
        names = {
            topic.name for topic in message.topics
        } or self._metadata.image.topics_by_name.keys()
        cursor = message.cursor or Cursor(topic_name="", partition_index=0)
        for name in sorted(names):
            if name >= cursor.topic_name:
                is_resumed = name == cursor.topic_name
                yield name, max(0, cursor.partition_index) if is_resumed else 0

    def _described(
        self, topic: TopicImage, first: int, count: int
    ) -> DescribeTopicPartitionsResponseTopic:
        return DescribeTopicPartitionsResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.is_internal,
            topic_authorized_operations=TOPIC_OPERATIONS,
            partitions=[
                self._partition(TopicPartition(topic.name, index), topic.partitions[index])
                for index in range(first, min(first + count, len(topic.partitions)))
            ],
        )

    def _partition(
        self, name: TopicPartition, partition: PartitionImage
    ) -> DescribeTopicPartitionsResponsePartition:
        is_led = partition.leader != NO_LEADER
        return DescribeTopicPartitionsResponsePartition(
            error_code=KafkaError.NONE if is_led else KafkaError.LEADER_NOT_AVAILABLE,
            partition_index=name.partition,
            leader_id=partition.leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            eligible_leader_replicas=list(partition.elr),
            last_known_elr=list(partition.last_known_elr),
            offline_replicas=offline_replicas(
                self._metadata.image, self._replicas, self._config.node_id, name
            ),
            observers=list(partition.all_observers),
        )


def _unknown(name: str) -> DescribeTopicPartitionsResponseTopic:
    error = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    try:
        check_name(name)
    except Refusal:
        error = KafkaError.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(error_code=error, name=name)
