"""What a cleaning is to do. A plan and its results are values, which a host may send to another process."""

from typing import NamedTuple

from brokers.compaction import CleaningLimits, CleaningStats, LastBatch
from brokers.ids import OFFSET_MAX, Instant, Offset


class PlannedSegment(NamedTuple):
    """A sealed segment; `next_offset` is one past the last offset that it may hold."""

    base_offset: Offset
    next_offset: Offset
    size: int


class CleaningPlan(NamedTuple):
    """One cleaning. `segments` are all up to its end, of which those from `first_dirty_offset` on are not clean yet."""

    directory: str
    segments: tuple[PlannedSegment, ...]
    first_dirty_offset: Offset
    now: Instant
    delete_retention_ms: int
    segment_bytes: int
    index_interval_bytes: int
    last_batches: tuple[LastBatch, ...]
    limits: CleaningLimits
    keep_markers_from: Offset = OFFSET_MAX
    keep_markers_ms: int = 0

    @property
    def end(self) -> Offset:
        """Nothing from it on is changed, and nothing is removed because of what lies there."""
        return self.segments[-1].next_offset if self.segments else 0


class CleanedSegment(NamedTuple):
    """One finished segment, under a name of its own. It replaces those that begin in [base_offset, next_offset).

    `markers_from`: one past the last batch of it that lost a deletion marker or a transaction's, -1 if none did.
    """

    base_offset: Offset
    next_offset: Offset
    size: int
    markers_from: Offset = -1


class CleaningDone(NamedTuple):
    """The end of a cleaning: everything below `next_offset` is clean."""

    next_offset: Offset
    stats: CleaningStats


class CleaningFailed(NamedTuple):
    """A cleaning that ended early. `is_final`: another one would end the same way; else it may be tried again."""

    reason: str
    is_final: bool
