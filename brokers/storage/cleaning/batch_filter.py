"""What is left of each batch (Kafka's MemoryRecords.filterTo; KIP-534).

A batch keeps its base offset, its last offset delta, its producer's fields and its leader epoch, and each record that
is left keeps its offset. One without records is kept, as a header alone, for a reason that the caller has. The horizon
of deletion markers is written as the base timestamp of a batch with a bit in its attributes: the time from which they
may go.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from brokers.ids import Offset
from brokers.records.batch import BatchHeader
from brokers.records.record_columns import Flags, RecordColumns, record_columns
from brokers.storage.cleaning.batch_reading import Opened, ReadBatch, ReadBatches, opened
from brokers.storage.cleaning.batch_rebuilding import (
    NOTHING,
    Left,
    Rebuilding,
    delete_horizon,
    emptied,
    unchanged,
    with_horizon,
)
from brokers.storage.cleaning.cleaning_plan import CleaningPlan
from brokers.storage.cleaning.last_records import LastRecords
from brokers.storage.cleaning.offset_map import OffsetMap


class ToFilter(NamedTuple):
    """A data batch that was not aborted. `keep_empty`: at least its header must stay."""

    batch: ReadBatch
    keep_empty: bool


class BatchFilter:
    """Of one cleaning. `offsets` has the last offset of each key below `end`; what lies above is kept as it is."""

    def __init__(
        self, offsets: OffsetMap, last: LastRecords, end: Offset, plan: CleaningPlan
    ) -> None:
        self._offsets = offsets
        self._last = last
        self._end = end
        self._plan = plan
        self._now = plan.now
        self._horizon = plan.now + plan.delete_retention_ms

    def _is_over(self, header: BatchHeader) -> bool:
        """Whether the markers of a batch may go."""
        horizon = delete_horizon(header)
        if horizon is None or horizon > self._now:
            return False
        is_held = header.next_offset > self._plan.keep_markers_from
        return not is_held or horizon + self._plan.keep_markers_ms <= self._now

    def concerns(self, header: BatchHeader) -> bool:
        """Whether the records of a data batch must be looked at."""
        return header.base_offset < self._end and header.record_count > 0

    def keep_all(self, chunk: ReadBatches, wanted: Sequence[ToFilter]) -> Iterator[Left]:
        """Of each of these batches of a chunk, in their order."""
        known = [self._unopened(each) for each in wanted]
        unknown = [each.batch for each, left in zip(wanted, known, strict=True) if left is None]
        others = self._keep_opened(chunk, unknown)
        for each, left in zip(wanted, known, strict=True):
            if left is None:
                left = next(others)
                if left.header is None and each.keep_empty:
                    left = emptied(each.batch.header)._replace(
                        without_key=left.without_key, lost_marker=left.lost_marker
                    )
            yield left

    def _unopened(self, wanted: ToFilter) -> Left | None:
        """What is left of a batch of which the keys are known, if that is all of it or nothing."""
        header = wanted.batch.header
        if not self._last.knows(header):
            return None
        records, markers = self._last.count(header)
        lost = markers if self._is_over(header) else 0
        markers -= lost
        if records + markers == 0:
            left = emptied(header) if wanted.keep_empty else NOTHING
            return left._replace(lost_marker=lost > 0)
        has_horizon = markers == 0 or delete_horizon(header) is not None
        if records + markers == header.record_count and has_horizon:
            return unchanged(header, wanted.batch.data)
        return None

    def _keep_opened(self, chunk: ReadBatches, batches: Sequence[ReadBatch]) -> Iterator[Left]:
        for part in opened(chunk, batches):
            columns = record_columns(part.data, part.spans)
            is_kept, is_lost = self._kept(columns, part)
            kept, markers, lost, without_key = (
                np.bincount(columns.batches[rows], minlength=len(part.batches)).tolist()
                for rows in (is_kept, is_kept & ~columns.has_value, is_lost, columns.key_starts < 0)
            )
            rebuilding = Rebuilding(columns, np.flatnonzero(is_kept), len(part.batches))
            for number, each in enumerate(part.batches):
                header = each.header
                needs_horizon = markers[number] > 0 and delete_horizon(header) is None
                if kept[number] == 0:
                    left = NOTHING
                elif kept[number] == header.record_count and not needs_horizon:
                    left = unchanged(header, each.data)
                else:
                    horizon = self._horizon if needs_horizon else None
                    left = rebuilding.rebuilt(number, header, kept[number], horizon)
                uncounted = 0 if self._last.knows(header) else without_key[number]
                if uncounted or lost[number]:
                    left = left._replace(without_key=uncounted, lost_marker=lost[number] > 0)
                yield left

    def _kept(self, columns: RecordColumns, part: Opened) -> tuple[Flags, Flags]:
        """(the last record of each key, less the deletion markers whose time is over; these markers)."""
        headers = [each.header for each in part.batches]
        is_known = np.array([self._last.knows(each) for each in headers])[columns.batches]
        is_kept = columns.key_starts >= 0
        known, asked = np.flatnonzero(is_known), np.flatnonzero(is_kept & ~is_known)
        is_kept[known] = self._last.are_last(columns.offsets[known])
        if asked.size:
            latest = self._offsets.get_all(columns.keys(asked))
            is_kept[asked] = columns.offsets[asked] >= latest
        is_over = np.array([self._is_over(each) for each in headers])
        is_lost = is_kept & ~columns.has_value & is_over[columns.batches]
        return is_kept & ~is_lost, is_lost

    def keep_marker(
        self, header: BatchHeader, batch: memoryview, *, is_idle: bool, keep_empty: bool
    ) -> Left:
        """A control batch; `is_idle`: no data of its transaction is left."""
        if header.record_count == 0:
            return unchanged(header, batch) if keep_empty else NOTHING
        if is_idle and delete_horizon(header) is None:
            return with_horizon(header, batch, self._horizon)
        if is_idle and self._is_over(header):
            return (emptied(header) if keep_empty else NOTHING)._replace(lost_marker=True)
        return unchanged(header, batch)
