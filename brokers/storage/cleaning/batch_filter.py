"""What is left of one batch (Kafka's MemoryRecords.filterTo; KIP-534).

A batch keeps its base offset, its last offset delta, its producer's fields and its leader epoch, and each record that
is left keeps its offset. One without records is kept, as a header alone, for a reason that the caller has. The horizon
of deletion markers is written as the base timestamp of a batch with a bit in its attributes: the time from which they
may go.
"""

from typing import Final, NamedTuple

from brokers.ids import Instant, Offset
from brokers.records.batch import COMPRESSION_MASK, HEADER_SIZE, BatchHeader, pack_header, renew_crc
from brokers.records.builder import put_varint
from brokers.records.compression import GZIP, LZ4, ZSTD, decompress
from brokers.records.raw_records import RawRecord, raw_records
from brokers.records.recompression import LZ4_DEFAULT, compress
from brokers.storage.cleaning.cleaning_plan import CleaningPlan
from brokers.storage.cleaning.offset_map import OffsetMap, SmallOffsetMap

DELETE_HORIZON: Final = 0b100_0000
NO_TIMESTAMP: Final = -1
_LEVELS: Final = {GZIP: -1, LZ4: LZ4_DEFAULT, ZSTD: 3}  # Kafka's defaults
_BODY: Final = 2  # of a `RawRecord`


class Left(NamedTuple):
    """The batch that is left; `data` is None where nothing is, and the batch itself where nothing changed."""

    header: BatchHeader
    data: memoryview | bytearray | None
    records: int
    without_key: int = 0
    lost_marker: bool = False  # a deletion marker, or a transaction's


def delete_horizon(header: BatchHeader) -> Instant | None:
    """When the deletion markers of a batch may go; None if that is not set yet."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON else None


class BatchFilter:
    """Of one cleaning. `offsets` has the last offset of each key below `end`; what lies above is kept as it is."""

    def __init__(
        self, offsets: OffsetMap | SmallOffsetMap, end: Offset, plan: CleaningPlan
    ) -> None:
        self._get = offsets.get
        self._end = end
        self._plan = plan
        self._now = plan.now
        self._horizon = plan.now + plan.delete_retention_ms

    def _is_over(self, header: BatchHeader) -> bool:
        """Whether the markers of a batch may go."""
        horizon = delete_horizon(header)
        if horizon is None or horizon > self._now:
            return False
        is_held = header.next_offset > self._plan.keep_markers_from
        return not is_held or horizon + self._plan.keep_markers_ms <= self._now

    def keep(self, header: BatchHeader, batch: memoryview, *, keep_empty: bool) -> Left:
        """A data batch that was not aborted."""
        if header.base_offset >= self._end or header.record_count == 0:
            is_kept = header.record_count > 0 or keep_empty
            return Left(header, batch if is_kept else None, header.record_count)
        data = records_of(header, batch)
        kept, without_key, has_markers, lost = self._kept_records(header, data)
        if not kept:
            return Left(*self.empty(header, keep_empty=keep_empty), 0, without_key, lost)
        needs_horizon = has_markers and delete_horizon(header) is None
        if len(kept) == header.record_count and not needs_horizon:
            return Left(header, batch, len(kept), without_key, lost)
        made = self._rebuilt(header, data, kept, set_horizon=needs_horizon)
        return Left(*made, len(kept), without_key, lost)

    def keep_marker(
        self, header: BatchHeader, batch: memoryview, *, is_idle: bool, keep_empty: bool
    ) -> Left:
        """A control batch; `is_idle`: no data of its transaction is left."""
        horizon = delete_horizon(header)
        if not is_idle or header.record_count == 0:
            is_kept = header.record_count > 0 or keep_empty
            return Left(header, batch if is_kept else None, header.record_count)
        if horizon is None:
            data = records_of(header, batch)
            kept = list(raw_records(data, header.record_count, header.last_offset_delta))
            return Left(*self._rebuilt(header, data, kept, set_horizon=True), len(kept))
        if not self._is_over(header):
            return Left(header, batch, header.record_count)
        return Left(*self.empty(header, keep_empty=keep_empty), 0, lost_marker=True)

    def empty(
        self, header: BatchHeader, *, keep_empty: bool
    ) -> tuple[BatchHeader, bytearray | None]:
        """A batch without its records: a header alone, or nothing."""
        if not keep_empty:
            return header, None
        attributes = header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON)
        made = header._replace(
            length=HEADER_SIZE,
            attributes=attributes,
            base_timestamp=NO_TIMESTAMP,
            record_count=0,
        )
        return _sealed(made, bytearray(HEADER_SIZE))

    def _kept_records(
        self, header: BatchHeader, data: bytes
    ) -> tuple[list[RawRecord], int, bool, bool]:
        """(the records that are kept, how many had no key, whether deletion markers were kept, and were removed)."""
        kept: list[RawRecord] = []
        without_key, has_markers, lost_marker = 0, False, False
        base, get = header.base_offset, self._get
        may_drop_markers = self._is_over(header)
        for record in raw_records(data, header.record_count, header.last_offset_delta):
            _, _, _, delta, key, has_value = record
            if key is None:
                without_key += 1
            elif base + delta >= get(key):
                if has_value:
                    kept.append(record)
                elif may_drop_markers:
                    lost_marker = True
                else:
                    has_markers = True
                    kept.append(record)
        return kept, without_key, has_markers, lost_marker

    def _rebuilt(
        self, header: BatchHeader, data: bytes, kept: list[RawRecord], *, set_horizon: bool
    ) -> tuple[BatchHeader, bytearray]:
        attributes, base_timestamp = header.attributes, header.base_timestamp
        pieces: list[bytes]
        times = [base_timestamp + _time_delta(data, each) for each in kept]
        if set_horizon:
            attributes, base_timestamp = attributes | DELETE_HORIZON, self._horizon
            pieces = [
                _with_time(data, each, time - base_timestamp)
                for each, time in zip(kept, times, strict=True)
            ]
        else:
            pieces = [data[start:end] for start, end, *_ in kept]
        packed = compress(header.compression, b"".join(pieces), _LEVELS.get(header.compression, 0))
        made = header._replace(
            length=HEADER_SIZE + len(packed),
            attributes=attributes,
            base_timestamp=base_timestamp,
            max_timestamp=header.max_timestamp if header.is_append_time else max(times),
            record_count=len(kept),
        )
        return _sealed(made, bytearray(HEADER_SIZE) + packed)


def records_of(header: BatchHeader, batch: memoryview) -> bytes:
    """The records of a batch, decompressed."""
    data = decompress(header.compression, batch[HEADER_SIZE:])
    return data if isinstance(data, bytes) else bytes(data)


def _sealed(header: BatchHeader, batch: bytearray) -> tuple[BatchHeader, bytearray]:
    pack_header(batch, header)
    renew_crc(batch, 0, len(batch))
    return header, batch


def _time_delta(data: bytes, record: RawRecord) -> int:
    value, shift, position = 0, 0, record[_BODY] + 1
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1)
        position, shift = position + 1, shift + 7


def _with_time(data: bytes, record: RawRecord, delta: int) -> bytes:
    """The record with another timestamp delta."""
    _, end, start, *_ = record
    rest = start + 1
    while data[rest] >= 0x80:
        rest += 1
    body = bytearray(data[start : start + 1])
    put_varint(body, delta)
    body += data[rest + 1 : end]
    out = bytearray()
    put_varint(out, len(body))
    return bytes(out + body)
