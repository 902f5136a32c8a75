"""Finds the records that one commit of many partitions makes, which differ in partition and value only.

Such records are as long as each other, so what is the same in all of them is compared column by column, and their
partitions and values are unpacked in one go: a fifth of the time that it takes to walk over them one by one.
"""

from collections.abc import Iterator
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from brokers.groups.records import (
    PARTITION_BYTES,
    PLAIN_COLUMNS,
    PLAIN_VALUE_BYTES,
    split_offset_key,
)

RUN_MIN = 8  # fewer are walked over
_NO_HEADERS = 0


class CommitRun(NamedTuple):
    """Records of one group and topic: the key of the first, and partition and value of each."""

    key: bytes
    stored: Iterator[tuple[int, bytes]]


class _Shape(NamedTuple):
    """Where things lie in the record at the beginning of a run, from its first byte on."""

    size: int
    delta_at: int  # of the offset within the batch
    delta_end: int
    key_at: int
    partition_at: int
    value_at: int


def commit_runs(data: bytes, count: int) -> tuple[list[CommitRun], int, int]:
    """The runs that the `count` records in `data` begin with -> (runs, where the next record is, records left)."""
    runs: list[CommitRun] = []
    position = 0
    while count >= RUN_MIN:
        try:
            shape = _shape(data, position)
            length = 0 if shape is None else _count(data, position, count, shape)
        except IndexError:
            break
        if shape is None or length < RUN_MIN or not _is_uniform(data, position, length, shape):
            break
        key = data[position + shape.key_at : position + shape.partition_at + PARTITION_BYTES]
        if split_offset_key(key) is None:
            break
        end = position + length * shape.size
        unpack = _unpacker(shape.size, shape.partition_at, shape.value_at)
        runs.append(CommitRun(key, unpack.iter_unpack(memoryview(data)[position:end])))
        position, count = end, count - length
    return runs, position, count


def _shape(data: bytes, position: int) -> _Shape | None:
    """Of a record with lengths of up to two bytes, a plain value and no headers; None for any other."""
    length, at = _short(data, position)
    end = at + length
    at += 1  # attributes
    while data[at] >= 0x80:  # the timestamp
        at += 1
    delta_at = at + 1
    _, delta_end = _short(data, delta_at)
    key_length, key_at = _short(data, delta_end)
    value_length, value_at = _short(data, key_at + key_length)
    is_plain = value_length == PLAIN_VALUE_BYTES and end == value_at + value_length + 1
    if not is_plain or key_length <= PARTITION_BYTES or data[end - 1] != _NO_HEADERS:
        return None
    places = (end, delta_at, delta_end, key_at, key_at + key_length - PARTITION_BYTES, value_at)
    return _Shape(*(each - position for each in places))


def _short(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag number of one or two bytes, and where it ends; -1 for a longer or negative one."""
    first = data[at]
    if first < 0x80:
        return (first >> 1, at + 1) if not first & 1 else (-1, at + 1)
    second = data[at + 1]
    if second >= 0x80 or first & 1:
        return -1, at + 2
    return ((first & 0x7F) | second << 7) >> 1, at + 2


def _count(data: bytes, position: int, left: int, shape: _Shape) -> int:
    """How many records may be as long as this one: as many as lie in the batch and have offsets of as many bytes."""
    delta, _ = _short(data, position + shape.delta_at)
    bound = 1 << 6 if shape.delta_end - shape.delta_at == 1 else 1 << 13
    return min(left, bound - delta, (len(data) - position) // shape.size) if delta >= 0 else 0


def _is_uniform(data: bytes, position: int, count: int, shape: _Shape) -> bool:
    """Whether the records differ in offset, partition and value only, and all values are plain."""
    end = position + count * shape.size

    def column(at: int) -> bytes:
        return data[position + at : end : shape.size]

    constant = (
        *range(shape.delta_at),
        *range(shape.delta_end, shape.partition_at),
        *range(shape.partition_at + PARTITION_BYTES, shape.value_at),
        shape.size - 1,
    )
    if not all(column(at) == data[position + at : position + at + 1] * count for at in constant):
        return False
    if not all(column(shape.value_at + at) == byte * count for at, byte in PLAIN_COLUMNS):
        return False
    *begun, last = (column(at) for at in range(shape.delta_at, shape.delta_end))
    return max(last) < 0x80 and all(min(each) >= 0x80 for each in begun)


@lru_cache(maxsize=256)
def _unpacker(size: int, partition_at: int, value_at: int) -> Struct:
    between = value_at - partition_at - PARTITION_BYTES
    behind = size - value_at - PLAIN_VALUE_BYTES
    return Struct(f">{partition_at}xi{between}x{PLAIN_VALUE_BYTES}s{behind}x")
