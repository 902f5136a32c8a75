"""Whole batches of a segment's file, many at a time, through a reader of its own."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from crc32c import crc32c

from brokers.ids import Offset
from brokers.ports import FileReader
from brokers.records.batch import (
    CRC_FROM,
    HEADER_SIZE,
    LENGTH_FROM,
    RECORD_SIZE_MIN,
    ZSTD,
    BatchError,
    BatchHeader,
    contradiction,
    parse_header,
)
from brokers.records.compression import decompress
from brokers.records.raw_records import damaged
from brokers.records.record_columns import Flags, Numbers, Spans
from brokers.storage.cleaning.batch_columns import LENGTH, SPECIAL, BatchColumns
from brokers.storage.cleaning.cleaning_plan import PlannedSegment

_HOP_BYTES: Final = 1 << 16
_LARGE_BATCH_BYTES: Final = 1 << 13
_OPENED_BYTES: Final = 1 << 20
_WHOLE_FROM: Final = 8  # a batch that is so large a part of a chunk is read as a whole
_LARGE_TOGETHER: Final = 4  # of them at once, as far as they fit into so many bytes
_LARGE_TOGETHER_BYTES: Final = 4 << 20


# Yields the same chunks; a host may have them made in another thread, before they are asked for.
Ahead: TypeAlias = Callable[[Iterator[BatchColumns]], Generator[BatchColumns, None, None]]


def when_asked(chunks: Iterator[BatchColumns]) -> Generator[BatchColumns, None, None]:
    """Nothing is made before it is asked for."""
    yield from chunks


class Opened(NamedTuple):
    """The records of some batches of a chunk, decompressed."""

    data: bytes
    spans: Spans
    rows: Numbers


def checked_chunks(
    reader: FileReader, segment: PlannedSegment, chunk_bytes: int
) -> Iterator[BatchColumns]:
    """All batches; raises `BatchError` at the first that is not what was written."""
    expected, position = segment.base_offset, 0
    while position < segment.size:
        wanted = _worth_reading(reader, position, segment.size, chunk_bytes)
        data = reader.read(position, min(wanted, segment.size - position))
        starts, end = _starts(data, position)
        chunk = BatchColumns(data, starts)
        _check(chunk, position, expected, segment)
        yield chunk
        expected = int(chunk.next_offsets[-1])
        position += end


def _worth_reading(reader: FileReader, position: int, end: int, chunk_bytes: int) -> int:
    """Of large batches whole ones, so that no part of one is read twice."""
    total = count = 0
    while position + total < end:
        start = position + total
        length = _header(reader.read(start, HEADER_SIZE), 0, start).length
        if length < chunk_bytes // _WHOLE_FROM:
            return total or chunk_bytes
        is_much = count == _LARGE_TOGETHER or total + length > _LARGE_TOGETHER_BYTES
        if total >= chunk_bytes and is_much:
            break
        total, count = total + length, count + 1
    return total


def _starts(data: bytes, position: int) -> tuple[Numbers, int]:
    """Where the whole batches in `data` begin, one at least, and where the last one ends."""
    starts: list[int] = []
    add, length_at = starts.append, LENGTH.unpack_from
    at, following, size = 0, 0, len(data)
    while at + HEADER_SIZE <= size:
        (length,) = length_at(data, at)
        following = at + LENGTH_FROM + length
        if length < HEADER_SIZE - LENGTH_FROM:
            _header(data, at, position)  # raises
        if following > size:
            break
        add(at)
        at = following
    if not starts:
        _header(data, 0, position)  # raises where not even that is whole
        raise damaged(f"the batch at byte {position} is cut short")
    return np.array(starts), at


def _check(chunk: BatchColumns, position: int, expected: Offset, segment: PlannedSegment) -> None:
    """Raises `BatchError` at the first batch that is damaged, or not in its place."""
    view, ends = memoryview(chunk.data), chunk.ends.tolist()
    sums = [
        crc32c(view[start + CRC_FROM : end])
        for start, end in zip(chunk.starts.tolist(), ends, strict=True)
    ]
    is_bad = _contradicts_itself(chunk) | (np.array(sums) != chunk.column("crc"))
    is_bad |= chunk.next_offsets > segment.next_offset
    is_bad[1:] |= chunk.base_offsets[1:] < chunk.next_offsets[:-1]
    is_bad[0] |= chunk.base_offsets[0] < expected
    if np.count_nonzero(is_bad):
        row = int(is_bad.argmax())
        at = position + int(chunk.starts[row])
        header = _header(chunk.data, int(chunk.starts[row]), position)
        if sums[row] != header.crc:
            raise damaged(f"the checksum at byte {at} is wrong")
        if because := contradiction(header):
            raise damaged(f"{because} at byte {at}")
        raise damaged(f"offset {header.base_offset} at byte {at} is out of order")


def _contradicts_itself(chunk: BatchColumns) -> Flags:
    """What `contradiction` and `parse_header` find, of all batches."""
    deltas, counts = chunk.last_offset_deltas, chunk.record_counts
    found: Flags = (
        (deltas < 0)
        | (counts < 0)
        | (counts > deltas + 1)
        | (chunk.compressions > ZSTD)
        | ((chunk.compressions == 0) & (counts * RECORD_SIZE_MIN > chunk.lengths - HEADER_SIZE))
        | (chunk.column("magic") != 2)
    )
    return found


def opened(chunk: BatchColumns, rows: Numbers) -> Iterator[Opened]:
    """The records of these batches of the chunk: all at once, or, where some are compressed, a few at a time."""
    if rows.size == 0:
        return
    spans = chunk.spans(rows)
    if not chunk.compressions[rows].any():
        yield Opened(chunk.data, spans, rows)
        return
    pieces: list[bytes] = []
    size, first = 0, 0
    for number, row in enumerate(rows.tolist(), 1):
        records = chunk.batch(row)[HEADER_SIZE:]
        pieces.append(bytes(decompress(int(chunk.compressions[row]), records)))
        size += len(pieces[-1])
        if size >= _OPENED_BYTES or number == len(rows):
            yield _joined(pieces, spans, rows, first)
            pieces, size, first = [], 0, number


def _joined(pieces: Sequence[bytes], spans: Spans, rows: Numbers, first: int) -> Opened:
    """The batches from row number `first` on, whose records are these pieces."""
    part = slice(first, first + len(pieces))
    ends = np.cumsum([len(each) for each in pieces])
    starts = np.concatenate([[0], ends[:-1]])
    others = (each[part] for each in spans[2:])
    return Opened(b"".join(pieces), Spans(starts, ends, *others), rows[part])


class Surveyed(NamedTuple):
    """Some batches: how many records those of them have that end above an offset, and, with their positions, the
    headers of those that belong to a transaction or are control batches."""

    records_above: int
    special: Sequence[tuple[int, BatchHeader]]


def surveyed(reader: FileReader, segment: PlannedSegment, above: Offset) -> Iterator[Surveyed]:
    """All batches; of large ones little more than the header is read."""
    position, wanted = 0, HEADER_SIZE
    while position < segment.size:
        data = reader.read(position, min(wanted, segment.size - position))
        if wanted == HEADER_SIZE:
            header = _header(data, 0, position)
            end = length = header.length
            yield _survey_one(header, position, above)
        else:
            starts, end, length = _headers(data, position)
            yield _survey(BatchColumns(data, starts), position, above)
        position += end
        wanted = HEADER_SIZE if length >= _LARGE_BATCH_BYTES else _HOP_BYTES


def _headers(data: bytes, position: int) -> tuple[Numbers, int, int]:
    """Where the batches begin whose headers are in `data`, one at least; the end of the last one, and its length."""
    starts: list[int] = []
    at, length = 0, 0
    while at + HEADER_SIZE <= len(data):
        (length,) = LENGTH.unpack_from(data, at)
        length += LENGTH_FROM
        if length < HEADER_SIZE:
            break
        starts.append(at)
        at += length
    if not starts or length < HEADER_SIZE:
        _header(data, at, position)  # raises
    return np.array(starts), at, length


def _survey(chunk: BatchColumns, position: int, above: Offset) -> Surveyed:
    records = int(chunk.record_counts[chunk.next_offsets > above].sum())
    starts = chunk.starts
    special = [(position + int(starts[row]), chunk.header(row)) for row in chunk.special]
    return Surveyed(records, special)


def _survey_one(header: BatchHeader, position: int, above: Offset) -> Surveyed:
    records = header.record_count if header.next_offset > above else 0
    return Surveyed(records, [(position, header)] if header.attributes & SPECIAL else ())


def _header(chunk: bytes, at: int, position: int) -> BatchHeader:
    try:
        return parse_header(chunk, at)
    except BatchError as error:
        raise damaged(f"byte {position + at}: {error.because}") from None
