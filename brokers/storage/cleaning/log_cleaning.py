"""One cleaning of one log, in small steps, in any thread or process (Kafka's Cleaner).

It reads through files of its own and writes only new ones. What it finishes is swapped in by the log's own thread, in
the order in which it comes.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from brokers.events import CleaningStats
from brokers.ids import Offset
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.storage.cleaning.batch_filter import BatchFilter, Left
from brokers.storage.cleaning.batch_reading import checked_batches
from brokers.storage.cleaning.cleaned_writing import CleanedWriting
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.key_mapping import (
    STEP_BYTES,
    KeyMapping,
    TooManyKeys,
    marker_of,
    path_of,
)
from brokers.storage.segments.log_segment import LogSegment

_OFFSETS_MAX: Final = 2**31 - 1  # of one segment: its indexes hold relative offsets as int32

Group: TypeAlias = Sequence[PlannedSegment]
# Bytes read and written since the last step, a segment to be swapped in, or the end.
Step: TypeAlias = int | CleanedSegment | CleaningDone | CleaningFailed


class LogCleaning:
    """Run `steps` to their end; the last one is `CleaningDone` or `CleaningFailed`."""

    def __init__(self, files: Files, plan: CleaningPlan) -> None:
        self._files = files
        self._plan = plan
        self._mapping = KeyMapping(files, plan)
        self._last_of = {each.producer_id: each for each in plan.last_batches}
        self._read = self._written = 0
        self._records_read = self._records_written = self._without_key = 0

    def steps(self) -> Iterator[Step]:
        mapping, plan = self._mapping, self._plan
        try:
            yield from mapping.steps()
            filtered = BatchFilter(mapping.offsets, mapping.end, plan)
            for group in groups(plan, mapping.end):
                yield from self._clean(group, filtered)
            yield CleaningDone(mapping.end, self._stats())
        except BatchError as error:
            yield CleaningFailed(error.because, is_final=True)
        except TooManyKeys as error:
            yield CleaningFailed(str(error), is_final=True)
        except DiskError as error:
            yield CleaningFailed(str(error), is_final=False)

    def _stats(self) -> CleaningStats:
        used = self._mapping.offsets.size
        return CleaningStats(
            self._mapping.bytes_read + self._read,
            self._written,
            self._records_read,
            self._records_written,
            self._without_key,
            used,
            used / self._mapping.entries,
        )

    def _clean(self, group: Group, filtered: BatchFilter) -> Iterator[Step]:
        plan, base = self._plan, group[0].base_offset
        segment = LogSegment(self._files, plan.directory, base, plan.index_interval_bytes)
        writing = CleanedWriting(self._files, segment, plan.limits.io_bytes)
        is_finished, is_changed, since, markers_from = False, len(group) > 1, 0, -1
        try:
            for header, batch, is_last in self._batches(group):
                left = self._filter(header, batch, filtered, is_last=is_last)
                is_changed = is_changed or left.data is not batch
                if left.lost_marker:
                    markers_from = header.next_offset
                self._count(header, left)
                since += header.length
                if left.data is not None:
                    writing.add(left.header, left.data)
                    since += left.header.length
                if since >= STEP_BYTES:
                    yield since
                    since = 0
            if is_changed:
                writing.finish()
                is_finished = True
        finally:
            if not is_finished:
                writing.give_up()
        yield since
        if is_changed:
            self._written += segment.size
            yield CleanedSegment(base, group[-1].next_offset, segment.size, markers_from)

    def _batches(self, group: Group) -> Iterator[tuple[BatchHeader, memoryview, bool]]:
        """(header, bytes, whether it is the last one of the group)."""
        last = [each for each in group if each.size > 0][-1]
        for segment in group:
            reader, left = self._files.reader(path_of(self._plan, segment)), segment.size
            try:
                for header, batch in checked_batches(reader, segment, self._plan.limits.io_bytes):
                    left -= header.length
                    yield header, batch, segment is last and left == 0
            finally:
                reader.close()

    def _filter(
        self, header: BatchHeader, batch: memoryview, filtered: BatchFilter, *, is_last: bool
    ) -> Left:
        """A group's last batch is kept at least as a header: so the new segment covers the offsets of the old ones."""
        keep_empty = is_last or self._is_last_of_producer(header)
        rules = self._mapping.rules
        if header.is_control:
            marker = marker_of(header, batch)
            is_idle = rules.is_discarded(header, marker)
            return filtered.keep_marker(header, batch, is_idle=is_idle, keep_empty=keep_empty)
        if rules.is_discarded(header, None):
            return Left(*filtered.empty(header, keep_empty=keep_empty), 0)
        return filtered.keep(header, batch, keep_empty=keep_empty)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Whether an active producer's last sequence, or without data its last epoch, is known from this batch."""
        last = self._last_of.get(header.producer_id)
        if last is None:
            return False
        if last.last_offset < 0:
            return header.is_control and header.producer_epoch == last.producer_epoch
        return header.next_offset - 1 == last.last_offset

    def _count(self, header: BatchHeader, left: Left) -> None:
        self._read += header.length
        self._records_read += header.record_count
        self._records_written += left.records if left.data is not None else 0
        self._without_key += left.without_key


def groups(plan: CleaningPlan, end: Offset) -> Iterator[Group]:
    """Neighbouring segments that begin below `end`, together no larger than one segment may be."""
    group: list[PlannedSegment] = []
    size = 0
    for segment in plan.segments:
        if segment.base_offset >= end:
            break
        offsets = segment.next_offset - group[0].base_offset if group else 0
        if group and (size + segment.size > plan.segment_bytes or offsets > _OFFSETS_MAX):
            if size > 0:
                yield tuple(group)
            group, size = [], 0
        group.append(segment)
        size += segment.size
    if size > 0:
        yield tuple(group)
