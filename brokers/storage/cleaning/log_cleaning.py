"""One cleaning of one log, in small steps, in any thread or process (Kafka's Cleaner).

It reads through files of its own and writes only new ones. What it finishes is swapped in by the log's own thread, in
the order in which it comes.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import TypeAlias

import numpy as np

from brokers.compaction import CleaningStats
from brokers.ids import OFFSET_MAX, LeaderEpoch
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.records.record_columns import Flags
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_filter import BatchFilter
from brokers.storage.cleaning.batch_reading import Ahead, checked_chunks, when_asked
from brokers.storage.cleaning.cleaned_group import CleanedGroup
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.key_mapping import KeyMapping, TooManyKeys, marker_of, path_of
from brokers.storage.cleaning.left_batches import LeftBatches

# Bytes read and written since the last step, a segment to be swapped in, or the end.
Step: TypeAlias = int | CleanedSegment | CleaningDone | CleaningFailed


class LogCleaning:
    """Run `steps` to their end; the last one is `CleaningDone` or `CleaningFailed`."""

    def __init__(self, files: Files, plan: CleaningPlan, ahead: Ahead = when_asked) -> None:
        self._files = files
        self._plan = plan
        self._ahead = ahead
        self._mapping = KeyMapping(files, plan, ahead)
        self._epoch: LeaderEpoch = -1  # of the batch before
        self._last_of = {each.producer_id: each for each in plan.last_batches}
        self._last_offsets = np.array(
            sorted([OFFSET_MAX, *(each.last_offset for each in plan.last_batches)])
        )
        self._read = self._written = 0
        self._records_read = self._records_written = self._without_key = 0

    def steps(self) -> Iterator[Step]:
        mapping, plan = self._mapping, self._plan
        try:
            yield from mapping.steps()
            filtered = BatchFilter(mapping, plan)
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
        made = checked_chunks(reader, segment, self._plan.limits.io_bytes)
        with closing(reader), closing(self._ahead(made)) as chunks:
            for chunk in chunks:
                before = self._read + cleaned.size
                left = self._left(chunk, filtered)
                self._count(chunk, left)
                cleaned.add(left)
                yield self._read + cleaned.size - before

    def _left(self, chunk: BatchColumns, filtered: BatchFilter) -> LeftBatches:
        left = LeftBatches(chunk, self._are_needed(chunk))
        is_data = np.ones(len(chunk), np.bool_)
        for row in chunk.special:
            is_data[row] = self._keep_special(chunk, left, filtered, row)
        filtered.keep(chunk, left, np.flatnonzero(is_data))
        return left

    def _are_needed(self, chunk: BatchColumns) -> Flags:
        """Of which batches at least the header is kept. The first one of each leader epoch: whoever copies the log
        knows by it where the epoch began."""
        epochs = chunk.column("leader_epoch")
        found: Flags = np.empty(len(chunk), np.bool_)
        found[0] = epochs[0] != self._epoch
        np.not_equal(epochs[1:], epochs[:-1], out=found[1:])
        self._epoch = int(epochs[-1])
        at = self._last_offsets.searchsorted(chunk.next_offsets - 1)
        ends = (self._last_offsets[at] == chunk.next_offsets - 1).nonzero()[0].tolist()
        for row in {*ends, *chunk.special}:
            found[row] = found[row] or self._is_last_of_producer(chunk.header(row))
        return found

    def _keep_special(
        self, chunk: BatchColumns, left: LeftBatches, filtered: BatchFilter, row: int
    ) -> bool:
        """A control batch, or one of a transaction -> whether its records must be looked at."""
        header, rules = chunk.header(row), self._mapping.rules
        if header.is_control:
            is_idle = rules.is_discarded(header, marker_of(header, chunk.batch(row)))
            filtered.keep_marker(chunk, left, row, is_idle=is_idle)
            return False
        if rules.is_discarded(header, None):
            left.drop(np.array([row]))
            return False
        return True

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Whether an active producer's last sequence, or without data its last epoch, is known from this batch."""
        last = self._last_of.get(header.producer_id)
        if last is None:
            return False
        if last.last_offset < 0:
            return header.is_control and header.producer_epoch == last.producer_epoch
        return header.next_offset - 1 == last.last_offset

    def _count(self, chunk: BatchColumns, left: LeftBatches) -> None:
        self._read += int(chunk.lengths.sum())
        self._records_read += int(chunk.record_counts.sum())
        self._records_written += left.records
        self._without_key += left.without_key
