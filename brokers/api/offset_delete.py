"""OffsetDelete (key 47): forget offsets of topics that a group no longer reads (KIP-496). Version 0."""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.requests import DeleteOffsetsResult
from brokers.ids import Instant, TopicPartition
from brokers.membership.operation_recorder import OperationRecorder
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_offsets import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

KEY = ApiKey.OFFSET_DELETE
VERSIONS = (0, 0)


class OffsetDeleteHandler:
    """Answers OffsetDelete requests."""

    def __init__(
        self, metadata: MetadataCache, groups: Groups, recorder: OperationRecorder
    ) -> None:
        self._metadata = metadata
        self._groups = groups
        self._recorder = recorder

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, OffsetDeleteRequest)
        partitions = [
            TopicPartition(topic.name, item.partition_index)
            for topic in message.topics
            for item in topic.partitions
        ]
        known = [name for name in partitions if self._metadata.image.partition(name) is not None]
        had = self._groups.coordinator.committed_offsets(message.group_id)

        def answered(answer: DeleteOffsetsResult) -> OffsetDeleteResponse:
            deleted = [
                f"{name} at {had[name].offset}"
                for name, error in answer.errors.items()
                if not error and name in had
            ]
            group = [("group", message.group_id)] if deleted else []
            self._recorder.record(request, "OffsetDelete", group, deleted)
            return _response(answer, message)

        self._groups.answer(request.ticket, answered)
        deleting = self._groups.coordinator.delete_offsets(
            request.ticket, message.group_id, known, now
        )
        return self._groups.run(deleting, now)


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
