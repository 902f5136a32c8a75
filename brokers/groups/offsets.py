"""Committed offsets: who may commit, what is written, and what changes when it has been."""

from collections.abc import Iterable, Mapping

from brokers.errors import KafkaError
from brokers.groups.config import GroupConfig
from brokers.groups.effects import GroupEffect, OffsetsCommitted
from brokers.groups.membership import Group
from brokers.groups.records import STRING_BYTES_MAX, OffsetRecord
from brokers.groups.requests import NO_GENERATION, NO_MEMBER, CommitRequest
from brokers.groups.states import ANSWERS, Question, State
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition

INSTANT_MAX = 2**63 - 1


def commit_error(group: Group, request: CommitRequest) -> KafkaError:
    """Why this group takes no commit from this sender; NONE if it does."""
    if request.generation < 0 and group.state is State.EMPTY:
        return KafkaError.NONE  # standalone consumers and administrators
    if not _names_a_member(request):
        return KafkaError.UNKNOWN_MEMBER_ID  # they must not write over living members
    error = member_error(group, request.member_id, request.instance_id)
    if error:
        return error
    if request.generation != group.generation:
        return KafkaError.ILLEGAL_GENERATION
    return ANSWERS[Question.COMMIT][group.state]


def _names_a_member(request: CommitRequest) -> bool:
    return (
        request.generation > NO_GENERATION
        or request.member_id != NO_MEMBER
        or request.instance_id is not None
    )


def member_error(group: Group, member_id: str, instance_id: str | None) -> KafkaError:
    """Why these names are no member's: KIP-345 fences whoever held the instance id before."""
    if instance_id is not None:
        holder = group.static_members.get(instance_id)
        if holder is None:
            return KafkaError.UNKNOWN_MEMBER_ID
        if holder != member_id:
            return KafkaError.FENCED_INSTANCE_ID
    return KafkaError.NONE if member_id in group.members else KafkaError.UNKNOWN_MEMBER_ID


def commit_errors(request: CommitRequest, config: GroupConfig) -> dict[TopicPartition, KafkaError]:
    """One per partition of the request."""
    return {
        partition: (
            KafkaError.OFFSET_METADATA_TOO_LARGE
            if utf16_length(committed.metadata) > config.metadata_length_max
            or not has_room(committed)
            else KafkaError.NONE
        )
        for partition, committed in request.offsets.items()
    }


def has_room(committed: OffsetAndMetadata) -> bool:
    """Whether a record can hold the metadata, whatever the node's setting allows."""
    return len(committed.metadata.encode()) <= STRING_BYTES_MAX


def utf16_length(text: str) -> int:
    """Java's `String.length`."""
    return len(text) + sum(character > "\uffff" for character in text)


def commit_records(
    group: str,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    retention_ms: int | None,
    now: Instant,
) -> list[OffsetRecord]:
    """A commit without an instant of its own is made now."""
    expires_at = None if retention_ms is None else min(now + retention_ms, INSTANT_MAX)
    return [
        OffsetRecord(
            group,
            partition,
            committed if committed.committed_at >= 0 else committed._replace(committed_at=now),
            expires_at,
        )
        for partition, committed in offsets.items()
    ]


def tombstones(group: str, partitions: Iterable[TopicPartition]) -> list[OffsetRecord]:
    return [OffsetRecord(group, partition, None) for partition in dict.fromkeys(partitions)]


def replay(group: Group, record: OffsetRecord) -> None:
    """The only thing that changes a group's offsets."""
    group.expiries.pop(record.partition, None)
    if record.offset is None:
        group.offsets.pop(record.partition, None)
        return
    group.offsets[record.partition] = record.offset
    if record.expires_at is not None:
        group.expiries[record.partition] = record.expires_at


def replay_all(group: Group, records: list[OffsetRecord]) -> list[GroupEffect]:
    for record in records:
        replay(group, record)
    if not records:
        return []
    return [OffsetsCommitted(group.id, {record.partition: record.offset for record in records})]
