"""Metadata records to the batches of the metadata log and of snapshots, and back."""

from collections.abc import Iterator, Sequence
from struct import Struct

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset
from brokers.metadata import records
from brokers.metadata.records import MetadataLogError
from brokers.records.batch import BatchError, BatchHeader, iter_headers, verify_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import Record, open_batch
from brokers.wire import codec
from brokers.wire.message import Message

# Types of control records. KIP-595, KIP-630.
LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = 2, 3, 4

_CONTROL_KEY = Struct(">hh")  # version, type


def data_batch(
    messages: Sequence[Message], *, base_offset: Offset, leader_epoch: LeaderEpoch, now: Instant
) -> bytearray:
    """One batch with these records."""
    made = [NewRecord(None, records.encode(message)) for message in messages]
    return build_batch(made, timestamp=now, base_offset=base_offset, leader_epoch=leader_epoch)


def control_batch(
    kind: int, message: Message, *, base_offset: Offset, leader_epoch: LeaderEpoch, now: Instant
) -> bytearray:
    """One control batch with one record, version 0 of its message."""
    record = NewRecord(_CONTROL_KEY.pack(0, kind), codec.encode_record(message, 0))
    return build_batch(
        [record],
        timestamp=now,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        is_control=True,
    )


def read_batches(data: Buffer) -> Iterator[tuple[BatchHeader, list[Message] | int]]:
    """Each batch of `data`: its header, and its metadata records or the type of its (first) control record.

    Raises `MetadataLogError` at any damage.
    """
    view = memoryview(data)
    position = 0
    try:
        for position, header in iter_headers(view):
            batch = view[position : position + header.length]
            if not verify_crc(batch, header):
                raise MetadataLogError(f"metadata batch {header.base_offset}: wrong checksum")
            position += header.length
            opened = open_batch(batch)
            yield header, _control_type(next(opened)) if header.is_control else _messages(opened)
    except BatchError as error:
        raise MetadataLogError(f"a metadata batch cannot be read: {error.because}") from None
    if position != len(view):
        raise MetadataLogError("a metadata batch is cut short")


def _messages(opened: Iterator[Record]) -> list[Message]:
    return [records.decode(record.value or b"") for record in opened]


def _control_type(record: Record) -> int:
    if record.key is None or len(record.key) != _CONTROL_KEY.size:
        raise MetadataLogError("a control record without a type")
    kind: int = _CONTROL_KEY.unpack(record.key)[1]
    return kind
