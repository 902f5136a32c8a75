"""One cleaning of one log, in small steps, in any thread or process (Kafka's Cleaner).

It reads through files of its own and writes only new ones. What it finishes is swapped in by the log's own thread, in
the order in which it comes.
"""

from collections.abc import Iterator
from typing import TypeAlias

from brokers.events import CleaningStats
from brokers.ids import LeaderEpoch
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.storage.cleaning.batch_filter import BatchFilter, ToFilter
from brokers.storage.cleaning.batch_reading import ReadBatch, ReadBatches, checked_chunks
from brokers.storage.cleaning.batch_rebuilding import NOTHING, Left, emptied, unchanged
from brokers.storage.cleaning.cleaned_group import CleanedGroup
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.key_mapping import KeyMapping, TooManyKeys, marker_of, path_of

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
            yield from self._clean_all(filtered)
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

    def _clean_all(self, filtered: BatchFilter) -> Iterator[Step]:
        """Neighbouring segments that begin below the end become one, as long as it is no larger than one may be."""
        segments = [each for each in self._plan.segments if each.base_offset < self._mapping.end]
        cleaned: CleanedGroup | None = None
        try:
            for segment in segments:
                if cleaned is not None and not cleaned.has_room(segment):
                    yield from self._finished(cleaned)
                    cleaned = None
                if cleaned is None:
                    cleaned = CleanedGroup(self._files, self._plan, segment)
                yield from self._clean(segment, cleaned, filtered)
            if cleaned is not None:
                yield from self._finished(cleaned)
                cleaned = None
        finally:
            if cleaned is not None:
                cleaned.give_up()

    def _finished(self, cleaned: CleanedGroup) -> Iterator[Step]:
        done = cleaned.finish()
        if done is not None:
            self._written += done.size
            yield done

    def _clean(
        self, segment: PlannedSegment, cleaned: CleanedGroup, filtered: BatchFilter
    ) -> Iterator[Step]:
        cleaned.begin(segment)
        reader = self._files.reader(path_of(self._plan, segment))
        try:
            for chunk in checked_chunks(reader, segment, self._plan.limits.io_bytes):
                before = self._read + cleaned.size
                for each, left in self._filtered(chunk, filtered):
                    self._count(each.header, left)
                    cleaned.add(each.header, left)
                yield self._read + cleaned.size - before
        finally:
            reader.close()

    def _filtered(
        self, chunk: ReadBatches, filtered: BatchFilter
    ) -> Iterator[tuple[ReadBatch, Left]]:
        """Each batch with what is left of it. The first one of each leader epoch is kept at least as a header: whoever
        copies the log knows by it where the epoch began."""
        known: list[Left | None] = []
        wanted: list[ToFilter] = []
        for each in chunk.batches:
            begins_epoch = each.header.leader_epoch != self._epoch
            self._epoch = each.header.leader_epoch
            keep_empty = begins_epoch or self._is_last_of_producer(each.header)
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
