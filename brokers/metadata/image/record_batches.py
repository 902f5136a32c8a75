"""Metadata records to and from the batches of the metadata log and of snapshots."""

from collections.abc import Iterator, Sequence

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset
from brokers.metadata.image import record_serde as records
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.quorum.control_records import checked_batches, control_messages
from brokers.records.batch import BatchError, BatchHeader
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from brokers.wire.message import Message


def data_batch(
    messages: Sequence[Message], *, base_offset: Offset, leader_epoch: LeaderEpoch, now: Instant
) -> bytearray:
    """One batch of these records."""
    values = [records.encode(message) for message in messages]
    return value_batch(values, base_offset=base_offset, leader_epoch=leader_epoch, now=now)


def value_batch(
    values: Sequence[bytes], *, base_offset: Offset, leader_epoch: LeaderEpoch, now: Instant
) -> bytearray:
    """One batch of encoded records."""
    made = [NewRecord(None, value) for value in values]
    return build_batch(made, timestamp=now, base_offset=base_offset, leader_epoch=leader_epoch)


def read_batches(data: Buffer) -> Iterator[tuple[BatchHeader, list[Message]]]:
    """Each batch of `data`: its header, and its metadata records or, for a control batch, its control records.

    Raises MetadataLogError for a damaged batch or record.
    """
    for header, batch in checked_batches(data):
        yield header, control_messages(batch) if header.is_control else _messages(batch)


def _messages(batch: memoryview) -> list[Message]:
    try:
        return [records.decode(record.value or b"") for record in open_batch(batch)]
    except BatchError as error:
        raise MetadataLogError(f"a metadata batch cannot be read: {error.because}") from None
