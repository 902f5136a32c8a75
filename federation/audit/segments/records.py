"""Open batches and compare them record by record: only where their bytes differ.

Everything is checked against what is left of the bytes before it is used, since damaged batches are what this sees
most. A batch that cannot be opened raises `Unopenable` with the reason.
"""

import struct
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from federation.audit.segments.headers import HEADER, HEADER_BYTES

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER_BYTES = 16
OPENED_BYTES_MAX = 256 << 20
"""A batch of Kafka's largest sensible size opens to less; a hostile one could open to terabytes."""
LOG_APPEND_TIME = 0x08


STARTS: dict[int, tuple[int, int]] = {1: (0x1F, 0x8B), 3: (0x04, 0x22), 4: (0x28, 0xB5)}
"""The first bytes of what gzip, lz4 and zstd write; a snappy block has none of its own."""


class Unopenable(Exception):
    """The batch's records cannot be read."""


class StoredRecord(NamedTuple):
    """One record; `body` is its bytes as stored: attributes, then key, value and headers with their lengths."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    body: bytes


class Contents(NamedTuple):
    """How two sets of records differ; offsets where they do, None and 0 where they don't."""

    first_offset: int | None
    differing: int
    only_source: int
    only_mirror: int
    example: tuple[StoredRecord | None, StoredRecord | None]


def compare(source: list[StoredRecord], mirror: list[StoredRecord]) -> Contents:
    """Match records by offset; equal means same timestamp, key, value and headers."""
    left = {record.offset: record for record in source}
    right = {record.offset: record for record in mirror}
    # Two records at one offset are a difference too, which the dictionaries would swallow.
    differing = len(source) - len(left) + len(mirror) - len(right)
    only_source = only_mirror = 0
    first: int | None = None
    for offset in sorted(left.keys() | right.keys()):
        one, other = left.get(offset), right.get(offset)
        if one == other:
            continue
        first = offset if first is None else first
        differing += one is not None and other is not None
        only_source += other is None
        only_mirror += one is None
    example = (left.get(first), right.get(first)) if first is not None else (None, None)
    return Contents(first, differing, only_source, only_mirror, example)


def is_plausible(codec: int, data: memoryview, start: int) -> bool:
    """Whether the batch at `start` can hold records under its codec, by their first bytes: no is a reason to open it.

    Records that are not compressed begin with a length and their attributes, which Kafka leaves zero.
    """
    at = start + HEADER_BYTES
    if at + 6 > len(data):
        return False
    if codec == 0:
        while data[at] >= 0x80 and at < start + HEADER_BYTES + 4:
            at += 1
        return data[at + 1] == 0
    return codec == 2 or STARTS.get(codec) == (data[at], data[at + 1])


def lie(batch: bytes) -> str:
    """Why a batch whose checksum holds does not have what its header says; empty where it has."""
    next_offset = HEADER.unpack_from(batch)[0] + HEADER.unpack_from(batch)[6] + 1
    try:
        beyond = [one.offset for one in records(batch) if one.offset >= next_offset]
    except Unopenable as reason:
        return str(reason)
    return f"a record of offset {beyond[0]}, beyond the header's last" if beyond else ""


def records(batch: bytes) -> Iterator[StoredRecord]:
    """The records of one RecordBatch v2, whatever its codec; raises Unopenable."""
    header = HEADER.unpack_from(batch)
    base_offset, attributes, first_timestamp, max_timestamp = header[0], *header[5:6], *header[7:9]
    data = _opened(attributes & 7, batch[HEADER_BYTES:])
    position = 0
    for _ in range(header[12]):
        length, position = _varint(data, position)
        stop = position + length
        if length < 0 or stop > len(data):
            raise Unopenable(f"a record of {length} bytes does not fit at byte {position}")
        record, position = _record(data, position, stop), stop
        offset_delta, timestamp_delta, key, value, body = record
        appended = attributes & LOG_APPEND_TIME
        timestamp = max_timestamp if appended else first_timestamp + timestamp_delta
        yield StoredRecord(base_offset + offset_delta, timestamp, key, value, body)
    if position != len(data):
        raise Unopenable(f"{len(data) - position} bytes follow the last record")


def _record(
    data: bytes, position: int, stop: int
) -> tuple[int, int, bytes | None, bytes | None, bytes]:
    attributes = data[position : position + 1]
    timestamp_delta, position = _varint(data, position + 1)
    offset_delta, position = _varint(data, position)
    start = position
    key, position = _field(data, position, stop)
    value, position = _field(data, position, stop)
    return offset_delta, timestamp_delta, key, value, attributes + data[start:stop]


def _field(data: bytes, position: int, stop: int) -> tuple[bytes | None, int]:
    length, position = _varint(data, position)
    if length == -1:
        return None, position
    if length < 0 or position + length > stop:
        raise Unopenable(f"a field of {length} bytes does not fit at byte {position}")
    return data[position : position + length], position + length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A zigzag varint of up to 64 bits (protobuf's sint64, as KIP-98 uses it)."""
    value = shift = 0
    while shift < 70:
        if position >= len(data):
            raise Unopenable("the records end inside a number")
        octet = data[position]
        position += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
    raise Unopenable(f"a number of more than 64 bits at byte {position}")


def _opened(codec: int, data: bytes) -> bytes:
    import cramjam

    try:
        match codec:
            case 0:
                return data
            case 1:
                return _bounded(cramjam.gzip, data)
            case 2:
                return _snappy(data)
            case 3:
                return _bounded(cramjam.lz4, data)
            case 4:
                return _bounded(cramjam.zstd, data)
    except cramjam.DecompressionError as error:
        raise Unopenable(f"decompression failed: {error}") from error
    raise Unopenable(f"unknown compression codec {codec}")


def _bounded(codec: ModuleType, data: bytes) -> bytes:
    import cramjam

    room = max(1 << 16, 16 * len(data))
    while True:
        target = bytearray(min(room, OPENED_BYTES_MAX))
        try:
            return bytes(target[: codec.decompress_into(data, target)])
        except cramjam.DecompressionError as error:
            if room >= OPENED_BYTES_MAX or "whole buffer" not in str(error):
                raise
        room *= 8


def _snappy(data: bytes) -> bytes:
    """Java's and Python's clients frame blocks the xerial way; librdkafka writes one raw block."""
    if not data.startswith(XERIAL_MAGIC):
        return _snappy_block(data)
    blocks, opened, position = [], 0, XERIAL_HEADER_BYTES
    while position < len(data):
        if position + 4 > len(data):
            raise Unopenable("snappy: the data end inside a block length")
        (length,) = struct.unpack_from(">i", data, position)
        position += 4
        if length < 0 or position + length > len(data):
            raise Unopenable(f"snappy: a block of {length} bytes does not fit")
        blocks.append(_snappy_block(data[position : position + length]))
        opened += len(blocks[-1])
        if opened > OPENED_BYTES_MAX:
            raise Unopenable("snappy: the blocks open to more than a batch can hold")
        position += length
    return b"".join(blocks)


def _snappy_block(data: bytes) -> bytes:
    import cramjam

    if cramjam.snappy.decompress_raw_len(data) > OPENED_BYTES_MAX:
        raise Unopenable("snappy: the block announces more than a batch can hold")
    return bytes(cramjam.snappy.decompress_raw(data))
