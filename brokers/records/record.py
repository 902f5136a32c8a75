"""Reads the records of a batch: for replays, lookups by timestamp and tests; never on the byte path."""

from collections.abc import Iterator
from typing import NamedTuple

from brokers.errors import KafkaError
from brokers.ids import Buffer, Instant, Offset
from brokers.records.batch import HEADER_SIZE, BatchError, BatchHeader, parse_header
from brokers.records.builder import RecordHeaders
from brokers.records.compression import OPENED_BYTES_MAX, decompress

_VARINT_BYTES_MAX = 10  # of a 64-bit number
_INT64_MAX = 2**63 - 1


class Record(NamedTuple):
    """One record as a consumer sees it."""

    offset: Offset
    timestamp: Instant
    key: bytes | None
    value: bytes | None
    headers: RecordHeaders


def open_batch(batch: Buffer, size_max: int = OPENED_BYTES_MAX) -> Iterator[Record]:
    """The records of a whole batch, decompressed to at most `size_max` bytes; `BatchError` on any damage.

    The checksum is not verified: that of every batch in a log was.
    """
    header = parse_header(batch)
    if len(batch) < header.length:
        raise _damaged("the batch is cut short")
    packed = memoryview(batch)[HEADER_SIZE : header.length]
    reader = _Reader(bytes(decompress(header.compression, packed, size_max)))
    for _ in range(header.record_count):
        yield _read_record(reader, header)
    if reader.position != len(reader.data):
        raise _damaged("bytes after the last record")


def _read_record(reader: "_Reader", header: BatchHeader) -> Record:
    length = reader.varint()
    end = reader.position + length
    if length < 0 or end > len(reader.data):
        raise _damaged("a record is longer than its batch")
    reader.position += 1  # attributes: none are defined
    timestamp = header.base_timestamp + reader.varint()
    delta = reader.varint()
    # The records were not checked when the producer sent the batch.
    if not (0 <= delta <= header.last_offset_delta and abs(timestamp) <= _INT64_MAX):
        raise _damaged("a record lies outside its batch")
    key, value = reader.blob(), reader.blob()
    count = reader.varint()
    if not 0 <= count <= length:
        raise _damaged("a record with an impossible number of headers")
    headers = tuple(reader.header() for _ in range(count))
    if reader.position != end:
        raise _damaged("a record's length does not match its fields")
    if header.is_append_time:
        timestamp = header.max_timestamp
    return Record(header.base_offset + delta, timestamp, key, value, headers)


class _Reader:
    """Reads the primitive types of a record. Raises BatchError where one would go beyond the data."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def varint(self) -> int:
        """A zigzag number of up to 64 bits."""
        value = shift = 0
        try:
            while True:
                byte = self.data[self.position]
                self.position += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    return (value >> 1) ^ -(value & 1)
                shift += 7
                if shift >= 7 * _VARINT_BYTES_MAX:
                    raise _damaged("a number of more than 64 bits")
        except IndexError:
            raise _damaged("the records are cut short") from None

    def blob(self) -> bytes | None:
        """Bytes with their length in front; -1 is None."""
        length = self.varint()
        if length == -1:
            return None
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise _damaged("a field is longer than its batch")
        data = self.data[self.position : end]
        self.position = end
        return data

    def header(self) -> tuple[bytes, bytes | None]:
        name = self.blob()
        if name is None:
            raise _damaged("a record header without a name")
        return name, self.blob()


def _damaged(because: str) -> BatchError:
    return BatchError(KafkaError.CORRUPT_MESSAGE, because)
