"""What retention by time and size leaves alone, because a mirror in another region does not hold it yet.

PostgreSQL's replication slots and MySQL's binlog dump threads hold a log for a reader; Kafka has no such thing.
"""

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from brokers.ids import Instant, Offset, TopicPartition
from brokers.log.log import Log


class RetentionHold(NamedTuple):
    """For one mirror, which holds what is below `offset`. The rest is kept while it is not older than `max_ms`, and up
    to `max_bytes` of it."""

    offset: Offset
    max_bytes: int
    max_ms: int


class MarkerHold(NamedTuple):
    """Deletion markers from `offset` on are kept until `max_ms` after their time (`delete.retention.ms`)."""

    offset: Offset
    max_ms: int


class HeldSegment(NamedTuple):
    """A segment that retention would delete, were it not held."""

    base_offset: Offset
    end_offset: Offset
    size: int
    newest: Instant


def held_segments(
    log: Log, expired: Offset, holds: Iterable[RetentionHold], now: Instant
) -> list[HeldSegment]:
    """Of the segments below `expired`, those that a hold keeps, the oldest first. A log has no gaps, so all after the
    first of them stay, too."""
    ends = [*(segment.base_offset for segment in log.segments[1:]), log.log_end_offset]
    expiring = [
        HeldSegment(segment.base_offset, end, segment.size, segment.newest)
        for segment, end in zip(log.segments, ends, strict=True)
        if end <= expired
    ]
    first = min((_first_held(expiring, hold, now) for hold in holds), default=len(expiring))
    return expiring[first:]


def _first_held(expiring: list[HeldSegment], hold: RetentionHold, now: Instant) -> int:
    first = 0
    for segment in expiring:
        if segment.end_offset > hold.offset and now - segment.newest <= hold.max_ms:
            break
        first += 1
    size = sum(segment.size for segment in expiring[first:])
    while first < len(expiring) and size > hold.max_bytes:
        size -= expiring[first].size
        first += 1
    return first


def released(
    held: Mapping[TopicPartition, list[HeldSegment]], max_bytes: int
) -> dict[TopicPartition, int]:
    """How many segments of each log, its oldest, are given up so that all together are `max_bytes` at most. The oldest
    of all go first."""
    total = sum(segment.size for segments in held.values() for segment in segments)
    ages = sorted(
        (newest, position, partition)
        for partition, segments in held.items()
        # A segment goes after those before it, whatever the times of its records are.
        for position, newest in enumerate(accumulate((one.newest for one in segments), max))
    )
    counts = dict.fromkeys(held, 0)
    for _, position, partition in ages:
        if total <= max_bytes:
            break
        total -= held[partition][position].size
        counts[partition] += 1
    return counts
