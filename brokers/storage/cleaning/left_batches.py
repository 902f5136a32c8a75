"""What is left of the batches of one chunk."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from brokers.records.record_columns import Flags, Numbers
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_rebuilding import Left, emptied

# Neighbouring batches that stay as they are: the rows [first, end).
Run: TypeAlias = tuple[int, int]


class LeftBatches:
    """Every batch stays as it is, until it is said that nothing is left of it, or another one."""

    def __init__(self, chunk: BatchColumns, is_needed: Flags) -> None:
        """`is_needed`: of which batches at least the header stays."""
        self.chunk = chunk
        self.without_key = 0
        # One past the last batch that lost a deletion marker or a transaction's.
        self.markers_from = -1
        self._is_needed = is_needed
        self._is_kept = np.ones(len(chunk), np.bool_)  # as it is
        self._replaced: dict[int, Left] = {}

    def drop(self, rows: Numbers) -> None:
        """No record of these batches is left."""
        self._is_kept[rows] = False
        needed = rows[self._is_needed[rows]] if rows.size else rows
        for row in needed.tolist():
            header = self.chunk.header(row)
            if header.record_count == 0:
                self._is_kept[row] = True
            else:
                self._replaced[row] = emptied(header)

    def replace(self, row: int, left: Left) -> None:
        self._is_kept[row] = False
        self._replaced[row] = left

    def lost_markers(self, rows: Numbers) -> None:
        """These batches have lost a deletion marker, or a transaction's."""
        if rows.size:
            self.markers_from = max(self.markers_from, int(self.chunk.next_offsets[rows].max()))

    @property
    def is_changed(self) -> bool:
        return not self._is_kept.all()

    @property
    def records(self) -> int:
        """How many are left."""
        kept = int(self.chunk.record_counts[self._is_kept].sum())
        return kept + sum(each.header.record_count for each in self._replaced.values())

    @property
    def keeps_last(self) -> bool:
        """Whether of the last batch at least the header is left."""
        return bool(self._is_kept[-1]) or len(self.chunk) - 1 in self._replaced

    def parts(self) -> Iterator[Run | Left]:
        """In the order of the log."""
        edges = self._edges()
        runs = zip(edges[::2], edges[1::2], strict=True)
        if not self._replaced:
            yield from runs
            return
        found: dict[int, Run | Left] = {first: (first, end) for first, end in runs}
        found |= self._replaced
        for row in sorted(found):
            yield found[row]

    def _edges(self) -> list[int]:
        """Where a run begins, and where it ends, in turn."""
        padded = np.zeros(len(self.chunk) + 2, np.bool_)
        padded[1:-1] = self._is_kept
        edges: list[int] = (padded[1:] != padded[:-1]).nonzero()[0].tolist()
        return edges
