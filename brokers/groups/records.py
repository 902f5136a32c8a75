"""The records of `__consumer_offsets`, in Kafka's format.

Offset commits and groups are written as value version 3, the newest that every tool that reads this topic understands.
An offset with an expiry of its own needs version 1, the only version with the field, and loses its leader epoch, as in
Kafka. Any version is read. A value of None is a tombstone.
"""

import struct
from dataclasses import dataclass
from struct import Struct
from typing import TypeAlias, TypeVar

from brokers.ids import Buffer, Instant, OffsetAndMetadata, TopicPartition
from brokers.wire.codec import decode_record, encode_record, record_versions
from brokers.wire.message import Message
from brokers.wire.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from brokers.wire.primitives import WireError

OFFSET_KEY = 1
GROUP_KEY = 2
OFFSET_VALUE = 3
OFFSET_VALUE_WITH_EXPIRY = 1
GROUP_VALUE = 3
STRING_BYTES_MAX = 32_767  # of a string in these versions

_VERSION = Struct(">h")
_OFFSET_KEYS = (0, OFFSET_KEY)
_KEY_START = Struct(">hh")  # type, length of the group's id
_PARTITION = Struct(">i")
# After the version: offset, leader epoch, length of the metadata, which follows.
_CURRENT_VALUE = Struct(">2xqih")
_TIMESTAMP = Struct(">q")  # after the metadata
_CURRENT_BYTES = _CURRENT_VALUE.size + _TIMESTAMP.size  # of a value without metadata
_METADATA_LENGTH_AT = _CURRENT_VALUE.size - 2
PLAIN_VALUE_BYTES = _CURRENT_BYTES  # without metadata, as nearly all are
# Where a current value without metadata is the same as all others.
PLAIN_COLUMNS = (
    (0, b"\0"), (1, b"\3"), (_METADATA_LENGTH_AT, b"\0"), (_METADATA_LENGTH_AT + 1, b"\0"),
)  # fmt: skip
PARTITION_BYTES = _PARTITION.size  # at the end of an offset's key

Stored = TypeVar("Stored", bound=Message)


class RecordError(ValueError):
    """A record of a known type cannot be decoded."""


@dataclass(frozen=True, slots=True)
class OffsetCommitRecord:
    """One committed offset; None is a tombstone. `expires_at` is set only where the commit had its own retention."""

    group: str
    partition: TopicPartition
    offset: OffsetAndMetadata | None
    expires_at: Instant | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberImage:
    """A member of an assigned generation; `subscription` is its metadata for the chosen protocol."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupImage:
    """A group as of one generation."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp: Instant
    members: tuple[MemberImage, ...]


@dataclass(frozen=True, slots=True)
class GroupMetadataRecord:
    """A group as of one generation; None is a tombstone."""

    group: str
    image: GroupImage | None


CoordinatorRecord: TypeAlias = OffsetCommitRecord | GroupMetadataRecord


def encode(record: CoordinatorRecord) -> tuple[bytes, bytes | None]:
    """Key and value."""
    if isinstance(record, OffsetCommitRecord):
        topic, partition = record.partition
        key = OffsetCommitKey(group=record.group, topic=topic, partition=partition)
        return _versioned(OFFSET_KEY, key), _offset_value(record)
    group_key = _versioned(GROUP_KEY, GroupMetadataKey(group=record.group))
    return group_key, _group_value(record.image)


def decode(key: Buffer | None, value: Buffer | None) -> CoordinatorRecord | None:
    """The record; None for other types of records in this topic (KIP-848, share and streams groups).

    Raises RecordError for a record that cannot be decoded.
    """
    try:
        kind = _version(key)
        if kind in _OFFSET_KEYS:
            return _decode_offset(kind, key, value)
        return _decode_group(key, value) if kind == GROUP_KEY else None
    except WireError as error:
        raise RecordError(str(error)) from None


def split_offset_key(key: bytes) -> tuple[str, str, int] | None:
    """Group, topic and partition in an offset's key; None for any other key, whole or not.

    The same as from `decode`, in a fifth of the time: a coordinator that is loaded reads one for each key.
    """
    try:
        kind, length = _KEY_START.unpack_from(key)
        topic_at = _KEY_START.size + length
        (topic_length,) = _VERSION.unpack_from(key, topic_at)
        end = topic_at + _VERSION.size + topic_length
        if kind not in _OFFSET_KEYS or length < 0 or topic_length < 0:
            return None
        (partition,) = _PARTITION.unpack_from(key, end)
        if end + PARTITION_BYTES != len(key):
            return None
        group = key[_KEY_START.size : topic_at].decode()
        return group, key[topic_at + _VERSION.size : end].decode(), partition
    except (struct.error, UnicodeDecodeError):
        return None


def is_current_value(value: bytes) -> bool:
    """Whether it is the value of an offset as `encode` writes it today, and can be decoded."""
    size = len(value)
    if size < _CURRENT_BYTES or value[1] != OFFSET_VALUE or value[0]:
        return False
    length = value[_METADATA_LENGTH_AT] << 8 | value[_METADATA_LENGTH_AT + 1]
    if size != _CURRENT_BYTES + length or length > STRING_BYTES_MAX:
        return False
    start = _CURRENT_VALUE.size
    return not length or value[start : start + length].isascii()


def decode_current_value(value: bytes) -> OffsetAndMetadata:
    """The offset in a value for which `is_current_value` holds."""
    offset, leader_epoch, length = _CURRENT_VALUE.unpack_from(value)
    start = _CURRENT_VALUE.size
    metadata = value[start : start + length].decode()
    (committed_at,) = _TIMESTAMP.unpack_from(value, start + length)
    return OffsetAndMetadata(offset, leader_epoch, metadata, committed_at)


def time_in_current_value(value: bytes) -> Instant:
    """When the offset in such a value was committed."""
    (committed_at,) = _TIMESTAMP.unpack_from(value, len(value) - _TIMESTAMP.size)
    return int(committed_at)


def _versioned(version: int, message: OffsetCommitKey | GroupMetadataKey) -> bytes:
    return _VERSION.pack(version) + encode_record(message, version)


def _version(data: Buffer | None) -> int:
    if data is None or len(data) < _VERSION.size:
        raise RecordError("a record begins with its version, this one is shorter")
    return int(_VERSION.unpack_from(data)[0])


def _offset_value(record: OffsetCommitRecord) -> bytes | None:
    if record.offset is None:
        return None
    offset, leader_epoch, metadata, committed_at = record.offset
    version = OFFSET_VALUE if record.expires_at is None else OFFSET_VALUE_WITH_EXPIRY
    value = OffsetCommitValue(
        offset=offset,
        leader_epoch=leader_epoch,
        metadata=metadata,
        commit_timestamp=committed_at,
        expire_timestamp=-1 if record.expires_at is None else record.expires_at,
    )
    return _VERSION.pack(version) + encode_record(value, version)


def _group_value(image: GroupImage | None) -> bytes | None:
    if image is None:
        return None
    value = GroupMetadataValue(
        protocol_type=image.protocol_type,
        generation=image.generation,
        protocol=image.protocol,
        leader=image.leader,
        current_state_timestamp=image.state_timestamp,
        members=[
            MemberMetadata(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in image.members
        ],
    )
    return _VERSION.pack(GROUP_VALUE) + encode_record(value, GROUP_VALUE)


def _decode_offset(kind: int, key: Buffer | None, value: Buffer | None) -> OffsetCommitRecord:
    name = _message(OffsetCommitKey, key, kind)
    partition = TopicPartition(name.topic, name.partition)
    if value is None:
        return OffsetCommitRecord(name.group, partition, None)
    stored = _message(OffsetCommitValue, value)
    offset = OffsetAndMetadata(
        stored.offset, stored.leader_epoch, stored.metadata, stored.commit_timestamp
    )
    expires_at = stored.expire_timestamp if stored.expire_timestamp >= 0 else None
    return OffsetCommitRecord(name.group, partition, offset, expires_at)


def _decode_group(key: Buffer | None, value: Buffer | None) -> GroupMetadataRecord:
    name = _message(GroupMetadataKey, key, GROUP_KEY)
    if value is None:
        return GroupMetadataRecord(name.group, None)
    stored = _message(GroupMetadataValue, value)
    image = GroupImage(
        protocol_type=stored.protocol_type,
        generation=stored.generation,
        protocol=stored.protocol,
        leader=stored.leader,
        state_timestamp=stored.current_state_timestamp,
        members=tuple(_decode_member(member) for member in stored.members),
    )
    _group_value(image)  # fails here, not with the next generation, if it cannot be written
    return GroupMetadataRecord(name.group, image)


def _decode_member(stored: MemberMetadata) -> MemberImage:
    timeout = stored.rebalance_timeout  # absent in version 0, when the session timeout did both
    return MemberImage(
        id=stored.member_id,
        instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        rebalance_timeout_ms=timeout if timeout >= 0 else stored.session_timeout,
        session_timeout_ms=stored.session_timeout,
        subscription=bytes(stored.subscription),
        assignment=bytes(stored.assignment),
    )


def _message(kind: type[Stored], data: Buffer | None, version: int | None = None) -> Stored:
    """Decodes the message after the version. A value starts with its version; a key's version is its record type.

    Raises RecordError for an unknown version.
    """
    version = _version(data) if version is None else version
    first, last = record_versions(kind.__name__)
    if data is None or not first <= version <= last:
        raise RecordError(f"{kind.__name__} of version {version} is unknown")
    message = decode_record(kind, version, data, _VERSION.size)
    assert isinstance(message, kind)
    return message
