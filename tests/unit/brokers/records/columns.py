"""Records as columns, all of which are read."""

from collections.abc import Sequence

import numpy as np

from brokers.records.record_columns import RecordColumns, Spans

Span = tuple[int, int, int, int, int]  # start, end, count, base offset, last offset delta


def columns_of(data: bytes, spans: Sequence[Span]) -> RecordColumns:
    made = RecordColumns(data, Spans(*np.array(spans, np.int64).T))
    assert made.has_value.size == len(made.starts)
    return made
