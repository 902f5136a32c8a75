"""What of a compacted log can be cleaned, and how urgent that is (Kafka's LogCleanerManager; KIP-58, KIP-354).

    log start ... clean ... first dirty ... dirty ... first uncleanable ... active segment ... log end

A log is cleaned up to its first segment that is active, holds what is not committed, is not on the disk yet, or has a
record younger than `min.compaction.lag.ms`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from brokers.compaction import LastBatch
from brokers.ids import Instant, Offset
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.producers import ProducerStates
from brokers.log.segments import Segment


class LogToClean(NamedTuple):
    """Dirty and clean bytes below `first_uncleanable`; `overdue_ms`: how long `max.compaction.lag.ms` is exceeded."""

    first_dirty: Offset
    first_uncleanable: Offset
    clean_bytes: int
    cleanable_bytes: int
    overdue_ms: int

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    def is_due(self, config: LogConfig) -> bool:
        """Whether the log is dirty enough, or a record has waited too long."""
        if self.cleanable_bytes == 0:
            return False
        return self.overdue_ms > 0 or self.dirty_ratio > config.min_cleanable_dirty_ratio

    def may_soon_be_due(self, config: LogConfig) -> bool:
        """Whether the log is half as dirty as it has to be."""
        return self.cleanable_bytes > 0 and (
            2 * self.dirty_ratio >= config.min_cleanable_dirty_ratio
        )


def log_to_clean(log: Log, config: LogConfig, stable: Offset, now: Instant) -> LogToClean:
    """`stable`: the last stable offset, above which nothing is cleaned."""
    first_dirty = first_dirty_offset(log)
    bound = log.segments[-1].base_offset
    for segment, following in pairwise(log.segments):
        is_young = config.min_compaction_lag_ms > 0 and (
            segment.newest > now - config.min_compaction_lag_ms
        )
        is_unsynced = segment.base_offset >= first_dirty and not segment.is_sealed
        if is_unsynced or following.base_offset > stable or is_young:
            bound = segment.base_offset
            break
    clean = dirty = 0
    for segment, following in pairwise(log.segments):
        if segment.base_offset >= bound:
            break
        # A cleaning whose buffer was full ends within a segment: the rest of that one waits for the next.
        if following.base_offset > first_dirty:
            dirty += segment.size
        else:
            clean += segment.size
    overdue = _overdue_ms(log, config, first_dirty, now)
    return LogToClean(first_dirty, bound, clean, dirty, overdue)


def first_dirty_offset(log: Log) -> Offset:
    """The checkpoint, unless the log begins above it or ends below it, as a log that was made anew does."""
    if log.log_start_offset <= log.cleaner_offset <= log.log_end_offset:
        return log.cleaner_offset
    return log.log_start_offset


def _overdue_ms(log: Log, config: LogConfig, first_dirty: Offset, now: Instant) -> int:
    waiting = [each.created_at for each in _dirty_segments(log, first_dirty) if each.created_at > 0]
    if not waiting:
        return 0
    return max(0, now - config.max_compaction_lag_ms - min(waiting))


def _dirty_segments(log: Log, first_dirty: Offset) -> Iterator[Segment]:
    for segment, following in pairwise(log.segments):
        if following.base_offset > first_dirty and segment.size > 0:
            yield segment


def last_batches(producers: ProducerStates) -> tuple[LastBatch, ...]:
    """The last batch of each active producer: a cleaning keeps it at least as a header."""
    return tuple(
        LastBatch(
            producer_id,
            producer.batches[-1].next_offset - 1 if producer.batches else -1,
            producer.epoch,
        )
        for producer_id, producer in producers
    )
