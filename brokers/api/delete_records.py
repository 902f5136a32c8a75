"""DeleteRecords (key 21): move a partition's log start offset up (KIP-107). Versions 0-2; -1 is the high watermark.

The answer leaves in the same step as the effect that persists the new start: a crash in between brings records
back, which loses nothing, and a repeated request deletes them again.
"""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import INTERNAL_TOPICS, Instant, TopicPartition
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

KEY = 21
VERSIONS = (0, 2)
HIGH_WATERMARK = -1


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DeleteRecordsRequest)
    effects: list[Effect] = []
    response = DeleteRecordsResponse()
    for topic in message.topics:
        answer = DeleteRecordsTopicResult(name=topic.name)
        response.topics.append(answer)
        for asked in topic.partitions:
            item = DeleteRecordsPartitionResult(
                partition_index=asked.partition_index, low_watermark=-1
            )
            answer.partitions.append(item)
            try:
                effects += _trim(context, topic.name, asked, item)
            except Refusal as refusal:
                item.error_code = refusal.error
    return [*effects, Reply(request.ticket, response)]


def _trim(
    context: Context, topic: str, asked: DeleteRecordsPartition, item: DeleteRecordsPartitionResult
) -> list[Effect]:
    replica = context.require_leader(TopicPartition(topic, asked.partition_index))
    log = replica.require_log()
    if topic in INTERNAL_TOPICS:
        raise Refusal(KafkaError.INVALID_TOPIC_EXCEPTION)
    if replica.writer is not None:
        raise Refusal(KafkaError.POLICY_VIOLATION, "a mirror follows its source's log start")
    offset = replica.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
    if offset < 0 or offset > replica.high_watermark:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
    effects = log.trim(offset) if offset > log.log_start_offset else []
    item.low_watermark = log.log_start_offset
    return list(effects)
