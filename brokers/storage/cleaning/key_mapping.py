"""The first half of a cleaning: the last offset of each key in the dirty part of a log."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

import numpy as np

from brokers.ids import Offset
from brokers.ports import Files
from brokers.records.batch import HEADER_SIZE, BatchHeader
from brokers.records.raw_records import damaged, raw_records
from brokers.records.record_columns import Flags, Numbers, RecordColumns
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_reading import (
    Ahead,
    checked_chunks,
    opened,
    surveyed,
    when_asked,
)
from brokers.storage.cleaning.cleaning_plan import CleaningPlan, PlannedSegment
from brokers.storage.cleaning.key_hashes import KeyHashes, joined, key_hashes
from brokers.storage.cleaning.last_records import LastRecords
from brokers.storage.cleaning.offset_map import ENTRIES_MIN, ENTRY_BYTES, RELATIVE_MAX, OffsetMap
from brokers.storage.cleaning.record_sizes import BYTES as SIZE_BYTES
from brokers.storage.cleaning.record_sizes import RecordSizes
from brokers.storage.cleaning.transaction_rules import TransactionRules, marker_type
from brokers.storage.segments.file_names import LOG, file_name

# Of the memory for keys, and beside it: enough for as many offsets as there is room for keys.
_SHARE_OF_LAST_RECORDS: Final = 8
_SHARE_OF_SIZES: Final = 4
STEP_BYTES: Final = 1 << 18  # about what is read or written between two steps
_PUT_TOGETHER: Final = 1 << 13  # keys


class TooManyKeys(Exception):
    """One batch has more keys than the map."""


class _Keys(NamedTuple):
    """Keys on their way into the map."""

    hashes: KeyHashes
    offsets: Numbers
    has_value: Flags


class KeyMapping:
    """Run `steps`; then `offsets` has every key of the dirty part below `end`. Raises `BatchError`, `DiskError`."""

    def __init__(self, files: Files, plan: CleaningPlan, ahead: Ahead = when_asked) -> None:
        self._files = files
        self._ahead = ahead
        self._plan = plan
        self.rules = TransactionRules()
        self.end: Offset = plan.first_dirty_offset
        self.offsets = OffsetMap(ENTRIES_MIN, 1.0, 0)
        self.entries = ENTRIES_MIN  # that the memory has room for
        self.last = LastRecords(0, 0)
        self.sizes = RecordSizes(0, 0)
        self.without_key = 0  # of those that `last` knows
        self._is_full = False
        self._waiting: list[_Keys] = []
        self._waiting_count = 0

    def steps(self) -> Iterator[int]:
        """Each yields the bytes that were read since the last one."""
        plan = self._plan
        dirty = 0
        for segment in plan.segments:
            dirty += self._survey(segment)
            yield 0
        self._make_map(dirty)
        for segment in plan.segments:
            if segment.next_offset > self.end and not self._is_full:
                yield from self._map(segment)
        self._put_waiting()

    def _survey(self, segment: PlannedSegment) -> int:
        """Learn the transactions -> the number of records of the dirty part."""
        dirty, reader = 0, self._files.reader(path_of(self._plan, segment))
        try:
            for each in surveyed(reader, segment, self.end):
                dirty += each.records_above
                for position, header in each.special:
                    marker = None
                    if header.is_control:
                        size = min(header.length, segment.size - position)
                        marker = marker_of(header, reader.read(position, size))
                    self.rules.learn(header, marker)
        finally:
            reader.close()
        return dirty

    def _make_map(self, keys_max: int) -> None:
        """As large as the keys may need, up to the memory that the cleaning may use."""
        limits = self._plan.limits
        self.entries = max(ENTRIES_MIN, limits.map_bytes // ENTRY_BYTES)
        wanted = int(keys_max / limits.load_factor) + ENTRIES_MIN
        self.offsets = OffsetMap(min(wanted, self.entries), limits.load_factor, self.end)
        end = max((each.next_offset for each in self._plan.segments), default=self.end)
        most = limits.map_bytes // _SHARE_OF_LAST_RECORDS
        self.last = LastRecords(self.end, min(end, self.end + most))
        left_over = limits.map_bytes - ENTRY_BYTES * self.offsets.entries
        most = max(left_over, limits.map_bytes // _SHARE_OF_SIZES) // SIZE_BYTES
        self.sizes = RecordSizes(self.end, min(end, self.end + most))

    def _map(self, segment: PlannedSegment) -> Iterator[int]:
        reader, since = self._files.reader(path_of(self._plan, segment)), 0
        made = checked_chunks(reader, segment, self._plan.limits.io_bytes)
        with closing(reader), closing(self._ahead(made)) as chunks:
            for chunk in chunks:
                since += int(chunk.lengths.sum())
                if since >= STEP_BYTES:
                    yield since
                    since = 0
                self._map_chunk(chunk)
                if self._is_full:
                    return
            self.end = segment.next_offset
        yield since

    def _map_chunk(self, chunk: BatchColumns) -> None:
        """Put what there is room for."""
        counts = np.where(
            chunk.next_offsets > self._plan.first_dirty_offset, chunk.record_counts, 0
        )
        for row in chunk.special:
            header = chunk.header(row)
            if header.is_control or self.rules.is_aborted(header):
                counts[row] = 0
        rows = counts.nonzero()[0]
        while rows.size:
            fitting = self._fitting(chunk, rows)
            if fitting == 0:
                self.end = max(self.end, int(chunk.base_offsets[rows[0]]))
                self._is_full = True
                return
            self._add(chunk, rows[:fitting])
            rows = rows[fitting:]
        self.end = max(self.end, int(chunk.next_offsets[-1]))

    def _fitting(self, chunk: BatchColumns, rows: Numbers) -> int:
        """How many of these batches fit into the map, whatever their keys are."""
        offsets = self.offsets
        if offsets.size + self._waiting_count == 0:
            offsets.first = int(chunk.base_offsets[rows[0]])
            self._check_first(chunk.header(int(rows[0])))
        fitting = self._with_room(chunk, rows)
        if fitting == 0 and self._waiting:
            self._put_waiting()
            fitting = self._with_room(chunk, rows)
        return fitting

    def _with_room(self, chunk: BatchColumns, rows: Numbers) -> int:
        offsets = self.offsets
        room = offsets.keys_max - offsets.size - self._waiting_count
        totals = np.cumsum(chunk.record_counts[rows])
        near = chunk.next_offsets[rows] <= offsets.first + RELATIVE_MAX
        return int(np.count_nonzero((totals <= room) & near))

    def _check_first(self, header: BatchHeader) -> None:
        if header.record_count > self.offsets.keys_max:
            raise TooManyKeys(
                f"the batch at offset {header.base_offset} has {header.record_count} records, and"
                f" the buffer holds {self.offsets.keys_max} keys: raise"
                " log.cleaner.dedupe.buffer.size, or lower log.cleaner.threads, which share it"
            )

    def _add(self, chunk: BatchColumns, rows: Numbers) -> None:
        """The keys of these batches."""
        for part in opened(chunk, rows):
            columns = RecordColumns(part.data, part.spans)
            self.sizes.note(columns)
            is_keyed = columns.key_starts >= 0
            if is_keyed.all():
                offsets, has_value = columns.offsets, columns.has_value
                starts, ends = columns.key_starts, columns.key_ends
            else:
                keyed = is_keyed.nonzero()[0]
                offsets, has_value = columns.offsets[keyed], columns.has_value[keyed]
                starts, ends = columns.key_starts[keyed], columns.key_ends[keyed]
                is_known = self.last.know(part.spans.base_offsets, part.spans.last_offset_deltas)
                without = columns.batches[~is_keyed]
                self.without_key += int(np.count_nonzero(is_known[without]))
            self._waiting.append(
                _Keys(key_hashes(columns.octets, starts, ends), offsets, has_value)
            )
            self._waiting_count += len(offsets)
        if self._waiting_count >= _PUT_TOGETHER:
            self._put_waiting()

    def _put_waiting(self) -> None:
        if not self._waiting:
            return
        hashes, offsets, has_value = zip(*self._waiting, strict=True)
        self._waiting, self._waiting_count = [], 0
        last, with_value = np.concatenate(offsets), np.concatenate(has_value)
        superseded, are_last = self.offsets.put_all(joined(hashes), last)
        self.last.note(superseded, last[are_last], with_value[are_last])


def path_of(plan: CleaningPlan, segment: PlannedSegment) -> str:
    return f"{plan.directory}/{file_name(segment.base_offset, LOG)}"


def marker_of(header: BatchHeader, batch: bytes | memoryview) -> int | None:
    """The type of the marker in a control batch; None for other control records, and none."""
    if header.record_count == 0:
        return None
    data = bytes(memoryview(batch)[HEADER_SIZE : header.length])
    for _, _, _, _, key, _ in raw_records(data, header.record_count, header.last_offset_delta):
        return marker_type(key)
    raise damaged("a control batch without a record")
