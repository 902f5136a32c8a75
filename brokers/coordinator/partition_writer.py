"""Writes a coordinator's records to a partition of its topic (Kafka's PartitionWriter)."""

from collections.abc import Sequence
from typing import TypeAlias

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, TopicPartition
from brokers.log.config import LogConfig
from brokers.partition import leader
from brokers.partition.delayed_operations import OnComplete
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.records.builder import NewRecord, build_batch

# A key, and a value or None for a tombstone.
KeyAndValue: TypeAlias = tuple[bytes, bytes | None]


class PartitionWriter:
    """Appends to the partitions that this node leads."""

    def __init__(self, partitions: HostedPartitions) -> None:
        self._partitions = partitions

    def append(
        self,
        partition: TopicPartition,
        records: Sequence[KeyAndValue],
        placed: OnComplete,
        now: Instant,
    ) -> list[Effect]:
        """Append the records as one batch; `placed` is called once it is committed, or with the error.

        Raises `Refusal` where this node does not lead the partition, too few replicas are in sync, or it is too large.
        """
        replica = self._partitions.require_leader(partition)
        if replica.leadership is not None:
            replica.leadership.require_in_sync()
        batch = build_batch(
            [NewRecord(key=key, value=value) for key, value in records], timestamp=now
        )
        _require_size(records, len(batch), replica.config)
        done = leader.append_own(replica, batch, now)
        replica.delayed.for_offset(done.next_offset, placed)
        return [*done.effects]


def _require_size(records: Sequence[KeyAndValue], size: int, config: LogConfig) -> None:
    """Followers copy these: one record is held to max.message.bytes, many together to what a segment takes."""
    largest = max(len(key) + len(value or b"") for key, value in records)
    if largest > config.max_message_bytes:
        raise Refusal(KafkaError.MESSAGE_TOO_LARGE)
    if size > config.segment_bytes:
        raise Refusal(KafkaError.RECORD_LIST_TOO_LARGE)
