"""The first half of a cleaning: the last offset of each key in the dirty part of a log."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from brokers.ids import Offset
from brokers.ports import Files
from brokers.records.batch import HEADER_SIZE, BatchHeader
from brokers.records.raw_records import damaged, raw_records
from brokers.records.record_columns import record_columns
from brokers.storage.cleaning.batch_reading import (
    ReadBatch,
    ReadBatches,
    checked_chunks,
    opened,
    surveyed_batches,
)
from brokers.storage.cleaning.cleaning_plan import CleaningPlan, PlannedSegment
from brokers.storage.cleaning.last_records import LastRecords
from brokers.storage.cleaning.offset_map import ENTRIES_MIN, ENTRY_BYTES, RELATIVE_MAX, OffsetMap
from brokers.storage.cleaning.transaction_rules import TransactionRules, marker_type
from brokers.storage.segments.file_names import LOG, file_name

_SHARE_OF_LAST_RECORDS: Final = 8  # of the memory for keys, and beside it
STEP_BYTES: Final = 1 << 18  # about what is read or written between two steps


class TooManyKeys(Exception):
    """One batch has more keys than the map."""


class KeyMapping:
    """Run `steps`; then `offsets` has every key of the dirty part below `end`. Raises `BatchError`, `DiskError`."""

    def __init__(self, files: Files, plan: CleaningPlan) -> None:
        self._files = files
        self._plan = plan
        self.rules = TransactionRules()
        self.end: Offset = plan.first_dirty_offset
        self.offsets = OffsetMap(ENTRIES_MIN, 1.0, 0)
        self.entries = ENTRIES_MIN  # that the memory has room for
        self.last = LastRecords(0, 0)
        self.without_key = 0  # of those that `last` knows
        self._is_full = False

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

    def _survey(self, segment: PlannedSegment) -> int:
        """Learn the transactions -> the number of records of the dirty part."""
        dirty, reader = 0, self._files.reader(path_of(self._plan, segment))
        try:
            for position, next_offset, record_count, header in surveyed_batches(reader, segment):
                if header is not None and header.is_control:
                    size = min(header.length, segment.size - position)
                    self.rules.learn(header, marker_of(header, reader.read(position, size)))
                    continue
                if header is not None:
                    self.rules.learn(header, None)
                if next_offset > self.end:
                    dirty += record_count
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

    def _map(self, segment: PlannedSegment) -> Iterator[int]:
        reader, since = self._files.reader(path_of(self._plan, segment)), 0
        try:
            for chunk in checked_chunks(reader, segment, self._plan.limits.io_bytes):
                since += sum(each.header.length for each in chunk.batches)
                if since >= STEP_BYTES:
                    yield since
                    since = 0
                self._map_chunk(chunk)
                if self._is_full:
                    return
            self.end = segment.next_offset
        finally:
            reader.close()
        yield since

    def _map_chunk(self, chunk: ReadBatches) -> None:
        """Put what there is room for."""
        waiting: list[ReadBatch] = []
        keys = 0  # at most, of those that wait
        for each in chunk.batches:
            header = each.header
            if header.next_offset <= self._plan.first_dirty_offset:
                continue
            if not header.is_control and header.record_count and not self.rules.is_aborted(header):
                if not self._has_room(header, keys):
                    self._put(chunk, waiting)
                    waiting, keys = [], 0
                    if not self._has_room(header, 0):
                        self._is_full = True
                        return
                waiting.append(each)
                keys += header.record_count
            self.end = header.next_offset
        self._put(chunk, waiting)

    def _has_room(self, header: BatchHeader, waiting: int) -> bool:
        offsets = self.offsets
        if offsets.size + waiting == 0:
            offsets.first = header.base_offset
            if header.record_count > offsets.keys_max:
                raise TooManyKeys(
                    f"the batch at offset {header.base_offset} has {header.record_count} records, and"
                    f" the buffer holds {offsets.keys_max} keys: raise log.cleaner.dedupe.buffer.size,"
                    " or lower log.cleaner.threads, which share it"
                )
        is_near = header.next_offset - offsets.first <= RELATIVE_MAX
        return is_near and offsets.has_room(header.record_count + waiting)

    def _put(self, chunk: ReadBatches, batches: Sequence[ReadBatch]) -> None:
        for part in opened(chunk, batches):
            columns = record_columns(part.data, part.spans)
            keyed = np.flatnonzero(columns.key_starts >= 0)
            offsets = columns.offsets[keyed]
            superseded, are_last = self.offsets.put_all(columns.keys(keyed), offsets)
            self.last.note(superseded, offsets[are_last], columns.has_value[keyed][are_last])
            without = np.bincount(
                columns.batches[columns.key_starts < 0], minlength=len(part.spans)
            )
            for batch, count in zip(part.batches, without.tolist(), strict=True):
                self.without_key += count if self.last.knows(batch.header) else 0


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
