"""The records of many batches as columns: what compaction asks of each one, at a small part of a loop's cost.

Only the length of a record says where the next one is. Of many batches the first records are found together, then the
second ones, and so on; what is left of a few long batches is walked through by one short loop. Everything else is read
for all records at once, when it is asked for. Imports numpy, which a node does without: for the cleaner's process.
"""

import struct
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brokers.records.raw_records import (
    NULL,
    NUMBER_BYTES_MAX,
    TIME_BYTES_MAX,
    damaged,
    unsigned_varint,
)

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Octets = NDArray[np.uint8]

_TOGETHER_MIN: Final = 256  # batches; of fewer the loop is faster


def _hops() -> list[int]:
    """How far a record reaches by its first two bytes, its length among them; 0 where its length takes more of them."""
    first, second = np.divmod(np.arange(1 << 16), 1 << 8)
    two = np.where(second < 0x80, 2 + ((first & 0x7F) >> 1) + (second << 6), 0)
    hops: list[int] = np.where(first < 0x80, 1 + (first >> 1), two).tolist()
    return hops


_HOPS: Final = _hops()
_two_bytes = struct.Struct(">H").unpack_from


class Spans(NamedTuple):
    """One row a batch: [start, end) of its decompressed records, their count, base offset, last offset delta."""

    starts: Numbers
    ends: Numbers
    counts: Numbers
    base_offsets: Numbers
    last_offset_deltas: Numbers

    @property
    def are_dense(self) -> bool:
        """Whether the batches have a record at each of their offsets."""
        return bool((self.counts == self.last_offset_deltas + 1).all())


class RecordColumns:
    """One row a record, in the order of the log. Record i is `data[starts[i]:ends[i]]` with its length before it;
    `bodies` is where its attributes lie, `batches` the number of its span.

    Every column raises `BatchError` where `raw_records` would find damage in what it is made of.
    """

    def __init__(self, data: bytes, spans: Spans, starts: Numbers | None = None) -> None:
        """`starts`, where they are known: then they are not looked for."""
        self.data = data
        self.spans = spans
        self.octets: Octets = np.frombuffer(data, np.uint8)
        self.batches: Numbers = np.repeat(np.arange(len(spans.counts)), spans.counts)
        self.starts = _starts(data, self.octets, spans) if starts is None else starts

    @cached_property
    def ends(self) -> Numbers:
        ends, filled = np.empty_like(self.starts), self.spans.counts > 0
        ends[:-1] = self.starts[1:]
        ends[np.cumsum(self.spans.counts)[filled] - 1] = self.spans.ends[filled]
        return ends

    @cached_property
    def bodies(self) -> Numbers:
        return _after(self.octets, self.starts, NUMBER_BYTES_MAX)

    @cached_property
    def _deltas_at(self) -> Numbers:
        return _after(self.octets, self.bodies + 1, TIME_BYTES_MAX)

    @cached_property
    def _deltas(self) -> tuple[Numbers, Numbers]:
        """(twice the offset of each record in its batch, the positions of the lengths of the keys)."""
        deltas, after = _varints(self.octets, self._deltas_at, NUMBER_BYTES_MAX)
        _check_deltas(deltas, self.batches, self.spans)
        return deltas, after

    @cached_property
    def offsets(self) -> Numbers:
        return self.spans.base_offsets[self.batches] + (self._deltas[0] >> 1)

    @property
    def dense_offsets(self) -> Numbers:
        """The only ones that are possible in sound batches of dense spans; nothing is read."""
        counts = self.spans.counts
        first_rows = np.cumsum(counts) - counts
        return np.arange(len(self.starts)) + (self.spans.base_offsets - first_rows)[self.batches]

    @cached_property
    def _keys(self) -> tuple[Numbers, Numbers]:
        position = self._deltas[1]
        lengths, starts = _varints(self.octets, position, NUMBER_BYTES_MAX)
        # -1 in more than one byte is damage
        is_keyed = self.octets.take(position, mode="clip") != NULL
        ends = starts + np.where(is_keyed, lengths >> 1, 0)
        if np.count_nonzero(lengths & 1 & is_keyed):
            raise damaged("a key has no length")
        if np.count_nonzero(ends >= self.ends):
            raise damaged("a record's key is longer than the record")
        return np.where(is_keyed, starts, -1), ends

    @property
    def key_starts(self) -> Numbers:
        """-1 without a key."""
        return self._keys[0]

    @property
    def key_ends(self) -> Numbers:
        return self._keys[1]

    @cached_property
    def has_value(self) -> Flags:
        found: Flags = self.octets.take(self.key_ends) != NULL
        return found

    def time_deltas(self, rows: Numbers) -> Numbers:
        """The timestamps of these records above those of their batches."""
        return _signed(_varints(self.octets, self.bodies[rows] + 1, TIME_BYTES_MAX)[0])


def _starts(data: bytes, octets: Octets, spans: Spans) -> Numbers:
    counts = spans.counts
    first_rows = np.cumsum(counts) - counts
    starts = np.zeros(int(counts.sum()), np.int64)
    rows, at, step = np.arange(len(counts)), spans.starts, 0
    while True:
        is_over = counts[rows] == step
        if np.count_nonzero(at[is_over] != spans.ends[rows[is_over]]):
            raise damaged("the records are not as long as their batch")
        rows, at = rows[~is_over], at[~is_over]
        if rows.size < _TOGETHER_MIN:
            break
        starts[first_rows[rows] + step] = at
        lengths, bodies = _varints(octets, at, NUMBER_BYTES_MAX)
        at = bodies + (lengths >> 1)
        step += 1
    for row, position in zip(rows.tolist(), at.tolist(), strict=True):
        first = int(first_rows[row])
        found = _walk(data, position, int(spans.ends[row]), int(counts[row]) - step)
        starts[first + step : first + int(counts[row])] = found
    if np.count_nonzero(octets.take(starts, mode="clip") & 1):
        raise damaged("a record has no length")
    return starts


def _walk(data: bytes, position: int, end: int, count: int) -> list[int]:
    """Where each of the `count` records begins that lie in [position, end)."""
    first, hops, two_bytes = position, _HOPS, _two_bytes
    try:
        starts = [position := position + hops[two_bytes(data, position)[0]] for _ in range(count)]
    except struct.error:
        position = -1
    if position == end:
        return [first, *starts[:-1]]
    return _walk_any(data, first, end, count)


def _walk_any(data: bytes, position: int, end: int, count: int) -> list[int]:
    """The same, for lengths of any number of bytes."""
    starts: list[int] = []
    try:
        for _ in range(count):
            starts.append(position)
            length, position = unsigned_varint(data, position)
            position += length >> 1
    except IndexError:
        raise damaged("the records are cut short") from None
    if position != end:
        raise damaged("the records are not as long as their batch")
    return starts


def _after(octets: Octets, at: Numbers, bytes_max: int) -> Numbers:
    """The positions after the varints at these."""
    after = at + 1
    more, count = (octets.take(at, mode="clip") >= 0x80).nonzero()[0], 1
    while more.size:
        if count >= bytes_max:
            raise _too_long()
        next_at = after[more]
        after[more] = next_at + 1
        more, count = more[octets.take(next_at, mode="clip") >= 0x80], count + 1
    return after


def _varints(octets: Octets, at: Numbers, bytes_max: int) -> tuple[Numbers, Numbers]:
    """The unsigned varints at these positions -> (their 64 bits, the positions after them).

    One that reaches past the end is not noticed here: what follows it lies past the end, too.
    """
    octet = octets.take(at, mode="clip")
    values = (octet & 0x7F).astype(np.int64)
    after = at + 1
    more, shift = (octet >= 0x80).nonzero()[0], 7
    while more.size:
        if shift >= 7 * bytes_max:
            raise _too_long()
        next_at = after[more]
        octet = octets.take(next_at, mode="clip")
        values[more] |= (octet & 0x7F).astype(np.int64) << shift
        after[more] = next_at + 1
        more, shift = more[octet >= 0x80], shift + 7
    return values, after


def _too_long() -> Exception:
    return damaged("a number of more bits than it may have")


def _signed(values: Numbers) -> Numbers:
    """Of zigzag's 64 bits."""
    halves = (values.view(np.uint64) >> np.uint64(1)).view(np.int64)
    return halves ^ -(values & 1)


def _check_deltas(deltas: Numbers, batches: Numbers, spans: Spans) -> None:
    """Offsets ascend within their batch."""
    is_same_batch = batches[1:] == batches[:-1]
    if (
        np.count_nonzero(deltas & 1)
        or np.count_nonzero(deltas >> 1 > spans.last_offset_deltas[batches])
        or np.count_nonzero(is_same_batch & (deltas[1:] <= deltas[:-1]))
    ):
        raise damaged("a record's offset lies outside its batch")
