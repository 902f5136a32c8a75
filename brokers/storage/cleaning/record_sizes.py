"""How long the records of the dirty part of a log are, as far as there is memory for it.

With it the second reading of a cleaning knows where each record of a batch begins, without looking at the one before.
"""

from typing import Final

import numpy as np

from brokers.ids import Offset
from brokers.records.record_columns import Numbers, RecordColumns, Spans

BYTES: Final = 2  # an offset
_SIZE_MAX: Final = (1 << 8 * BYTES) - 1


class RecordSizes:
    """Of records at the offsets [first, end), in batches that are dense. A size is that of all of a record's bytes."""

    def __init__(self, first: Offset, end: Offset) -> None:
        self._first = first
        self._end = max(first, end)
        self._sizes = np.zeros(self._end - first, np.uint16)  # 0: not known

    def note(self, columns: RecordColumns) -> None:
        if not columns.spans.are_dense or not self._covers(columns.spans):
            return
        sizes = columns.ends - columns.starts
        self._sizes[columns.dense_offsets - self._first] = np.where(sizes <= _SIZE_MAX, sizes, 0)

    def _covers(self, spans: Spans) -> bool:
        first, last = int(spans.base_offsets[0]), int(spans.base_offsets[-1])
        return first >= self._first and last + int(spans.last_offset_deltas[-1]) < self._end

    def starts(self, spans: Spans) -> Numbers | None:
        """Where the records of dense batches begin; None where that is not known of all of them."""
        if not self._covers(spans):
            return None
        counts, first = spans.counts, self._first
        batches = np.repeat(np.arange(len(counts)), counts)
        rows = np.cumsum(counts) - counts  # the first one of each batch
        offsets = np.arange(len(batches)) + (spans.base_offsets - rows)[batches]
        sizes = self._sizes[offsets - first].astype(np.int64)
        if np.count_nonzero(sizes) < len(sizes):
            return None
        ends = np.cumsum(sizes)
        starts = ends - sizes
        starts += (spans.starts - starts[rows])[batches]
        lasts = rows + counts - 1
        is_whole = starts[lasts] + sizes[lasts] == spans.ends
        return starts if is_whole.all() else None
