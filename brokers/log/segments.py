"""One segment of a log, in the core."""

from collections.abc import Sequence
from dataclasses import dataclass

from brokers.ids import Instant, Offset
from brokers.records.batch import BatchHeader


@dataclass(slots=True)
class Segment:
    """`size` counts all appended bytes, written or not."""

    base_offset: Offset
    size: int = 0
    created_at: Instant = -1  # time of the first append; after a restart, its timestamp
    max_timestamp: Instant = -1
    is_sealed: bool = False  # it and its digest are synced (`SegmentSealed`)
    index_entries: int = 0
    unindexed: int = 0  # bytes since the last of them

    def grow(self, size: int, max_timestamp: Instant, now: Instant) -> None:
        if self.size == 0:
            self.created_at = now
        self.size += size
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp

    def count_index(self, headers: Sequence[BatchHeader], interval: int) -> None:
        """Counts the entries that `storage` adds to the indexes for these batches."""
        for header in headers:
            if self.unindexed > interval:
                self.index_entries += 1
                self.unindexed = 0
            self.unindexed += header.length

    @property
    def newest(self) -> Instant:
        """The time that `retention.ms` counts from."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.created_at
