"""One cleaning of one log, in small steps, in any thread or process (Kafka's Cleaner).

It reads through files of its own and writes only new ones. What it finishes is swapped in by the log's own thread, in
the order in which it comes.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from brokers.events import CleaningStats
from brokers.ids import LeaderEpoch, Offset
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.storage.cleaning.batch_filter import BatchFilter, ToFilter
from brokers.storage.cleaning.batch_reading import ReadBatch, ReadBatches, checked_chunks
from brokers.storage.cleaning.batch_rebuilding import NOTHING, Left, emptied, unchanged
from brokers.storage.cleaning.cleaned_writing import CleanedWriting
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.key_mapping import KeyMapping, TooManyKeys, marker_of, path_of
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
        self._epoch: LeaderEpoch = -1  # of the batch before
        self._last_of = {each.producer_id: each for each in plan.last_batches}
        self._read = self._written = 0
        self._records_read = self._records_written = self._without_key = 0

    def steps(self) -> Iterator[Step]:
        mapping, plan = self._mapping, self._plan
        try:
            yield from mapping.steps()
            filtered = BatchFilter(mapping.offsets, mapping.last, mapping.end, plan)
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
            self._read,
            self._written,
            self._records_read,
            self._records_written,
            self._mapping.without_key + self._without_key,
            used,
            used / self._mapping.entries,
        )

    def _clean(self, group: Group, filtered: BatchFilter) -> Iterator[Step]:
        plan, base = self._plan, group[0].base_offset
        segment = LogSegment(self._files, plan.directory, base, plan.index_interval_bytes)
        writing = CleanedWriting(self._files, segment, plan.limits.io_bytes)
        is_finished, is_changed, markers_from = False, len(group) > 1, -1
        try:
            for chunk, is_last in self._chunks(group):
                before = self._read + segment.size
                for each, left in self._filtered(chunk, filtered, is_last=is_last):
                    is_changed = is_changed or left.is_changed
                    if left.lost_marker:
                        markers_from = each.header.next_offset
                    self._count(each.header, left)
                    if left.header is not None:
                        writing.add(left.header, left.pieces)
                yield self._read + segment.size - before
            if is_changed:
                writing.finish()
                is_finished = True
        finally:
            if not is_finished:
                writing.give_up()
        if is_changed:
            self._written += segment.size
            yield CleanedSegment(base, group[-1].next_offset, segment.size, markers_from)

    def _chunks(self, group: Group) -> Iterator[tuple[ReadBatches, bool]]:
        """(batches, whether the last one of the group is among them)."""
        last = [each for each in group if each.size > 0][-1]
        for segment in group:
            reader, left = self._files.reader(path_of(self._plan, segment)), segment.size
            try:
                for chunk in checked_chunks(reader, segment, self._plan.limits.io_bytes):
                    left -= sum(each.header.length for each in chunk.batches)
                    yield chunk, segment is last and left == 0
            finally:
                reader.close()

    def _filtered(
        self, chunk: ReadBatches, filtered: BatchFilter, *, is_last: bool
    ) -> Iterator[tuple[ReadBatch, Left]]:
        """Each batch with what is left of it. A group's last batch is kept at least as a header: so the new segment
        covers the offsets of the old ones. And so is the first batch of each leader epoch: whoever copies the log
        knows by it where the epoch began."""
        known: list[Left | None] = []
        wanted: list[ToFilter] = []
        for number, each in enumerate(chunk.batches, 1):
            is_needed = is_last and number == len(chunk.batches)
            is_needed |= each.header.leader_epoch != self._epoch
            self._epoch = each.header.leader_epoch
            keep_empty = is_needed or self._is_last_of_producer(each.header)
            left = self._without_records(each, filtered, keep_empty=keep_empty)
            known.append(left)
            if left is None:
                wanted.append(ToFilter(each, keep_empty))
        others = filtered.keep_all(chunk, wanted)
        for each, left in zip(chunk.batches, known, strict=True):
            yield each, next(others) if left is None else left

    def _without_records(
        self, batch: ReadBatch, filtered: BatchFilter, *, keep_empty: bool
    ) -> Left | None:
        """What is left of a batch whose records need not be looked at; None for any other."""
        header, rules = batch.header, self._mapping.rules
        if header.is_control:
            marker = marker_of(header, batch.data)
            is_idle = rules.is_discarded(header, marker)
            return filtered.keep_marker(header, batch.data, is_idle=is_idle, keep_empty=keep_empty)
        if rules.is_discarded(header, None):
            return emptied(header) if keep_empty else NOTHING
        if filtered.concerns(header):
            return None
        is_kept = header.record_count > 0 or keep_empty
        return unchanged(header, batch.data) if is_kept else NOTHING

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
        self._records_written += left.records
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
