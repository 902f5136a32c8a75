"""The replicas that this node holds (the `allPartitions` of Kafka's ReplicaManager)."""

from typing import Protocol

from brokers.errors import KafkaError, Refusal
from brokers.ids import TopicPartition
from brokers.metadata.image.image import Image
from brokers.partition.replica import Replica


class MetadataCache(Protocol):
    """The newest metadata image; `RaftManager` has it (in Kafka, brokers read their MetadataCache)."""

    @property
    def image(self) -> Image: ...


class HostedPartitions:
    """`all` has every replica by partition. Only `ReplicaLifecycle` adds to it and removes from it."""

    __slots__ = ("_metadata", "all", "get")

    def __init__(self, metadata: MetadataCache) -> None:
        self.all: dict[TopicPartition, Replica] = {}
        self.get = self.all.get  # called for each partition of each request
        self._metadata = metadata

    def require_leader(self, partition: TopicPartition) -> Replica:
        """The replica that this node leads. Raises `Refusal` NOT_LEADER_OR_FOLLOWER where it leads none."""
        replica = self.require(partition)
        replica.require_leader()
        return replica

    def require(self, partition: TopicPartition) -> Replica:
        """The replica held here. Raises `Refusal` with the error that Kafka gives where there is none."""
        replica = self.all.get(partition)
        if replica is not None:
            return replica
        topic = self._metadata.image.topics_by_name.get(partition.topic)
        if topic is None or partition.partition >= len(topic.partitions) or partition.partition < 0:
            raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
