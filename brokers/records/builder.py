"""Builds batches: of group offsets, metadata and control records, and for tests and the simulator.

Uncompressed, as Kafka writes its internal topics by default.
"""

from collections.abc import Sequence
from typing import NamedTuple

from brokers.ids import (
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER,
    Instant,
    LeaderEpoch,
    Offset,
    ProducerId,
)
from brokers.records.batch import (
    CONTROL,
    HEADER_SIZE,
    TRANSACTIONAL,
    BatchHeader,
    pack_header,
    renew_crc,
)

RecordHeaders = Sequence[tuple[bytes, bytes | None]]


class NewRecord(NamedTuple):
    """A record to be written; a timestamp of None is the batch's."""

    key: bytes | None
    value: bytes | None
    headers: RecordHeaders = ()
    timestamp: Instant | None = None


def build_batch(
    records: Sequence[NewRecord],
    *,
    timestamp: Instant,
    base_offset: Offset = 0,
    leader_epoch: LeaderEpoch = NO_PARTITION_LEADER_EPOCH,
    producer_id: ProducerId = NO_PRODUCER,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_control: bool = False,
    transactional: bool = False,
) -> bytearray:
    """The bytes of one RecordBatch v2 with these records at `base_offset`, `base_offset` + 1, ..."""
    assert records, "a batch has at least one record"
    times = [timestamp if record.timestamp is None else record.timestamp for record in records]
    batch = bytearray(HEADER_SIZE)
    for delta, (record, time) in enumerate(zip(records, times, strict=True)):
        _put_record(batch, record, delta, time - times[0])
    header = BatchHeader(
        base_offset=base_offset,
        length=len(batch),
        leader_epoch=leader_epoch,
        magic=2,
        crc=0,
        attributes=(CONTROL if is_control else 0) | (TRANSACTIONAL if transactional else 0),
        last_offset_delta=len(records) - 1,
        base_timestamp=times[0],
        max_timestamp=max(times),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    pack_header(batch, header)
    renew_crc(batch, 0, len(batch))
    return batch


def _put_record(batch: bytearray, record: NewRecord, delta: int, time_delta: int) -> None:
    body = bytearray(1)  # attributes: none are defined
    put_varint(body, time_delta)
    put_varint(body, delta)
    _put_bytes(body, record.key)
    _put_bytes(body, record.value)
    put_varint(body, len(record.headers))
    for name, value in record.headers:
        _put_bytes(body, name)
        _put_bytes(body, value)
    put_varint(batch, len(body))
    batch += body


def _put_bytes(out: bytearray, data: bytes | None) -> None:
    put_varint(out, -1 if data is None else len(data))
    out += data or b""


def put_varint(out: bytearray, value: int) -> None:
    """Append a number: zigzag, then seven bits a byte, low bits first."""
    rest = (value << 1) ^ (value >> 63)
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
