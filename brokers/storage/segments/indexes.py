"""Kafka's two sparse indexes of a segment, kept as the bytes of their files.

An entry is added for a batch after each `index.interval.bytes` of log. The offset index holds
(last offset of the batch - base offset, position of the batch); the time index holds (largest timestamp so far, last
offset of its batch - base offset). Both ascend, so lookups are binary searches.
"""

from bisect import bisect_right
from struct import Struct
from typing import NamedTuple

from brokers.ids import Buffer, Instant, Offset

OFFSET_ENTRY = Struct(">ii")
TIME_ENTRY = Struct(">qi")


class OffsetEntry(NamedTuple):
    """The batch at `position` ends with `last_offset`."""

    last_offset: Offset
    position: int


class OffsetIndex:
    """Offsets to positions, sparsely. `data` is the content of the `.index` file."""

    __slots__ = ("base_offset", "data")

    def __init__(self, base_offset: Offset, data: Buffer = b"") -> None:
        self.base_offset = base_offset
        self.data = bytearray(data)

    def __len__(self) -> int:
        return len(self.data) // OFFSET_ENTRY.size

    def add(self, last_offset: Offset, position: int) -> None:
        self.data += OFFSET_ENTRY.pack(last_offset - self.base_offset, position)

    def entry(self, number: int) -> OffsetEntry:
        relative, position = OFFSET_ENTRY.unpack_from(self.data, number * OFFSET_ENTRY.size)
        return OffsetEntry(self.base_offset + relative, position)

    def floor(self, offset: Offset) -> int:
        """A position at or before the batch that holds `offset`."""
        after = bisect_right(range(len(self)), offset, key=self._last_offset)
        return self.entry(after - 1).position if after else 0

    def before(self, bound: Offset, position: int) -> int:
        """The number of entries whose batch ends below `bound` and begins at or below `position`."""
        below_bound = len(self)
        if below_bound and self._last_offset(below_bound - 1) >= bound:
            below_bound = bisect_right(range(below_bound), bound - 1, key=self._last_offset)
        return bisect_right(range(below_bound), position, key=self._position)

    def last(self) -> OffsetEntry | None:
        return self.entry(len(self) - 1) if self.data else None

    def _last_offset(self, number: int) -> Offset:
        relative: int = OFFSET_ENTRY.unpack_from(self.data, number * OFFSET_ENTRY.size)[0]
        return self.base_offset + relative

    def _position(self, number: int) -> int:
        position: int = OFFSET_ENTRY.unpack_from(self.data, number * OFFSET_ENTRY.size)[1]
        return position


class TimeIndex:
    """Timestamps to offsets, sparsely. `data` is the content of the `.timeindex` file."""

    __slots__ = ("_newest", "base_offset", "data")

    def __init__(self, base_offset: Offset, data: Buffer = b"") -> None:
        self.base_offset = base_offset
        self.data = bytearray(data)
        self._newest = self._timestamp(len(self) - 1) if len(self) else None

    def __len__(self) -> int:
        return len(self.data) // TIME_ENTRY.size

    def add(self, timestamp: Instant, last_offset: Offset) -> None:
        """Add a new maximum; smaller timestamps are not added, as in Kafka."""
        if self._newest is None or timestamp > self._newest:
            self._newest = timestamp
            self.data += TIME_ENTRY.pack(timestamp, last_offset - self.base_offset)

    def entry(self, number: int) -> tuple[Instant, Offset]:
        timestamp, relative = TIME_ENTRY.unpack_from(self.data, number * TIME_ENTRY.size)
        return timestamp, self.base_offset + relative

    def floor(self, timestamp: Instant) -> Offset:
        """An offset below which no batch has a timestamp at or above `timestamp`."""
        after = bisect_right(range(len(self)), timestamp, key=self._timestamp)
        return self.entry(after - 1)[1] if after else self.base_offset

    def last(self) -> tuple[Instant, Offset] | None:
        return self.entry(len(self) - 1) if self.data else None

    def _timestamp(self, number: int) -> Instant:
        timestamp: int = TIME_ENTRY.unpack_from(self.data, number * TIME_ENTRY.size)[0]
        return timestamp
