"""What is left of each batch (Kafka's MemoryRecords.filterTo; KIP-534).

A batch keeps its base offset, its last offset delta, its producer's fields and its leader epoch, and each record that
is left keeps its offset. One without records is kept, as a header alone, for a reason that the caller has. The horizon
of deletion markers is written as the base timestamp of a batch with a bit in its attributes: the time from which they
may go.
"""

import numpy as np

from brokers.records.batch import DELETE_HORIZON
from brokers.records.record_columns import Flags, Numbers, RecordColumns
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_reading import Opened, opened
from brokers.storage.cleaning.batch_rebuilding import (
    Rebuilding,
    delete_horizon,
    with_horizon,
)
from brokers.storage.cleaning.cleaning_plan import CleaningPlan
from brokers.storage.cleaning.key_hashes import key_hashes
from brokers.storage.cleaning.key_mapping import KeyMapping
from brokers.storage.cleaning.left_batches import LeftBatches


class BatchFilter:
    """Of one cleaning. The mapping has the last offset of each key below its end; what lies above is kept as it is."""

    def __init__(self, mapping: KeyMapping, plan: CleaningPlan) -> None:
        self._offsets = mapping.offsets
        self._last = mapping.last
        self._sizes = mapping.sizes
        self._end = mapping.end
        self._plan = plan
        self._horizon = plan.now + plan.delete_retention_ms

    def _are_over(self, chunk: BatchColumns, rows: Numbers) -> Flags:
        """Whether the markers of these batches may go."""
        plan, horizons = self._plan, chunk.column("base_timestamp")[rows]
        is_set = (chunk.attributes[rows] & DELETE_HORIZON) != 0
        is_held = chunk.next_offsets[rows] > plan.keep_markers_from
        bound = np.where(is_held, plan.now - plan.keep_markers_ms, plan.now)
        found: Flags = is_set & (horizons <= plan.now) & (horizons <= bound)
        return found

    def keep(self, chunk: BatchColumns, left: LeftBatches, rows: Numbers) -> None:
        """Of these batches of a chunk, which hold data that was not aborted."""
        is_concerned = (chunk.base_offsets[rows] < self._end) & (chunk.record_counts[rows] > 0)
        others = rows[~is_concerned]
        left.drop(others[chunk.record_counts[others] == 0])
        rows = rows[is_concerned]
        is_known = self._last.know(chunk.base_offsets[rows], chunk.last_offset_deltas[rows])
        unopened = self._keep_known(chunk, left, rows[is_known])
        self._keep_opened(chunk, left, np.sort(np.concatenate([unopened, rows[~is_known]])))

    def _keep_known(self, chunk: BatchColumns, left: LeftBatches, rows: Numbers) -> Numbers:
        """Batches of which the keys are known -> those of which a part is left."""
        records, markers = self._last.counts(chunk.base_offsets[rows], chunk.next_offsets[rows])
        has_horizon = (chunk.attributes[rows] & DELETE_HORIZON) != 0
        if markers.any():
            lost = np.where(self._are_over(chunk, rows), markers, 0)
            left.lost_markers(rows[lost > 0])
            markers = markers - lost
        total = records + markers
        left.drop(rows[total == 0])
        is_whole = (total == chunk.record_counts[rows]) & ((markers == 0) | has_horizon)
        opened_rows: Numbers = rows[(total > 0) & ~is_whole]
        return opened_rows

    def _keep_opened(self, chunk: BatchColumns, left: LeftBatches, rows: Numbers) -> None:
        for part in opened(chunk, rows):
            starts = self._sizes.starts(part.spans) if part.spans.are_dense else None
            columns, count = RecordColumns(part.data, part.spans, starts), len(part.rows)
            is_kept, is_marker, is_lost, is_unknown = self._kept(chunk, columns, part)
            kept = np.bincount(columns.batches[is_kept], minlength=count)
            markers = np.bincount(columns.batches[is_kept & is_marker], minlength=count)
            left.lost_markers(part.rows[np.bincount(columns.batches[is_lost], minlength=count) > 0])
            left.without_key += int(np.count_nonzero(is_unknown))
            left.drop(part.rows[kept == 0])
            no_horizon = (chunk.attributes[part.rows] & DELETE_HORIZON) == 0
            needs_horizon = (markers > 0) & no_horizon
            is_rebuilt = (kept > 0) & ((kept < chunk.record_counts[part.rows]) | needs_horizon)
            if not is_rebuilt.any():
                continue
            rebuilding = Rebuilding(columns, is_kept.nonzero()[0])
            for number in is_rebuilt.nonzero()[0].tolist():
                row = int(part.rows[number])
                horizon = self._horizon if needs_horizon[number] else None
                left.replace(
                    row,
                    rebuilding.rebuilt(number, chunk.header(row), int(kept[number]), horizon),
                )

    def _kept(
        self, chunk: BatchColumns, columns: RecordColumns, part: Opened
    ) -> tuple[Flags, Flags, Flags, Flags]:
        """Of each record: whether it is the last of its key and no deletion marker whose time is over; whether it is
        a marker; whether it is such a marker; whether it has no key and was not counted before."""
        spans = part.spans
        is_known = self._last.know(spans.base_offsets, spans.last_offset_deltas)
        if is_known.all():
            offsets = columns.dense_offsets if spans.are_dense else columns.offsets
            is_kept, is_marker = self._last.states(offsets)
            is_unknown = np.zeros(len(is_kept), np.bool_)
        else:
            is_kept, is_marker, is_unknown = self._looked_up(columns, is_known[columns.batches])
        is_lost = is_kept & is_marker & self._are_over(chunk, part.rows)[columns.batches]
        return is_kept & ~is_lost, is_marker, is_lost, is_unknown

    def _looked_up(self, columns: RecordColumns, is_known: Flags) -> tuple[Flags, Flags, Flags]:
        """(whether it is the last of its key, whether it is a marker, whether it has no key and is not known)."""
        is_kept = columns.key_starts >= 0
        is_unknown = ~is_kept & ~is_known
        known, asked = is_known.nonzero()[0], (is_kept & ~is_known).nonzero()[0]
        is_kept[known] = self._last.states(columns.offsets[known])[0]
        if asked.size:
            starts, ends = columns.key_starts[asked], columns.key_ends[asked]
            latest = self._offsets.get_all(key_hashes(columns.octets, starts, ends))
            is_kept[asked] = columns.offsets[asked] >= latest
        return is_kept, ~columns.has_value, is_unknown

    def keep_marker(
        self, chunk: BatchColumns, left: LeftBatches, row: int, *, is_idle: bool
    ) -> None:
        """A control batch; `is_idle`: no data of its transaction is left."""
        header = chunk.header(row)
        if header.record_count == 0:
            left.drop(np.array([row]))
        elif is_idle and delete_horizon(header) is None:
            left.replace(row, with_horizon(header, chunk.batch(row), self._horizon))
        elif is_idle and self._are_over(chunk, np.array([row]))[0]:
            left.drop(np.array([row]))
            left.lost_markers(np.array([row]))
