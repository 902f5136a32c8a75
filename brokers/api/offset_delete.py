"""OffsetDelete (key 47): forget offsets of topics that a group no longer reads (KIP-496). Version 0."""

from brokers.api.context import Context
from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.requests import DeleteOffsetsResult
from brokers.ids import Instant, TopicPartition
from brokers.wire.messages.group_offsets import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

KEY = 47
VERSIONS = (0, 0)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, OffsetDeleteRequest)
    partitions = [
        TopicPartition(topic.name, item.partition_index)
        for topic in message.topics
        for item in topic.partitions
    ]
    known = [name for name in partitions if context.image.partition(name) is not None]
    context.answer(request.ticket, lambda answer: _response(answer, message))
    deleting = context.groups.delete_offsets(request.ticket, message.group_id, known, now)
    return context.run_groups(deleting, now)


def _response(answer: DeleteOffsetsResult, message: OffsetDeleteRequest) -> OffsetDeleteResponse:
    if answer.error:
        return OffsetDeleteResponse(error_code=answer.error)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=item.partition_index,
                        error_code=answer.errors.get(
                            TopicPartition(topic.name, item.partition_index),
                            KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
                        ),
                    )
                    for item in topic.partitions
                ],
            )
            for topic in message.topics
        ]
    )
