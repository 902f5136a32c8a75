"""The result of opening a log: immutable, so that core and storage share no state."""

from typing import NamedTuple

from brokers.ids import Instant, LeaderEpoch, Offset
from brokers.log.producers import ProducerEntry


class RecoveredSegment(NamedTuple):
    """One segment; `created_at` is the timestamp of its first batch."""

    base_offset: Offset
    size: int = 0
    created_at: Instant = -1
    max_timestamp: Instant = -1
    is_sealed: bool = False  # it and its digest are synced
    index_entries: int = 0  # of the active segment


class RecoveredLog(NamedTuple):
    """One log after recovery. Segments ascend, the last one is active; there is at least one."""

    topic_id: bytes
    segments: tuple[RecoveredSegment, ...]
    log_start_offset: Offset
    log_end_offset: Offset
    high_watermark_checkpoint: Offset = 0
    epochs: tuple[tuple[LeaderEpoch, Offset], ...] = ()
    producers: tuple[ProducerEntry, ...] = ()
    cleaner_offset: Offset = 0  # everything below is clean
    complete_from: Offset = 0  # as in `completeness`
    markers_from: Offset = 0
    # The checkpoint as it is stored: above the log's end where that is damaged.
    stored_high_watermark: Offset = 0
