"""Whole batches of a segment's file, many at a time, through a reader of its own."""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple

from crc32c import crc32c

from brokers.ports import FileReader
from brokers.records.batch import (
    COMPRESSION_MASK,
    CONTROL,
    CRC_FROM,
    HEADER_SIZE,
    LENGTH_FROM,
    TRANSACTIONAL,
    BatchError,
    BatchHeader,
    contradiction,
    parse_header,
)
from brokers.records.compression import decompress
from brokers.records.raw_records import damaged
from brokers.records.record_columns import Span
from brokers.storage.cleaning.cleaning_plan import PlannedSegment

_HOP_BYTES: Final = 1 << 16
_LARGE_BATCH_BYTES: Final = 1 << 13
_OPENED_BYTES: Final = 1 << 20
_WHOLE_FROM: Final = 8  # a batch that is so large a part of a chunk is read as a whole
_SPECIAL: Final = CONTROL | TRANSACTIONAL
# Base offset, length, magic, attributes, last offset delta, record count.
_GLANCE: Final = Struct(">qi4xb4xhi30xi")


class ReadBatch(NamedTuple):
    """A batch in the bytes of its chunk, from `start` on."""

    header: BatchHeader
    start: int
    data: memoryview


class ReadBatches(NamedTuple):
    """Neighbouring batches, and the bytes that they lie in."""

    data: bytes
    batches: Sequence[ReadBatch]


class Opened(NamedTuple):
    """The records of some batches, decompressed."""

    data: bytes
    spans: Sequence[Span]
    batches: Sequence[ReadBatch]


def checked_chunks(
    reader: FileReader, segment: PlannedSegment, chunk_bytes: int
) -> Iterator[ReadBatches]:
    """All batches; raises `BatchError` at the first that is not what was written."""
    expected, position = segment.base_offset, 0
    while position < segment.size:
        wanted = _worth_reading(reader, position, segment.size, chunk_bytes)
        data = reader.read(position, min(wanted, segment.size - position))
        batches, expected = _checked(data, position, expected, segment)
        yield ReadBatches(data, batches)
        last = batches[-1]
        position += last.start + last.header.length


def _worth_reading(reader: FileReader, position: int, end: int, chunk_bytes: int) -> int:
    """Of large batches whole ones, so that no part of one is read twice."""
    total = 0
    while position + total < end and total < chunk_bytes:
        start = position + total
        length = _header(reader.read(start, HEADER_SIZE), 0, start).length
        if length < chunk_bytes // _WHOLE_FROM:
            return total or chunk_bytes
        total += length
    return total


def _checked(
    data: bytes, position: int, expected: int, segment: PlannedSegment
) -> tuple[list[ReadBatch], int]:
    """The whole batches in `data`, one at least -> (those, the next offset)."""
    batches: list[ReadBatch] = []
    at, view, size = 0, memoryview(data), len(data)
    while at + HEADER_SIZE <= size or not batches:
        header = _header(data, at, position)
        base_offset, length = header.base_offset, header.length
        end = at + length
        if end > size and batches:
            break
        batch = view[at:end]
        if end > size or crc32c(batch[CRC_FROM:]) != header.crc:
            raise damaged(f"the checksum at byte {position + at} is wrong")
        if because := contradiction(header):
            raise damaged(f"{because} at byte {position + at}")
        next_offset = base_offset + header.last_offset_delta + 1
        if base_offset < expected or next_offset > segment.next_offset:
            raise damaged(f"offset {base_offset} at byte {position + at} is out of order")
        expected = next_offset
        batches.append(ReadBatch(header, at, batch))
        at = end
    return batches, expected


def opened(chunk: ReadBatches, batches: Sequence[ReadBatch]) -> Iterator[Opened]:
    """The records of these batches of the chunk: all at once, or, where some are compressed, a few at a time."""
    if not any(header.attributes & COMPRESSION_MASK for header, _, _ in batches):
        if batches:
            spans = [
                _span(header, start + HEADER_SIZE, start + header.length)
                for header, start, _ in batches
            ]
            yield Opened(chunk.data, spans, batches)
        return
    pieces: list[bytes] = []
    size, first = 0, 0
    spans = []
    for number, (header, _, data) in enumerate(batches, 1):
        pieces.append(bytes(decompress(header.compression, data[HEADER_SIZE:])))
        spans.append(_span(header, size, size + len(pieces[-1])))
        size += len(pieces[-1])
        if size >= _OPENED_BYTES or number == len(batches):
            yield Opened(b"".join(pieces), spans, batches[first:number])
            pieces, spans, size, first = [], [], 0, number


def _span(header: BatchHeader, start: int, end: int) -> Span:
    return start, end, header.record_count, header.base_offset, header.last_offset_delta


class SurveyedBatch(NamedTuple):
    """What the survey of a segment asks of a batch; `header` only where it belongs to a transaction, or is control."""

    position: int
    next_offset: int
    record_count: int
    header: BatchHeader | None


def surveyed_batches(reader: FileReader, segment: PlannedSegment) -> Iterator[SurveyedBatch]:
    """All batches; of large ones little more than the header is read."""
    position, chunk, start, wanted = 0, b"", 0, HEADER_SIZE
    while position < segment.size:
        at = position - start
        if at + HEADER_SIZE > len(chunk):
            chunk = reader.read(position, min(wanted, segment.size - position))
            start, at = position, 0
        if at + HEADER_SIZE > len(chunk):
            raise damaged(f"byte {position}: the last batch is cut short")
        base, length, magic, attributes, delta, count = _GLANCE.unpack_from(chunk, at)
        if magic != 2 or length < HEADER_SIZE - LENGTH_FROM or attributes & _SPECIAL:
            yield SurveyedBatch(position, base + delta + 1, count, _header(chunk, at, start))
        else:
            yield SurveyedBatch(position, base + delta + 1, count, None)
        length += LENGTH_FROM
        position += length
        wanted = HEADER_SIZE if length >= _LARGE_BATCH_BYTES else _HOP_BYTES


def _header(chunk: bytes, at: int, position: int) -> BatchHeader:
    try:
        return parse_header(chunk, at)
    except BatchError as error:
        raise damaged(f"byte {position + at}: {error.because}") from None
