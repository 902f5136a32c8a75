"""One segment file: hopping from batch to batch, with the sparse offset index as a hint for where to start.

Kafka's index (entries of relative offset and position) is checked against the batch that stands there, and never
believed.
"""

import os
import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES, MAGIC, OFFSET_MAX

INDEX_ENTRY = struct.Struct(">ii")
ENTRIES_EARLY = 4


class SegmentFile(NamedTuple):
    base_offset: int
    path: str
    size: int


def hop(segment: SegmentFile, byte: int) -> Iterator[tuple[int, int, int]]:
    """Base offset, next offset and size of batch after batch, as their headers say, while headers make sense."""
    with open(segment.path, "rb", buffering=0) as file:
        while 0 <= byte <= segment.size - HEADER_BYTES:
            data = os.pread(file.fileno(), HEADER_BYTES, byte)
            if len(data) < HEADER_BYTES:
                return
            header = HEADER.unpack(data)
            base_offset, size, magic, delta = (
                header[0],
                LENGTH_BYTES + header[1],
                header[3],
                header[6],
            )
            if magic != MAGIC or size < HEADER_BYTES or delta < 0 or byte + size > segment.size:
                return
            yield base_offset, base_offset + delta + 1, size
            byte += size


def offset_near(segment: SegmentFile, byte: int) -> int:
    """The base offset of a batch that starts at or shortly before `byte`, by the index; the segment's without one."""
    index = _index(segment)

    def position_of(number: int) -> int:
        return _position(index, number) or (OFFSET_MAX if number else 0)

    found = bisect_right(range(len(index) // INDEX_ENTRY.size), byte, key=position_of)
    start = _position(index, found - 1) if found else 0
    return next((base_offset for base_offset, _, _ in hop(segment, start)), segment.base_offset)


def hint(segment: SegmentFile, offset: int) -> tuple[int, int]:
    """A byte at which a batch at or below `offset` starts, and its base offset, by the index if that holds true."""
    byte = _indexed(_index(segment), offset - segment.base_offset)
    for base_offset, _, _ in hop(segment, byte):
        if segment.base_offset <= base_offset <= offset:
            return byte, base_offset
        break
    return 0, segment.base_offset


def timestamps(segment: SegmentFile) -> Iterator[tuple[int, int, int]]:
    """Base offset, next offset and largest timestamp of batch after batch."""
    byte = 0
    with open(segment.path, "rb", buffering=0) as file:
        for base_offset, next_offset, size in hop(segment, 0):
            header = os.pread(file.fileno(), HEADER_BYTES, byte)
            if len(header) < HEADER_BYTES:
                return
            yield base_offset, next_offset, int(HEADER.unpack(header)[8])
            byte += size


def _index(segment: SegmentFile) -> bytes:
    try:
        with open(segment.path[: -len(".log")] + ".index", "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _position(index: bytes, number: int) -> int:
    return int(INDEX_ENTRY.unpack_from(index, number * INDEX_ENTRY.size)[1])


def _indexed(index: bytes, relative: int) -> int:
    """Position of an entry shortly before `relative`; a live index ends in zeros that are no entries.

    A few entries early, so that hopping on from there meets batches that are out of place around the offset.
    """

    def key(number: int) -> int:
        entry, position = INDEX_ENTRY.unpack_from(index, number * INDEX_ENTRY.size)
        return entry if position > 0 or number == 0 else OFFSET_MAX

    early = bisect_right(range(len(index) // INDEX_ENTRY.size), relative, key=key) - ENTRIES_EARLY
    return _position(index, early) if early >= 0 else 0
