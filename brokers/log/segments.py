"""What the core remembers of one segment file, and Kafka's names for the files of a log."""

from dataclasses import dataclass

from brokers.ids import Instant, Offset

LOG, INDEX, TIME_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".snapshot"
_DIGITS = 20


@dataclass(slots=True)
class Segment:
    """One segment as decided: `size` counts bytes handed to the disk, whether written yet or not."""

    base_offset: Offset
    size: int = 0
    created_at: Instant = -1  # when its first batch came; after a restart, that batch's timestamp
    max_timestamp: Instant = -1

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


def file_name(offset: Offset, suffix: str) -> str:
    """Kafka's name of a log's file: the offset in 20 digits, and what it is."""
    return f"{offset:0{_DIGITS}d}{suffix}"


def offset_in_name(name: str, suffix: str) -> Offset | None:
    """The offset that a file's name carries, if it is such a file."""
    digits = name.removesuffix(suffix)
    if digits == name or len(digits) != _DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits)
