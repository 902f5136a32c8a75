"""The records of many batches as columns: what compaction asks of each one, at a small part of a loop's cost.

One short loop finds where each record begins, as only the length of one says where the next is. Everything else is read
for all of them at once. Imports numpy, which a node does without: for the cleaner's process.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from brokers.ids import Offset
from brokers.records.raw_records import (
    NULL,
    NUMBER_BYTES_MAX,
    TIME_BYTES_MAX,
    damaged,
    unsigned_varint,
)

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# The records of one batch: [start, end) of decompressed bytes, their count, base offset and last offset delta.
Span: TypeAlias = tuple[int, int, int, Offset, int]


class RecordColumns(NamedTuple):
    """One row a record, in the order of the log. Record i is `data[starts[i]:ends[i]]` with its length before it;
    `bodies` is where its attributes lie, `batches` the number of its span. `key_starts` is -1 without a key."""

    data: bytes
    starts: Numbers
    ends: Numbers
    bodies: Numbers
    batches: Numbers
    offsets: Numbers
    time_deltas: Numbers
    key_starts: Numbers
    key_ends: Numbers
    has_value: Flags

    def keys(self, rows: Numbers) -> list[bytes]:
        """The keys of these records, which have one."""
        data = self.data
        starts, ends = self.key_starts[rows].tolist(), self.key_ends[rows].tolist()
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]


def record_columns(data: bytes, spans: Sequence[Span]) -> RecordColumns:
    """Of all records in `data`. Raises `BatchError` where `raw_records` would."""
    _, _, counts, bases, _ = zip(*spans, strict=True)
    batches = np.repeat(np.arange(len(spans)), counts)
    starts = np.array(_starts(data, spans), np.int64)
    octets = np.frombuffer(data, np.uint8)
    lengths, bodies = _varints(octets, starts, NUMBER_BYTES_MAX)
    ends = bodies + (lengths >> 1)
    times, position = _varints(octets, bodies + 1, TIME_BYTES_MAX)
    deltas, position = _varints(octets, position, NUMBER_BYTES_MAX)
    _check_deltas(deltas, batches, spans)
    key_lengths, key_starts = _varints(octets, position, NUMBER_BYTES_MAX)
    is_keyed = octets.take(position, mode="clip") != NULL  # -1 in more than one byte is damage
    key_ends = key_starts + np.where(is_keyed, key_lengths >> 1, 0)
    if ((lengths & 1) | (key_lengths & 1 & is_keyed)).any():
        raise damaged("a record or its key has no length")
    if (key_ends >= ends).any():
        raise damaged("a record's key is longer than the record")
    return RecordColumns(
        data,
        starts,
        ends,
        bodies,
        batches,
        np.array(bases, np.int64)[batches] + (deltas >> 1),
        _signed(times),
        np.where(is_keyed, key_starts, -1),
        key_ends,
        octets.take(key_ends) != NULL,
    )


def _starts(data: bytes, spans: Sequence[Span]) -> list[int]:
    starts: list[int] = []
    add = starts.append
    try:
        for position, end, count, _, _ in spans:
            for _ in range(count):
                add(position)
                length = data[position]
                if length < 0x80:
                    position += 1 + (length >> 1)
                elif (second := data[position + 1]) < 0x80:
                    position += 2 + ((length & 0x7F | second << 7) >> 1)
                else:
                    length, position = unsigned_varint(data, position)
                    position += length >> 1
            if position != end:
                raise damaged("the records are not as long as their batch")
    except IndexError:
        raise damaged("the records are cut short") from None
    return starts


def _varints(octets: NDArray[np.uint8], at: Numbers, bytes_max: int) -> tuple[Numbers, Numbers]:
    """The unsigned varints at these positions -> (their 64 bits, the positions after them).

    One that reaches past the end is not noticed here: what follows it lies past the end, too.
    """
    octet = octets.take(at, mode="clip")
    values = (octet & 0x7F).astype(np.int64)
    after = at + 1
    more, shift = np.flatnonzero(octet >= 0x80), 7
    while more.size:
        if shift >= 7 * bytes_max:
            raise damaged("a number of more bits than it may have")
        octet = octets.take(after[more], mode="clip")
        values[more] |= (octet & 0x7F).astype(np.int64) << shift
        after[more] += 1
        more, shift = more[octet >= 0x80], shift + 7
    return values, after


def _signed(values: Numbers) -> Numbers:
    """Of zigzag's 64 bits."""
    halves = (values.view(np.uint64) >> np.uint64(1)).view(np.int64)
    return halves ^ -(values & 1)


def _check_deltas(deltas: Numbers, batches: Numbers, spans: Sequence[Span]) -> None:
    """Offsets ascend within their batch."""
    last = np.array([each[-1] for each in spans], np.int64)
    is_same_batch = batches[1:] == batches[:-1]
    if (
        (deltas & 1).any()
        or (deltas >> 1 > last[batches]).any()
        or (is_same_batch & (deltas[1:] <= deltas[:-1])).any()
    ):
        raise damaged("a record's offset lies outside its batch")
