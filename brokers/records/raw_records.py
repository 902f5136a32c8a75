"""Walks over the records of a batch without making objects of them: their bytes, keys, and whether they have a value.

For whoever looks at every record of much data (compaction, and the check of keys for compacted topics). Of a record it
reads what stands before its value; `length` says where the next one begins.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from brokers.errors import KafkaError
from brokers.records.batch import BatchError

NULL = 1  # a length of -1, as a zigzag varint
NUMBER_BYTES_MAX = 5  # of a varint of 32 bits
TIME_BYTES_MAX = 10  # of one of 64


KeyAndValue: TypeAlias = tuple[bytes | None, bytes | None]

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
            if position > body + TIME_BYTES_MAX:
                raise damaged("a timestamp of more than 64 bits")
            delta = data[position + 1]
            position += 2
            if delta >= 0x80:
                delta, position = _more(data, delta, position)
            if delta & 1 or not expected <= delta >> 1 <= last_offset_delta:
                raise damaged("a record's offset lies outside its batch")
            delta >>= 1
            expected = delta + 1
            length = data[position]
            position += 1
            if length == NULL:
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
            yield start, end, body, delta, key, data[position] != NULL
            position = end
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != size:
        raise damaged("bytes after the last record")


def first_without_key(data: bytes, count: int) -> int | None:
    """The number of the first of the `count` records in `data` that has no key; their offsets follow one another.

    A node asks it of every batch for a compacted topic: each record is looked at with the fewest steps. Raises
    `BatchError` as `raw_records` does, up to that record.
    """
    position, size = 0, len(data)
    try:
        for expected in range(count):
            length = data[position]
            position += 1
            if length >= 0x80:
                if (second := data[position]) < 0x80:
                    length, position = length & 0x7F | second << 7, position + 1
                else:
                    length, position = _more(data, length, position)
            end = position + (length >> 1)
            if length & 1 or end > size:
                raise damaged("a record is longer than its batch")
            position += 1
            timestamp = position
            while data[position] >= 0x80:
                position += 1
            if position >= timestamp + TIME_BYTES_MAX:
                raise damaged("a timestamp of more than 64 bits")
            delta = data[position + 1]
            position += 2
            if delta >= 0x80:
                if (second := data[position]) < 0x80:
                    delta, position = delta & 0x7F | second << 7, position + 1
                else:
                    delta, position = _more(data, delta, position)
            if delta != expected << 1:
                raise damaged("a record's offset lies outside its batch")
            length = data[position]
            position += 1
            if length & 1:
                if length == NULL:
                    return expected
                raise damaged("a record's key has no length")
            if length >= 0x80:
                length, position = _more(data, length, position)
            if position + (length >> 1) >= end:
                raise damaged("a record's key is longer than the record")
            position = end
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != size:
        raise damaged("bytes after the last record")
    return None


class OpenedBatch(NamedTuple):
    """The decompressed records of a batch, and how many there are."""

    data: bytes
    record_count: int


def keys_and_values(data: bytes, count: int, position: int = 0) -> Iterator[KeyAndValue]:
    """The keys and values of the `count` records in `data` from `position` on, which is decompressed, for replays.

    Raises `BatchError` at once where their lengths contradict one another. `zip` makes one tuple for all of them,
    which spares the garbage collector as many tuples as there are records.
    """
    keys: list[bytes | None] = []
    values: list[bytes | None] = []
    add_key, add_value = keys.append, values.append
    size = len(data)
    try:
        for _ in range(count):
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
            while data[position] >= 0x80:  # the offset
                position += 1
            position += 1
            key: bytes | None = None
            value: bytes | None = None
            length = data[position]
            position += 1
            if length != NULL:
                if length >= 0x80:
                    length, position = _more(data, length, position)
                if length & 1:
                    raise damaged("a record's key has no length")
                key = data[position : position + (length >> 1)]
                position += length >> 1
            length = data[position]
            position += 1
            if length != NULL:
                if length >= 0x80:
                    length, position = _more(data, length, position)
                if length & 1:
                    raise damaged("a record's value has no length")
                value = data[position : position + (length >> 1)]
                position += length >> 1
            if data[position] or position + 1 != end:
                _check_headers(data, position, end)
            add_key(key)
            add_value(value)
            position = end
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != size:
        raise damaged("bytes after the last record")
    return zip(keys, values, strict=True)


def _check_headers(data: bytes, position: int, end: int) -> None:
    """That a record's headers begin at `position` and end with the record."""
    if position >= end:
        raise damaged("a record's key and value are longer than the record")
    count, position = _more(data, data[position], position + 1)
    if count & 1 or count > 2 * end:
        raise damaged("a record with an impossible number of headers")
    for _ in range(count >> 1):
        for may_be_null in (False, True):
            first = data[position]
            position += 1
            if first == NULL and may_be_null:
                continue
            length, position = _more(data, first, position)
            position += length >> 1
            if length & 1 or position > end:
                raise damaged("a record's header is longer than the record")
    if position != end:
        raise damaged("a record's length does not match its fields")


def _more(data: bytes, first: int, position: int) -> tuple[int, int]:
    """The rest of an unsigned varint, after its `first` byte -> (the number, the position after it)."""
    if first < 0x80:
        return first, position
    value, shift = first & 0x7F, 7
    while shift < 7 * NUMBER_BYTES_MAX:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise damaged("a number of more than 32 bits")


def unsigned_varint(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned varint at `position` -> (the number, the position after it)."""
    first = data[position]
    return _more(data, first, position + 1) if first >= 0x80 else (first, position + 1)


def damaged(because: str) -> BatchError:
    return BatchError(KafkaError.CORRUPT_MESSAGE, because)
