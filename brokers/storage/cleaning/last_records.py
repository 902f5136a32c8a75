"""Which records of the dirty part of a log are the last ones of their keys, once all keys are known.

A byte for each offset. With it the second reading of a cleaning needs no keys there, and opens only those batches of
which a part is left.
"""

from typing import Final

import numpy as np

from brokers.ids import Offset
from brokers.records.batch import BatchHeader
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

    def knows(self, header: BatchHeader) -> bool:
        """Whether all records of a batch are among the offsets."""
        return header.base_offset >= self._first and header.next_offset <= self._end

    def count(self, header: BatchHeader) -> tuple[int, int]:
        """(records, deletion markers) of a batch that are the last ones of their keys."""
        start, end = header.base_offset - self._first, header.next_offset - self._first
        states = self._states
        return states.count(_WITH_VALUE, start, end), states.count(_MARKER, start, end)

    def are_last(self, offsets: Numbers) -> Flags:
        """Of records in batches that it `knows`."""
        found: Flags = self._at[offsets - self._first] != 0
        return found
