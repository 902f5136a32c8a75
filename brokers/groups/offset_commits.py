"""Offset commits: validation, their records, and the replay of these. Kafka's OffsetMetadataManager has this part."""

from collections.abc import Iterable, Mapping

from brokers.coordinator.effects import CoordinatorEffect
from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import MEMBER_API_ERRORS, GroupState, MemberApi
from brokers.groups.records import STRING_BYTES_MAX, OffsetCommitRecord
from brokers.groups.requests import NO_GENERATION, NO_MEMBER, CommitRequest
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.region import GroupOffsetsChanged

INSTANT_MAX = 2**63 - 1


def validate_commit(group: ClassicGroup, request: CommitRequest) -> KafkaError:
    """Kafka's validateOffsetCommit: the error for a commit of this member and generation, or NONE."""
    if request.generation < 0 and group.state is GroupState.EMPTY:
        return KafkaError.NONE  # standalone consumers and administrators
    if not _names_a_member(request):
        return KafkaError.UNKNOWN_MEMBER_ID  # would overwrite the members' offsets
    error = validate_member(group, request.member_id, request.instance_id)
    if error:
        return error
    if request.generation != group.generation:
        return KafkaError.ILLEGAL_GENERATION
    return MEMBER_API_ERRORS[MemberApi.COMMIT][group.state]


def reset_of(group: ClassicGroup, request: CommitRequest) -> dict[TopicPartition, str]:
    """The moves of a commit that resets a group's offsets: it names no member, and the group has had members, or an
    offset goes back. A standalone consumer's commits go forward, in a group that never has members."""
    if _names_a_member(request):
        return {}
    moves = {
        partition: (had.offset if (had := group.offsets.get(partition)) is not None else None, to)
        for partition, (to, *_) in request.offsets.items()
    }
    goes_back = any(was is not None and to < was for was, to in moves.values())
    if group.protocol_type is None and not goes_back:
        return {}
    return {
        partition: f"{partition} to {to}" + ("" if was is None else f" from {was}")
        for partition, (was, to) in moves.items()
        if was != to
    }


def _names_a_member(request: CommitRequest) -> bool:
    return (
        request.generation > NO_GENERATION
        or request.member_id != NO_MEMBER
        or request.instance_id is not None
    )


def validate_member(group: ClassicGroup, member_id: str, instance_id: str | None) -> KafkaError:
    """Kafka's validateMember: NONE for a member. KIP-345 fences the former member id of a static member."""
    if instance_id is not None:
        holder = group.static_members.get(instance_id)
        if holder is None:
            return KafkaError.UNKNOWN_MEMBER_ID
        if holder != member_id:
            return KafkaError.FENCED_INSTANCE_ID
    return KafkaError.NONE if member_id in group.members else KafkaError.UNKNOWN_MEMBER_ID


def commit_errors(
    request: CommitRequest, config: GroupCoordinatorConfig
) -> dict[TopicPartition, KafkaError]:
    """One error per partition of the request."""
    return {
        partition: (
            KafkaError.OFFSET_METADATA_TOO_LARGE
            if utf16_length(committed.metadata) > config.metadata_length_max
            or not fits_record(committed)
            else KafkaError.NONE
        )
        for partition, committed in request.offsets.items()
    }


def fits_record(committed: OffsetAndMetadata) -> bool:
    """Whether a record can hold the metadata, whatever `offset.metadata.max.bytes` allows."""
    return len(committed.metadata.encode()) <= STRING_BYTES_MAX


def utf16_length(text: str) -> int:
    """Java's `String.length`."""
    return len(text) + sum(character > "\uffff" for character in text)


def commit_records(
    group: str,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    retention_ms: int | None,
    now: Instant,
) -> list[OffsetCommitRecord]:
    """An offset without a commit time gets `now`."""
    expires_at = None if retention_ms is None else min(now + retention_ms, INSTANT_MAX)
    return [
        OffsetCommitRecord(
            group,
            partition,
            committed if committed.committed_at >= 0 else committed._replace(committed_at=now),
            expires_at,
        )
        for partition, committed in offsets.items()
    ]


def tombstones(group: str, partitions: Iterable[TopicPartition]) -> list[OffsetCommitRecord]:
    return [OffsetCommitRecord(group, partition, None) for partition in dict.fromkeys(partitions)]


def replay(group: ClassicGroup, record: OffsetCommitRecord) -> None:
    """The only function that changes a group's offsets once it is loaded."""
    if record.offset is None:
        group.offsets.pop(record.partition, None)
    else:
        group.offsets.put(record.partition, record.offset, record.expires_at)


def replay_all(group: ClassicGroup, records: list[OffsetCommitRecord]) -> list[CoordinatorEffect]:
    for record in records:
        replay(group, record)
    if not records:
        return []
    return [GroupOffsetsChanged(group.id, {record.partition: record.offset for record in records})]
