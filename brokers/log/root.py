"""The data directory's root: Kafka's three offset checkpoints, the clean-shutdown marker, leftovers of deletions.

All three are hints that can be done without: a lost high watermark is raised again, a lost log start brings whole
segments back, a lost recovery point makes recovery read more.
"""

from collections.abc import Mapping

from brokers.ids import Offset, TopicPartition
from brokers.log.checkpoints import (
    CLEAN_SHUTDOWN,
    CLEAN_SHUTDOWN_CONTENT,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    CheckpointError,
    format_offsets,
    parse_offsets,
)
from brokers.ports import Files

DELETED_SUFFIX = "-delete"


class Root:
    """The checkpoints as the directory held them."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.repairs: list[str] = []
        closed = files.exists(CLEAN_SHUTDOWN)
        files.remove(CLEAN_SHUTDOWN)  # from now on a crash is one
        for name in files.list(""):
            if name.endswith(DELETED_SUFFIX):
                files.remove(name)
        self.high_watermarks = self._load(HIGH_WATERMARKS)
        self.log_starts = self._load(LOG_STARTS)
        self.recovery_points = self._load(RECOVERY_POINTS)
        self._saved_recovery_points = dict(self.recovery_points)
        self._closed = set(self.recovery_points) if closed else set()

    def _load(self, name: str) -> dict[TopicPartition, Offset]:
        if not self._files.exists(name):
            return {}
        try:
            return parse_offsets(self._files.read(name, 0, self._files.size(name)))
        except CheckpointError as error:
            self.repairs.append(f"{name}: unreadable, ignored: {error}")
            return {}

    def save_high_watermarks(self, offsets: Mapping[TopicPartition, Offset]) -> None:
        """Take over these, and save all if one of them is new."""
        merged = {**self.high_watermarks, **offsets}
        if merged != self.high_watermarks:
            self._files.replace(HIGH_WATERMARKS, format_offsets(merged))
            self.high_watermarks = merged

    def save_log_start(self, partition: TopicPartition, offset: Offset) -> None:
        log_starts = self.log_starts | {partition: offset}
        self._files.replace(LOG_STARTS, format_offsets(log_starts))
        self.log_starts = log_starts

    def save_recovery_points(self) -> None:
        """Only if one has moved since."""
        if self.recovery_points != self._saved_recovery_points:
            self._files.replace(RECOVERY_POINTS, format_offsets(self.recovery_points))
            self._saved_recovery_points = dict(self.recovery_points)

    def mark_closed(self) -> None:
        """Every log was closed in order: the next start need not check them."""
        self._files.replace(CLEAN_SHUTDOWN, CLEAN_SHUTDOWN_CONTENT)

    def was_closed(self, partition: TopicPartition) -> bool:
        """Whether the last owner closed this log cleanly. True once at most: then the log is open."""
        closed = partition in self._closed
        self._closed.discard(partition)
        return closed

    def forget(self, partition: TopicPartition) -> None:
        """The partition's folder is gone, or is a new one."""
        for offsets in (self.high_watermarks, self.log_starts, self.recovery_points):
            offsets.pop(partition, None)
        self._closed.discard(partition)
