"""Whether a segment's two sparse indexes lead to where the batches are.

`.index` holds (last offset of a batch - base offset, its position), `.timeindex` (largest timestamp so far, offset of
the batch that brought it - base offset); both ascend, and both may end in zeros that are no entries (Kafka sizes them
beforehand). A damaged index hides records from readers that the log holds, so it is a fault though no byte of the log
differs. Entries are checked against the batches that a walk has seen; a segment without indexes is legal.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from federation.audit.segments.batches import Part

Marks: TypeAlias = list[tuple[int, int, int, int]]
"""Of each batch: where it starts in the bytes of a unit, base offset, next offset, largest timestamp."""


class IndexDamage(NamedTuple):
    """Entry `number` of an index is the first that does not fit; `offset` is where the good ones end."""

    path: str
    number: int
    offset: int


class BatchIndex:
    """The batches of one copy of a unit, to look entries up in."""

    def __init__(self, marks: Marks) -> None:
        import numpy

        self._np = numpy
        self._marks = numpy.array(marks, numpy.int64).reshape(-1, 4)

    def damages(self, part: Part, begin: int) -> Iterator[IndexDamage]:
        """What is wrong with the indexes of the part's segment; its bytes begin at `begin` of the unit's."""
        stem = part.path.removesuffix(".log")
        base = int(stem[-20:])
        offsets = self._entries(stem + ".index", ">i4,>i4")
        if offsets is not None:
            relative, position = offsets
            last = base + relative
            wrong = self._not_rising(relative) | self._not_rising(position) | (relative < 0)
            wrong |= last >= part.bound
            wrong |= position >= os.path.getsize(part.path)  # asked after the index was read
            inside = (position >= part.start) & (position < part.stop)
            inside &= position - part.start + begin < self._end
            wrong |= inside & ~self._leads(position - part.start + begin, last)
            yield from self._first(stem + ".index", wrong, last, base)
        times = self._entries(stem + ".timeindex", ">i8,>i4")
        if times is not None:
            timestamp, relative = times
            offset = base + relative
            wrong = self._falls(timestamp) | self._falls(relative) | (relative < 0)
            wrong |= self._other_time(timestamp, offset)
            yield from self._first(stem + ".timeindex", wrong, offset, base)

    @property
    def _end(self) -> int:
        """Where the last batch that was seen starts, and one."""
        return int(self._marks[-1, 0]) + 1 if len(self._marks) else 0

    def _entries(self, path: str, kind: str) -> tuple[Any, Any] | None:
        np = self._np
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        size = np.dtype(kind).itemsize
        rows = np.frombuffer(data[: len(data) // size * size], kind)
        one, two = (rows[name].astype(np.int64) for name in rows.dtype.names)
        used = np.flatnonzero((one != 0) | (two != 0))
        count = int(used[-1]) + 1 if len(used) else 0
        return (one[:count], two[:count]) if count else None

    def _leads(self, at: Any, last: Any) -> Any:
        """A batch starts there, at or below the entry's offset, and some batch ends with that offset."""
        np, marks = self._np, self._marks
        number = np.minimum(np.searchsorted(marks[:, 0], at), len(marks) - 1)
        ends = np.isin(last + 1, marks[:, 2]) | (last >= marks[-1, 2])
        return (marks[number, 0] == at) & (marks[number, 1] <= last) & ends

    def _other_time(self, timestamp: Any, offset: Any) -> Any:
        """The batch of that offset was seen, and has another largest timestamp."""
        np, marks = self._np, self._marks
        if not len(marks):
            return np.zeros(len(offset), bool)
        number = np.minimum(np.searchsorted(marks[:, 2], offset, "right"), len(marks) - 1)
        seen = (marks[number, 1] <= offset) & (offset < marks[number, 2])
        return seen & (marks[number, 3] != timestamp)

    def _not_rising(self, column: Any) -> Any:
        return self._np.diff(column, prepend=-1) <= 0

    def _falls(self, column: Any) -> Any:
        return self._np.diff(column, prepend=column[:1]) < 0

    def _first(self, path: str, wrong: Any, offsets: Any, base: int) -> Iterator[IndexDamage]:
        found = self._np.flatnonzero(wrong)
        if len(found):
            number = int(found[0])
            low = int(offsets[number - 1]) + 1 if number else base
            low = low if len(self._marks) and low < self._marks[-1, 2] else base
            yield IndexDamage(path, number, low)
