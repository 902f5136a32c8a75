"""The headers of neighbouring batches as columns: what a cleaning decides by them, it decides for many at a time."""

from functools import cached_property
from struct import Struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from brokers.records.batch import (
    COMPRESSION_MASK,
    CONTROL,
    HEADER_SIZE,
    TRANSACTIONAL,
    BatchHeader,
    parse_header,
)
from brokers.records.record_columns import Numbers, Spans

_FIELDS: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
_COLUMN: Final = np.arange(HEADER_SIZE)
SPECIAL: Final = CONTROL | TRANSACTIONAL
LENGTH: Final = Struct(">8xi")  # of a batch, less the twelve bytes up to its end


class BatchColumns:
    """One row a batch: batch i begins at `data[starts[i]]`. `data` has all headers; their records, where a caller reads
    them."""

    def __init__(self, data: bytes, starts: Numbers) -> None:
        self.data = data
        self.starts = starts
        octets = np.frombuffer(data, np.uint8)
        self._fields: NDArray[np.void] = octets[starts[:, None] + _COLUMN].view(_FIELDS)[:, 0]

    def __len__(self) -> int:
        return len(self.starts)

    def column(self, name: str) -> Numbers:
        """A field as Kafka writes it; `length` is that of what follows it."""
        return self._fields[name].astype(np.int64)

    def header(self, row: int) -> BatchHeader:
        return parse_header(self.data, int(self.starts[row]))

    def batch(self, row: int) -> memoryview:
        """Its bytes."""
        return memoryview(self.data)[int(self.starts[row]) : int(self.ends[row])]

    @cached_property
    def lengths(self) -> Numbers:
        return self.column("length") + LENGTH.size

    @cached_property
    def ends(self) -> Numbers:
        return self.starts + self.lengths

    @cached_property
    def base_offsets(self) -> Numbers:
        return self.column("base_offset")

    @cached_property
    def last_offset_deltas(self) -> Numbers:
        return self.column("last_offset_delta")

    @cached_property
    def next_offsets(self) -> Numbers:
        return self.base_offsets + self.last_offset_deltas + 1

    @cached_property
    def record_counts(self) -> Numbers:
        return self.column("record_count")

    @cached_property
    def attributes(self) -> Numbers:
        return self.column("attributes")

    @cached_property
    def special(self) -> list[int]:
        """The rows of control batches, and of those that belong to a transaction."""
        rows: list[int] = (self.attributes & SPECIAL).nonzero()[0].tolist()
        return rows

    @cached_property
    def compressions(self) -> Numbers:
        return self.attributes & COMPRESSION_MASK

    def spans(self, rows: Numbers) -> Spans:
        """Of uncompressed records in `data`."""
        return Spans(
            self.starts[rows] + HEADER_SIZE,
            self.ends[rows],
            self.record_counts[rows],
            self.base_offsets[rows],
            self.last_offset_deltas[rows],
        )
