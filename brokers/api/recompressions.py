"""What of a Produce request its handler would compress anew, so that a host can do that beforehand in other threads."""

from collections.abc import Iterator
from typing import Final

from brokers.events import Request
from brokers.ids import TopicPartition
from brokers.partition import leader
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.records.compression import GZIP, ZSTD
from brokers.records.recompression import Recompression
from brokers.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

BYTES_MIN: Final = 1 << 15  # a smaller batch takes little longer than to hand it over
SLOW: Final = (GZIP, ZSTD)  # with lz4 a node that handed batches over took a quarter more time


class Recompressions:
    """Of the partitions that this node holds. The handler checks everything itself: nothing depends on these."""

    def __init__(self, metadata: MetadataCache, replicas: HostedPartitions) -> None:
        self._metadata = metadata
        self._replicas = replicas

    def of(self, request: Request) -> list[tuple[int, Recompression]]:
        """By `id` of their PartitionProduceData. Most requests have none: then little is looked at."""
        message = request.message
        assert isinstance(message, ProduceRequest)
        return [
            found
            for topic in message.topic_data
            for data in topic.partition_data
            if data.records is not None and len(data.records) >= BYTES_MIN
            for found in self._of_batch(topic, data)
        ]

    def _of_batch(
        self, topic: TopicProduceData, data: PartitionProduceData
    ) -> Iterator[tuple[int, Recompression]]:
        replica = self._replicas.get(TopicPartition(self._name_of(topic), data.index))
        if replica is None or data.records is None:
            return
        found = leader.recompression(replica, data.records)
        if found is not None and found.codec in SLOW:
            yield id(data), found

    def _name_of(self, topic: TopicProduceData) -> str:
        if topic.name:
            return topic.name
        known = self._metadata.image.topics_by_id.get(topic.topic_id)
        return "" if known is None else known.name
