"""Which records of the dirty part of a log are the last ones of their keys, once all keys are known.

A byte for each offset. With it the second reading of a cleaning needs no keys there, and opens only those batches of
which a part is left.
"""

from typing import Final

import numpy as np

from brokers.ids import Offset
from brokers.records.record_columns import Flags, Numbers

_WITH_VALUE: Final = 1
_MARKER: Final = 2


class LastRecords:
    """Of the offsets [first, end)."""

    def __init__(self, first: Offset, end: Offset) -> None:
        self._first = first
        self._end = max(first, end)
        self._states = bytearray(self._end - first)  # 0: not the last of its key
        self._at = np.frombuffer(self._states, np.uint8)

    def note(self, superseded: Numbers, last: Numbers, has_value: Flags) -> None:
        """Of these offsets the `last` ones have taken the place of those that are `superseded`."""
        self._at[self._within(superseded)] = 0
        states = np.where(has_value, _WITH_VALUE, _MARKER)
        inside = (last >= self._first) & (last < self._end)
        self._at[last[inside] - self._first] = states[inside]

    def _within(self, offsets: Numbers) -> Numbers:
        inside: Numbers = offsets[(offsets >= self._first) & (offsets < self._end)]
        return inside - self._first

    def know(self, base_offsets: Numbers, last_offset_deltas: Numbers) -> Flags:
        """Whether all records are among the offsets, of each of these batches."""
        found: Flags = (base_offsets >= self._first) & (
            base_offsets + last_offset_deltas < self._end
        )
        return found

    def counts(self, base_offsets: Numbers, next_offsets: Numbers) -> tuple[Numbers, Numbers]:
        """(records with a value, deletion markers) of each of these batches that are the last ones of their keys.

        The batches are known, do not overlap, and are in order.
        """
        if base_offsets.size == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        first = int(base_offsets[0])
        states = self._at[first - self._first : int(next_offsets[-1]) - self._first]
        starts, ends = base_offsets - first, next_offsets - first
        return _counted(states == _WITH_VALUE, starts, ends), _counted(
            states == _MARKER, starts, ends
        )

    def states(self, offsets: Numbers) -> tuple[Flags, Flags]:
        """(whether it is the last of its key, whether it is then a marker) of records in known batches."""
        found = self._at[offsets - self._first]
        return found != 0, found == _MARKER


def _counted(flags: Flags, starts: Numbers, ends: Numbers) -> Numbers:
    totals = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=totals[1:])
    counted: Numbers = totals[ends] - totals[starts]
    return counted
