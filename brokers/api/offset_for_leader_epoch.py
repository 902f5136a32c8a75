"""OffsetForLeaderEpoch (key 23): where a leader epoch ended, by which a client detects truncation.

Versions 2-4 (KIP-320); librdkafka sends exactly 2.
"""

from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.partition_offsets import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

KEY = ApiKey.OFFSET_FOR_LEADER_EPOCH
VERSIONS = (2, 4)


class OffsetForLeaderEpochHandler:
    """Answers OffsetForLeaderEpoch requests."""

    def __init__(self, replicas: HostedPartitions) -> None:
        self._replicas = replicas

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, OffsetForLeaderEpochRequest)
        topics = [
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[self._end(topic.topic, asked) for asked in topic.partitions],
            )
            for topic in message.topics
        ]
        return [Reply(request.ticket, OffsetForLeaderEpochResponse(topics=topics))]

    def _end(self, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
        item = EpochEndOffset(partition=asked.partition)
        try:
            replica = self._replicas.require_leader(TopicPartition(topic, asked.partition))
            log = replica.require_log()
            replica.require_leader_epoch(asked.current_leader_epoch)
        except Refusal as refusal:
            item.error_code = refusal.error
            return item
        item.leader_epoch, item.end_offset = log.epochs.end_offset_for(
            asked.leader_epoch, log.log_end_offset
        )
        return item
