"""Batch headers: everything a broker reads of a batch, and the few fields that it writes.

Kafka's RecordBatch v2 (KIP-98) begins with 61 bytes. Base offset and leader epoch lie outside the checksum, so a broker
stamps them into the bytes that a producer sent and never touches the rest. Nothing here costs anything per record.
"""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import crc32c

from brokers.errors import KafkaError, Refusal
from brokers.ids import Buffer, Instant, LeaderEpoch, Offset, ProducerId

HEADER_SIZE = 61
LENGTH_FROM = 12  # the length field counts the bytes after itself
CRC_FROM = 21  # the checksum covers everything from the attributes on
SEQUENCE_MODULUS = 2**31  # sequences wrap from 2^31 - 1 to 0

_HEADER = Struct(">qiibIhiqqqhii")
_HOP = Struct(">qi11xi")  # base offset, length, last offset delta
_OFFSET = Struct(">q")
_EPOCH = Struct(">i")
_ATTRIBUTES = Struct(">h")
_CRC = Struct(">I")
_MAGIC_AT, _CRC_AT, _ATTRIBUTES_AT, _MAX_TIMESTAMP_AT = 16, 17, 21, 35

COMPRESSION_MASK = 0b111
ZSTD = 4  # the last of the codecs that there are
RECORD_SIZE_MIN = 7  # each of a record's seven parts takes a byte at least
APPEND_TIME = 0b1000
TRANSACTIONAL = 0b1_0000
CONTROL = 0b10_0000
DELETE_HORIZON = 0b100_0000  # the base timestamp is when its deletion markers may go (KIP-534)


class BatchError(Refusal):
    """Bytes that are not a whole, sound RecordBatch v2."""


class BatchHeader(NamedTuple):
    """The first 61 bytes of a batch; `length` is that of the whole batch."""

    base_offset: Offset
    length: int
    leader_epoch: LeaderEpoch
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: Instant
    max_timestamp: Instant
    producer_id: ProducerId
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def next_offset(self) -> Offset:
        """One past the last offset of the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; -1 without one."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) % SEQUENCE_MODULUS

    @property
    def compression(self) -> int:
        """0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd; 5 to 7 are unknown."""
        return self.attributes & COMPRESSION_MASK

    @property
    def is_append_time(self) -> bool:
        return self.attributes & APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0


_MAGIC = BatchHeader._fields.index("magic")  # leaders do not change the fields that follow


def parse_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header of the batch at `position`. The batch may be longer than the buffer.

    Raises BatchError with Kafka's error: INVALID_RECORD for the old message formats, CORRUPT_MESSAGE for any damage.
    """
    available = len(buffer) - position
    if available < HEADER_SIZE:
        raise _too_short(buffer, position, available)
    base_offset, length, leader_epoch, magic, *rest = _HEADER.unpack_from(buffer, position)
    if magic != 2:
        raise _wrong_magic(magic)
    length += LENGTH_FROM
    if length < HEADER_SIZE:
        raise BatchError(
            KafkaError.CORRUPT_MESSAGE, f"batch of {length} bytes is shorter than its header"
        )
    return BatchHeader(base_offset, length, leader_epoch, magic, *rest)


def pack_header(buffer: bytearray | memoryview, header: BatchHeader) -> None:
    """Write all 61 bytes of a header at the start of a batch."""
    _HEADER.pack_into(buffer, 0, header.base_offset, header.length - LENGTH_FROM, *header[2:])


def iter_headers(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch; stops before a torn tail, raises `BatchError` at damage."""
    position = 0
    while len(buffer) - position >= HEADER_SIZE:
        header = parse_header(buffer, position)
        if position + header.length > len(buffer):
            return
        yield position, header
        position += header.length


def contradiction(header: BatchHeader) -> str:
    """Why no batch can be what this header says, or an empty text; a checksum that fits proves nothing about it.

    A compacted batch keeps its offsets and has fewer records, down to none.
    """
    if header.last_offset_delta < 0:
        return f"a last offset delta of {header.last_offset_delta}"
    if not 0 <= header.record_count <= header.last_offset_delta + 1:
        return f"{header.record_count} records in {header.last_offset_delta + 1} offsets"
    if header.compression > ZSTD:
        return f"unknown compression {header.compression}"
    if (
        not header.compression
        and header.record_count * RECORD_SIZE_MIN > header.length - HEADER_SIZE
    ):
        return f"{header.record_count} records in {header.length} bytes"
    return ""


def verify_crc(batch: Buffer, header: BatchHeader) -> bool:
    """Whether the buffer holds the whole batch and its CRC-32C is right."""
    length = header.length
    if len(batch) < length:
        return False
    return crc32c.crc32c(memoryview(batch)[CRC_FROM:length]) == header.crc


def stamped(header: BatchHeader, base_offset: Offset, leader_epoch: LeaderEpoch) -> BatchHeader:
    """The header with the fields that `stamp` writes."""
    return BatchHeader(base_offset, header.length, leader_epoch, *header[_MAGIC:])


def stamp(
    buffer: bytearray | memoryview, position: int, base_offset: Offset, leader_epoch: LeaderEpoch
) -> None:
    """Write the two fields that a leader gives a batch, in place; the checksum does not cover them."""
    _OFFSET.pack_into(buffer, position, base_offset)
    _EPOCH.pack_into(buffer, position + LENGTH_FROM, leader_epoch)


def stamp_append_time(buffer: bytearray | memoryview, position: int, now: Instant) -> BatchHeader:
    """Set the broker's time as the timestamp of every record (`message.timestamp.type=LogAppendTime`), in place.

    Sets the attribute bit and the maximum timestamp, renews the checksum and returns the new header.
    """
    header = parse_header(buffer, position)
    _ATTRIBUTES.pack_into(buffer, position + _ATTRIBUTES_AT, header.attributes | APPEND_TIME)
    _OFFSET.pack_into(buffer, position + _MAX_TIMESTAMP_AT, now)
    renew_crc(buffer, position, header.length)
    return parse_header(buffer, position)


def renew_crc(buffer: bytearray | memoryview, position: int, length: int) -> None:
    """Compute the checksum of the batch at `position` anew, in place."""
    put_crc(
        buffer, position, crc32c.crc32c(memoryview(buffer)[position + CRC_FROM : position + length])
    )


def put_crc(buffer: bytearray | memoryview, position: int, crc: int) -> None:
    """Write the checksum of the batch at `position`: that of its bytes from `CRC_FROM` on."""
    _CRC.pack_into(buffer, position + _CRC_AT, crc)


def slice_batches(
    buffer: Buffer, offset: Offset, bound: Offset, size_max: int, *, at_least_one: bool
) -> tuple[int, int, Offset]:
    """(start, end, next offset) of the whole batches in `buffer` that hold [offset, bound); reads only headers.

    Batches that end at or below `offset` are skipped; one that crosses `bound`, is torn, or would make more than
    `size_max` bytes ends the slice; with `at_least_one` the first is taken at any size. (0, 0, offset) if empty.
    """
    start = end = position = 0
    next_offset = offset
    while position + HEADER_SIZE <= len(buffer):
        base_offset, length, last_offset_delta = _HOP.unpack_from(buffer, position)
        after = position + length + LENGTH_FROM
        following = base_offset + last_offset_delta + 1
        if length < HEADER_SIZE - LENGTH_FROM:
            raise BatchError(
                KafkaError.CORRUPT_MESSAGE, f"batch length {length} at byte {position}"
            )
        if after > len(buffer) or following > bound:
            break
        if following > offset:
            start = start if end else position
            if after - start > size_max and (end or not at_least_one):
                break
            end, next_offset = after, following
        position = after
    return (start, end, next_offset) if end else (0, 0, offset)


def _too_short(buffer: Buffer, position: int, available: int) -> BatchError:
    if available > _MAGIC_AT and buffer[position + _MAGIC_AT] in (0, 1):
        return _wrong_magic(buffer[position + _MAGIC_AT])
    return BatchError(
        KafkaError.CORRUPT_MESSAGE, f"{available} bytes where a batch header has {HEADER_SIZE}"
    )


def _wrong_magic(magic: int) -> BatchError:
    error = KafkaError.INVALID_RECORD if magic in (0, 1) else KafkaError.CORRUPT_MESSAGE
    return BatchError(error, f"record format {magic} is not supported; only 2 is")
