"""Control records of the metadata log and of snapshots: the leader, the voters, a snapshot's header and footer."""

from collections.abc import Iterator, Sequence
from struct import Struct

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset
from brokers.records.batch import BatchError, BatchHeader, iter_headers, verify_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import Record, open_batch
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages.control_records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from brokers.wire.primitives import WireError

# KIP-595, KIP-630, KIP-853.
_TYPES: dict[type[Message], int] = {
    LeaderChangeMessage: 2,
    SnapshotHeaderRecord: 3,
    SnapshotFooterRecord: 4,
    KRaftVersionRecord: 5,
    VotersRecord: 6,
}
_NAMES = {kind: of.__name__ for of, kind in _TYPES.items()}
_KEY = Struct(">hh")  # version, type


class MetadataLogError(Exception):
    """The metadata log or a snapshot cannot be read, or contradicts what is committed: the node must stop."""


def control_batch(
    messages: Sequence[Message], *, base_offset: Offset, leader_epoch: LeaderEpoch, now: Instant
) -> bytearray:
    """One control batch; each record is encoded in the version in its field `version`."""
    return build_batch(
        [_record(message) for message in messages],
        timestamp=now,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        is_control=True,
    )


def control_messages(batch: Buffer) -> list[Message]:
    """The records of a control batch, without those of unknown types. Raises `MetadataLogError` if it is corrupt."""
    try:
        found = [_message(record) for record in open_batch(batch)]
    except (BatchError, WireError) as error:
        raise MetadataLogError(f"a control batch cannot be read: {error}") from None
    return [message for message in found if message is not None]


def checked_batches(data: Buffer) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Each batch of `data`; raises `MetadataLogError` for an incomplete batch or a wrong checksum."""
    view = memoryview(data)
    position = 0
    try:
        for position, header in iter_headers(view):
            batch = view[position : position + header.length]
            if not verify_crc(batch, header):
                raise MetadataLogError(f"metadata batch {header.base_offset}: wrong checksum")
            position += header.length
            yield header, batch
    except BatchError as error:
        raise MetadataLogError(f"a metadata batch cannot be read: {error.because}") from None
    if position != len(view):
        raise MetadataLogError("a metadata batch is cut short")


def _record(message: Message) -> NewRecord:
    version: int = message.version  # type: ignore[attr-defined]
    kind = _TYPES[type(message)]
    return NewRecord(_KEY.pack(version, kind), codec.encode_record(message, version))


def _message(record: Record) -> Message | None:
    if record.key is None or len(record.key) != _KEY.size:
        raise MetadataLogError("a control record without a type")
    version, kind = _KEY.unpack(record.key)
    name = _NAMES.get(kind)
    return None if name is None else codec.decode_record(name, version, record.value or b"", 0)
