"""Offsets by timestamp: the time index has the batch, in which the record is searched (ListOffsets, KIP-79)."""

from collections.abc import Iterator
from typing import NamedTuple

from brokers.effects import FindTimestamp
from brokers.ids import Instant, LeaderEpoch, Offset
from brokers.ports import Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.records.record import open_batch
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.log_segment import LogSegment

MAX_TIMESTAMP = -3  # the record with the largest timestamp (KIP-734)
# A few compressed kilobytes can hold millions of records, and the node does nothing else during the search.
RECORDS_OPENED_MAX = 1 << 16


class Found(NamedTuple):
    """A record's offset and timestamp, and the leader epoch of its batch."""

    offset: Offset
    timestamp: Instant
    leader_epoch: LeaderEpoch


NOTHING_FOUND = Found(-1, -1, -1)


def found_timestamp(files: Files, log: LocalLog | None, effect: FindTimestamp) -> Found:
    """The result of the effect; none if the log is not open or corrupt."""
    if log is None:
        return NOTHING_FOUND
    try:
        return find_timestamp(files, log, effect.timestamp, effect.bound) or NOTHING_FOUND
    except BatchError:
        return NOTHING_FOUND


def find_timestamp(files: Files, log: LocalLog, timestamp: Instant, bound: Offset) -> Found | None:
    """The first record at or after `timestamp`, or with `MAX_TIMESTAMP` the first with the largest, below `bound`."""
    if timestamp == MAX_TIMESTAMP:
        return _largest(files, log, bound)
    for segment in log.segments:
        if segment.base_offset >= bound:
            return None
        if segment.max_timestamp < timestamp:
            continue
        since = max(segment.time_index.floor(timestamp), log.log_start_offset)
        for position, header in _batches(log, segment, since, bound):
            if header.max_timestamp >= timestamp:
                found = _first_at(files, segment, position, header, timestamp, log.log_start_offset)
                if found:
                    return found
    return None


def _largest(files: Files, log: LocalLog, bound: Offset) -> Found | None:
    best: tuple[LogSegment, int, BatchHeader] | None = None
    for segment in log.segments:
        if best and segment.max_timestamp <= best[2].max_timestamp:
            continue
        since = segment.max_timestamp_offset
        if not log.log_start_offset <= since < bound:
            # The segment's largest is above `bound`: search the batches below it.
            since = log.log_start_offset
        for position, header in _batches(log, segment, since, bound):
            if best is None or header.max_timestamp > best[2].max_timestamp:
                best = segment, position, header
    if best is None or best[2].max_timestamp < 0:
        return None
    segment, position, header = best
    return _first_at(files, segment, position, header, header.max_timestamp, log.log_start_offset)


def _batches(
    log: LocalLog, segment: LogSegment, since: Offset, bound: Offset
) -> Iterator[tuple[int, BatchHeader]]:
    for position, header in segment.scan_headers(log.position_of(segment, since)):
        if header.next_offset > bound:
            return
        if header.record_count > 0:
            yield position, header


def _first_at(
    files: Files,
    segment: LogSegment,
    position: int,
    header: BatchHeader,
    timestamp: Instant,
    log_start_offset: Offset,
) -> Found | None:
    # A batch that cannot or should not be opened: its header's values are the best ones.
    claimed = Found(
        max(header.base_offset, log_start_offset), header.max_timestamp, header.leader_epoch
    )
    if header.record_count > RECORDS_OPENED_MAX:
        return claimed
    try:
        for record in open_batch(files.read(segment.path, position, header.length)):
            if record.timestamp >= timestamp and record.offset >= log_start_offset:
                return Found(record.offset, record.timestamp, header.leader_epoch)
    except BatchError:  # badly compressed, or corrupt
        return claimed
    return None
