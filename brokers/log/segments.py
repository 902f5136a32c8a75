"""What the core knows of one segment of a log."""

from dataclasses import dataclass

from brokers.ids import Instant, Offset


@dataclass(slots=True)
class Segment:
    """One segment as decided: `size` counts bytes handed to the disk, whether written yet or not."""

    base_offset: Offset
    size: int = 0
    created_at: Instant = -1  # when its first batch came; after a restart, that batch's timestamp
    max_timestamp: Instant = -1
    is_sealed: bool = False  # its bytes and its digest are on the disk (`SegmentSealed`)

    def grow(self, size: int, max_timestamp: Instant, now: Instant) -> None:
        """Account for batches appended to it."""
        if self.size == 0:
            self.created_at = now
        self.size += size
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp

    @property
    def newest(self) -> Instant:
        """The instant that retention by time looks at."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.created_at
