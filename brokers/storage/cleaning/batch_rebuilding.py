"""Makes a batch of the records of it that are left."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import crc32c
import numpy as np

from brokers.ids import Buffer, Instant
from brokers.records.batch import (
    COMPRESSION_MASK,
    CRC_FROM,
    DELETE_HORIZON,
    HEADER_SIZE,
    BatchHeader,
    pack_header,
    put_crc,
)
from brokers.records.builder import put_varint
from brokers.records.compression import GZIP, LZ4, ZSTD
from brokers.records.recompression import LZ4_DEFAULT, compress
from brokers.records.record_columns import Numbers, RecordColumns, Spans

NO_TIMESTAMP: Final = -1
_LEVELS: Final = {GZIP: -1, LZ4: LZ4_DEFAULT, ZSTD: 3}  # Kafka's defaults


class Left(NamedTuple):
    """A batch that takes the place of another, in one piece or more."""

    header: BatchHeader
    pieces: Sequence[Buffer]


def delete_horizon(header: BatchHeader) -> Instant | None:
    """When the deletion markers of a batch may go; None if that is not set yet."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON else None


def emptied(header: BatchHeader) -> Left:
    """A batch without its records: a header alone."""
    attributes = header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON)
    made = header._replace(
        length=HEADER_SIZE, attributes=attributes, base_timestamp=NO_TIMESTAMP, record_count=0
    )
    return _sealed(made, b"")


def with_horizon(header: BatchHeader, batch: memoryview, horizon: Instant) -> Left:
    """An uncompressed batch with all its records, and this horizon."""
    data, count = bytes(batch[HEADER_SIZE:]), header.record_count
    numbers = (0, len(data), count, header.base_offset, header.last_offset_delta)
    columns = RecordColumns(data, Spans(*(np.array([each]) for each in numbers)))
    rebuilding = Rebuilding(columns, np.arange(count))
    return rebuilding.rebuilt(0, header, count, horizon)


class Rebuilding:
    """Of the records in `columns`, these `rows` are left."""

    def __init__(self, columns: RecordColumns, rows: Numbers) -> None:
        data, batch_of = columns.data, columns.batches[rows]
        batches = len(columns.spans.counts)
        numbers = np.arange(batches + 1)
        is_first = np.ones(len(rows), np.bool_)  # of neighbours in one batch
        is_first[1:] = (rows[1:] != rows[:-1] + 1) | (batch_of[1:] != batch_of[:-1])
        is_last = np.ones(len(rows), np.bool_)
        is_last[:-1] = is_first[1:]
        starts, ends = columns.starts[rows[is_first]].tolist(), columns.ends[rows[is_last]].tolist()
        self._columns = columns
        self._rows = rows
        self._first_row = np.searchsorted(batch_of, numbers).tolist()
        self._runs = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        self._first_run = np.searchsorted(batch_of[is_first], numbers).tolist()
        self._time_deltas = columns.time_deltas(rows)

    def rebuilt(
        self, number: int, header: BatchHeader, records: int, horizon: Instant | None
    ) -> Left:
        """What is left of batch `number`; with a horizon that is not set yet, or None."""
        attributes, base_timestamp = header.attributes, header.base_timestamp
        if horizon is None:
            data = b"".join(self._runs[self._first_run[number] : self._first_run[number + 1]])
        else:
            attributes, base_timestamp = attributes | DELETE_HORIZON, horizon
            data = b"".join(self._with_times(number, header.base_timestamp - horizon))
        rows = slice(*self._first_row[number : number + 2])
        latest = header.base_timestamp + int(self._time_deltas[rows].max())
        packed = compress(header.compression, data, _LEVELS.get(header.compression, 0))
        made = header._replace(
            length=HEADER_SIZE + len(packed),
            attributes=attributes,
            base_timestamp=base_timestamp,
            max_timestamp=header.max_timestamp if header.is_append_time else latest,
            record_count=records,
        )
        return _sealed(made, packed)

    def _with_times(self, number: int, difference: int) -> list[bytes]:
        """The records of a batch with other timestamp deltas."""
        columns, part = self._columns, slice(*self._first_row[number : number + 2])
        rows = self._rows[part]
        return [
            _with_time(columns.data, body, end, delta + difference)
            for body, end, delta in zip(
                columns.bodies[rows].tolist(),
                columns.ends[rows].tolist(),
                self._time_deltas[part].tolist(),
                strict=True,
            )
        ]


def _with_time(data: bytes, body: int, end: int, delta: int) -> bytes:
    rest = body + 1
    while data[rest] >= 0x80:
        rest += 1
    made = bytearray(data[body : body + 1])
    put_varint(made, delta)
    made += data[rest + 1 : end]
    out = bytearray()
    put_varint(out, len(made))
    return bytes(out + made)


def _sealed(header: BatchHeader, data: Buffer) -> Left:
    head = bytearray(HEADER_SIZE)
    pack_header(head, header)
    put_crc(head, 0, crc32c.crc32c(data, crc32c.crc32c(memoryview(head)[CRC_FROM:])))
    return Left(header, (head, data))
