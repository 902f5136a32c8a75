"""OffsetCommit (key 8): how far a group has read, kept in `__consumer_offsets`.

Versions 2-10; up to 4 a commit may say how long it lives, 10 names topics by id. Answered when the offsets are
committed in the log.
"""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.requests import CommitRequest, CommitResult
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.membership.operation_recorder import OperationRecorder
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

KEY = ApiKey.OFFSET_COMMIT
VERSIONS = (2, 10)
TOPIC_IDS_FROM = 10
UNKNOWN_GROUP_FROM = 9  # GROUP_ID_NOT_FOUND (KIP-848); before, the generation was called illegal


class OffsetCommitHandler:
    """Answers OffsetCommit requests."""

    def __init__(
        self, metadata: MetadataCache, groups: Groups, recorder: OperationRecorder
    ) -> None:
        self._metadata = metadata
        self._groups = groups
        self._recorder = recorder

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, OffsetCommitRequest)
        names = [self._name(topic, request.api_version) for topic in message.topics]
        offsets = {
            TopicPartition(name, item.partition_index): OffsetAndMetadata(
                item.committed_offset, item.committed_leader_epoch, item.committed_metadata or ""
            )
            for name, topic in zip(names, message.topics, strict=True)
            for item in topic.partitions
            if name is not None and self._exists(name, item.partition_index)
        }
        asked = CommitRequest(
            group=message.group_id,
            generation=message.generation_id_or_member_epoch,
            member_id=message.member_id,
            instance_id=message.group_instance_id,
            offsets=offsets,
            retention_ms=message.retention_time_ms if message.retention_time_ms >= 0 else None,
        )
        moves = self._groups.coordinator.offset_reset(asked)

        def answered(answer: CommitResult) -> OffsetCommitResponse:
            if moves:
                done = [move for name, move in moves.items() if not answer.errors.get(name)]
                group = [("group", asked.group)] if done else []
                self._recorder.record(request, "OffsetCommit", group, done)
            return _response(answer, message, names, request.api_version)

        self._groups.answer(request.ticket, answered)
        return self._groups.run(self._groups.coordinator.commit(request.ticket, asked, now), now)

    def _name(self, topic: OffsetCommitRequestTopic, version: int) -> str | None:
        if version < TOPIC_IDS_FROM:
            return topic.name
        known = self._metadata.image.topics_by_id.get(topic.topic_id)
        return None if known is None else known.name

    def _exists(self, name: str, partition: int) -> bool:
        return self._metadata.image.partition(TopicPartition(name, partition)) is not None


def _response(
    answer: CommitResult, message: OffsetCommitRequest, names: list[str | None], version: int
) -> OffsetCommitResponse:
    def error(name: str | None, partition: int) -> KafkaError:
        if name is None:
            return KafkaError.UNKNOWN_TOPIC_ID
        error = answer.errors.get(
            TopicPartition(name, partition), KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        )
        if error is KafkaError.GROUP_ID_NOT_FOUND and version < UNKNOWN_GROUP_FROM:
            return KafkaError.ILLEGAL_GENERATION
        return error

    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=item.partition_index,
                        error_code=error(name, item.partition_index),
                    )
                    for item in topic.partitions
                ],
            )
            for name, topic in zip(names, message.topics, strict=True)
        ]
    )
