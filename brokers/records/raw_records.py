"""Walks over the records of a batch without making objects of them: their bytes, keys, and whether they have a value.

For whoever looks at every record of much data (compaction, and the check of keys for compacted topics). Of a record it
reads what stands before its value; `length` says where the next one begins.
"""

from collections.abc import Iterator
from typing import TypeAlias

from brokers.errors import KafkaError
from brokers.records.batch import BatchError

_NULL = 1  # a length of -1, as a zigzag varint


# One record: `data[start:end]`, where its attributes lie, its offset above the batch's, its key, if it has a value.
RawRecord: TypeAlias = tuple[int, int, int, int, bytes | None, bool]


def raw_records(data: bytes, count: int, last_offset_delta: int) -> Iterator[RawRecord]:
    """The `count` records in `data`, which is decompressed.

    Raises `BatchError` where their lengths contradict one another, or their offsets do not ascend within the batch.
    """
    position, expected, size = 0, 0, len(data)
    try:
        for _ in range(count):
            start = position
            length = data[position]
            position += 1
            if length >= 0x80:
                length, position = _more(data, length, position)
            end = position + (length >> 1)
            if length & 1 or end > size:
                raise damaged("a record is longer than its batch")
            body = position
            position += 1
            while data[position] >= 0x80:  # the timestamp
                position += 1
            position += 1
            delta = data[position]
            position += 1
            if delta >= 0x80:
                delta, position = _more(data, delta, position)
            if delta & 1 or not expected <= delta >> 1 <= last_offset_delta:
                raise damaged("a record's offset lies outside its batch")
            delta >>= 1
            expected = delta + 1
            length = data[position]
            position += 1
            if length == _NULL:
                key = None
            else:
                if length >= 0x80:
                    length, position = _more(data, length, position)
                if length & 1:
                    raise damaged("a record's key has no length")
                length >>= 1
                key = data[position : position + length]
                position += length
            if position >= end:
                raise damaged("a record's key is longer than the record")
            yield start, end, body, delta, key, data[position] != _NULL
            position = end
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != size:
        raise damaged("bytes after the last record")


def keys_of(data: bytes, count: int) -> list[bytes | None]:
    """The keys of the `count` records in `data`, whose offsets follow one another.

    The same as from `raw_records`, in two thirds of the time. Raises `BatchError` as it does.
    """
    keys: list[bytes | None] = []
    add = keys.append
    position, size = 0, len(data)
    try:
        for expected in range(count):
            length = data[position]
            position += 1
            if length >= 0x80:
                length, position = _more(data, length, position)
            end = position + (length >> 1)
            if length & 1 or end > size:
                raise damaged("a record is longer than its batch")
            position += 1
            while data[position] >= 0x80:  # the timestamp
                position += 1
            position += 1
            delta = data[position]
            position += 1
            if delta >= 0x80:
                delta, position = _more(data, delta, position)
            if delta != expected << 1:
                raise damaged("a record's offset lies outside its batch")
            length = data[position]
            position += 1
            if length == _NULL:
                add(None)
            else:
                if length >= 0x80:
                    length, position = _more(data, length, position)
                if length & 1:
                    raise damaged("a record's key has no length")
                length >>= 1
                add(data[position : position + length])
                position += length
            if position >= end:
                raise damaged("a record's key is longer than the record")
            position = end
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != size:
        raise damaged("bytes after the last record")
    return keys


def _more(data: bytes, first: int, position: int) -> tuple[int, int]:
    """The rest of an unsigned varint, after its `first` byte -> (the number, the position after it)."""
    value, shift = first & 0x7F, 7
    while shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise damaged("a number of more than 64 bits")


def damaged(because: str) -> BatchError:
    return BatchError(KafkaError.CORRUPT_MESSAGE, because)
