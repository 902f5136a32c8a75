"""Whole batches of a segment's file, one after another, through a reader of its own."""

from collections.abc import Iterator

from brokers.ids import Buffer
from brokers.ports import FileReader
from brokers.records.batch import (
    HEADER_SIZE,
    BatchError,
    BatchHeader,
    contradiction,
    parse_header,
    verify_crc,
)
from brokers.records.raw_records import damaged
from brokers.storage.cleaning.cleaning_plan import PlannedSegment

_HOP_BYTES = 1 << 16
_LARGE_BATCH_BYTES = 1 << 13


def checked_batches(
    reader: FileReader, segment: PlannedSegment, chunk_bytes: int
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """(header, bytes) of each batch; raises `BatchError` at the first that is not what was written."""
    expected = segment.base_offset
    for header, position, batch in _batches(reader, segment, chunk_bytes):
        if not verify_crc(batch, header):
            raise damaged(f"the checksum at byte {position} is wrong")
        if because := contradiction(header):
            raise damaged(f"{because} at byte {position}")
        if header.base_offset < expected or header.next_offset > segment.next_offset:
            raise damaged(f"offset {header.base_offset} at byte {position} is out of order")
        expected = header.next_offset
        yield header, batch


def _batches(
    reader: FileReader, segment: PlannedSegment, chunk_bytes: int
) -> Iterator[tuple[BatchHeader, int, memoryview]]:
    size = segment.size
    position, chunk, start = 0, memoryview(b""), 0
    while position < size:
        at = position - start
        if at + HEADER_SIZE > len(chunk):
            chunk, start, at = _chunk(reader, position, size, chunk_bytes), position, 0
        header = _header(chunk, at, position)
        if at + header.length > len(chunk):
            wanted = max(chunk_bytes, header.length)
            chunk, start, at = _chunk(reader, position, size, wanted), position, 0
        yield header, position, chunk[at : at + header.length]
        position += header.length


def headers_in(reader: FileReader, segment: PlannedSegment) -> Iterator[tuple[BatchHeader, int]]:
    """(header, position) of each batch; of large ones little more is read."""
    position, chunk, start, wanted = 0, memoryview(b""), 0, HEADER_SIZE
    while position < segment.size:
        if position + HEADER_SIZE > start + len(chunk):
            chunk, start = _chunk(reader, position, segment.size, wanted), position
        header = _header(chunk, position - start, position)
        yield header, position
        position += header.length
        wanted = HEADER_SIZE if header.length >= _LARGE_BATCH_BYTES else _HOP_BYTES


def _header(chunk: Buffer, at: int, position: int) -> BatchHeader:
    try:
        return parse_header(chunk, at)
    except BatchError as error:
        raise damaged(f"byte {position}: {error.because}") from None


def _chunk(reader: FileReader, position: int, size: int, wanted: int) -> memoryview:
    return memoryview(reader.read(position, min(wanted, size - position)))
