"""Whether a segment's two sparse indexes lead to where the batches are.

`.index` holds (last offset of a batch - base offset, its position), `.timeindex` (largest timestamp so far, offset of
the batch that brought it - base offset); both ascend, and both may end in zeros that are no entries (Kafka sizes them
beforehand). A damaged index hides records from readers that the log holds, so it is a fault though no byte of the log
differs. Entries are checked against the batches that a walk meets; a segment without indexes is legal.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from federation.audit.segments.batches import Part
from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES, OFFSET_MAX

Mark: TypeAlias = tuple[int, int, int, int]
"""A batch: where it starts in the bytes of a copy, base offset, next offset, largest timestamp."""
NO_MARK: Mark = (OFFSET_MAX, OFFSET_MAX, OFFSET_MAX, -1)
Column: TypeAlias = Any  # numpy's arrays of int64 or bool


class IndexDamage(NamedTuple):
    """Entry `number` of an index is the first that does not fit; `offset` is where the good ones end."""

    path: str
    number: int
    offset: int


class PartIndexes:
    """The indexes beside the segment file of one part, whose bytes begin at `begin` of its copy's."""

    def __init__(self, part: Part, begin: int) -> None:
        stem = part.path.removesuffix(".log")
        self._part = part
        self._base = int(stem[-20:]) if stem[-20:].isdigit() else 0
        self._paths = stem + ".index", stem + ".timeindex"
        self._last, self._position = _entries(self._paths[0], ">i4,>i4")
        self._timestamp, self._offset = _entries(self._paths[1], ">i8,>i4")
        self._last += self._base
        self._offset += self._base
        self._shift = begin - part.start
        self._place = self._position + self._shift
        self._is_inside = (self._position >= part.start) & (self._position < part.stop)

    @property
    def places(self) -> Column:
        """Where the entries say that batches start."""
        return self._place[self._is_inside]

    def damages(self, marks: Column, reached: int) -> Iterator[IndexDamage]:
        """What is wrong, by the batches that were met; `reached` is the offset after the last of them."""
        wrong = (np.diff(self._last, prepend=self._base - 1) <= 0) | (
            self._last >= self._part.bound
        )
        wrong |= np.diff(self._position, prepend=-1) <= 0
        if len(self._position):
            size = os.path.getsize(self._part.path)  # asked after the index was read
            wrong |= self._position >= size
            if size == self._part.stop:  # nothing of the file lies beyond what was read
                wrong |= self._last >= max(reached, self._part.floor)
        wrong |= self._is_inside & ~_leads(marks, self._place, self._last, reached)
        yield from self._first(0, wrong, self._last, reached)
        wrong = (np.diff(self._offset, prepend=self._base) < 0) | (self._offset >= self._part.bound)
        wrong |= np.diff(self._timestamp, prepend=self._timestamp[:1]) < 0
        wrong |= self._has_other_time(marks, reached)
        yield from self._first(1, wrong, self._offset, reached)

    def _has_other_time(self, marks: Column, reached: int) -> Column:
        """The batch of an entry's offset has another largest timestamp; mostly it is one that was noted.

        Only of batches that the walk met: the file's others may be damaged, and are judged with what is read there.
        """
        number: Column = np.searchsorted(marks[:, 2], self._offset, "right")
        noted = np.vstack([marks, NO_MARK])[number]
        is_noted = noted[:, 1] <= self._offset
        wrong = is_noted & (noted[:, 3] != self._timestamp)
        is_met = (self._part.floor <= self._offset) & (self._offset < reached)
        for entry in np.flatnonzero(~is_noted & is_met):
            found = self._largest_timestamp(int(self._offset[entry]), marks[: number[entry]])
            wrong[entry] = found is not None and found != self._timestamp[entry]
        return wrong

    def _largest_timestamp(self, offset: int, below: Column) -> int | None:
        """Of the batch that holds the offset, found by hopping from the last of the marks below it."""
        byte = self._part.start
        if len(below):
            byte = max(byte, int(below[-1, 0]) - self._shift)
        with open(self._part.path, "rb", buffering=0) as file:
            while byte < self._part.stop:
                data = os.pread(file.fileno(), HEADER_BYTES, byte)
                if len(data) < HEADER_BYTES:
                    return None
                header = HEADER.unpack(data)
                if header[0] + header[6] >= offset:
                    return int(header[8]) if header[0] <= offset else None
                byte += LENGTH_BYTES + max(header[1], HEADER_BYTES - LENGTH_BYTES)
        return None

    def _first(
        self, kind: int, wrong: Column, offsets: Column, reached: int
    ) -> Iterator[IndexDamage]:
        found = np.flatnonzero(wrong)
        if len(found):
            number = int(found[0])
            good = int(offsets[number - 1]) + 1 if number else self._base
            yield IndexDamage(self._paths[kind], number, good if good < reached else self._base)


def places(indexes: Sequence[PartIndexes]) -> list[int]:
    """Ascending: a walk takes note of the batches there, so that all these indexes can be checked."""
    columns = [one.places for one in indexes]
    return sorted(set(np.concatenate(columns).tolist())) if columns else []


def marked(marks: Sequence[Mark]) -> Column:
    return np.array(marks, np.int64).reshape(-1, 4)


def _entries(path: str, kind: str) -> tuple[Column, Column]:
    """The two columns of an index, none where there is no file."""
    layout = np.dtype(kind)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        data = b""
    rows = np.frombuffer(data, layout, len(data) // layout.itemsize)
    one, two = (rows[name].astype(np.int64) for name in ("f0", "f1"))
    used = np.flatnonzero((one != 0) | (two != 0))
    count = int(used[-1]) + 1 if len(used) else 0
    return one[:count], two[:count]


def _leads(marks: Column, place: Column, last: Column, reached: int) -> Column:
    """A batch starts there which ends with the entry's offset, or before it where several were appended at once."""
    if not len(marks):
        return np.zeros(len(place), bool)
    number = np.minimum(np.searchsorted(marks[:, 0], place), len(marks) - 1)
    following = np.append(marks[1:, 1], max(reached, int(marks[-1, 2])))[number]
    ends = (marks[number, 2] <= last + 1) & ((last < following) | (number == len(marks) - 1))
    return (marks[number, 0] == place) & ends
