"""The first half of a cleaning: the last offset of each key in the dirty part of a log."""

from collections.abc import Iterator
from typing import Final

from brokers.ids import Offset
from brokers.ports import Files
from brokers.records.batch import HEADER_SIZE, BatchHeader
from brokers.records.raw_records import damaged, keys_of, raw_records
from brokers.storage.cleaning.batch_filter import records_of
from brokers.storage.cleaning.batch_reading import checked_batches, headers_in
from brokers.storage.cleaning.cleaning_plan import CleaningPlan, PlannedSegment
from brokers.storage.cleaning.offset_map import (
    BUCKET,
    ENTRY_BYTES,
    RELATIVE_MAX,
    SMALL_ENTRY_BYTES,
    OffsetMap,
    SmallOffsetMap,
)
from brokers.storage.cleaning.transaction_rules import TransactionRules, marker_type
from brokers.storage.segments.file_names import LOG, file_name

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
        self.offsets: OffsetMap | SmallOffsetMap = OffsetMap(BUCKET, 1.0, 0)
        self.entries = BUCKET  # that the map has room for
        self.bytes_read = 0
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
            for header, position in headers_in(reader, segment):
                if header.is_control:
                    self.rules.learn(
                        header, marker_of(header, reader.read(position, header.length))
                    )
                elif header.is_transactional:
                    self.rules.learn(header, None)
                if header.next_offset > self.end and not header.is_control:
                    dirty += header.record_count
        finally:
            reader.close()
        return dirty

    def _make_map(self, keys_max: int) -> None:
        """As large as the keys may need, up to the memory that the cleaning may use."""
        limits = self._plan.limits
        if keys_max * SMALL_ENTRY_BYTES <= limits.map_bytes:
            self.entries = limits.map_bytes // SMALL_ENTRY_BYTES
            self.offsets = SmallOffsetMap(limits.map_bytes, self.end)
            return
        wanted = int(keys_max / limits.load_factor) + BUCKET
        self.entries = max(BUCKET, min(wanted, limits.map_bytes // ENTRY_BYTES))
        self.offsets = OffsetMap(self.entries, limits.load_factor, self.end)

    def _map(self, segment: PlannedSegment) -> Iterator[int]:
        reader, since = self._files.reader(path_of(self._plan, segment)), 0
        try:
            for header, batch in checked_batches(reader, segment, self._plan.limits.io_bytes):
                since += header.length
                if since >= STEP_BYTES:
                    self.bytes_read += since
                    yield since
                    since = 0
                if header.next_offset <= self._plan.first_dirty_offset:
                    continue
                if not header.is_control and not self.rules.is_aborted(header):
                    if not self._has_room(header):
                        self._is_full = True
                        return
                    self._put(header, batch)
                self.end = header.next_offset
            self.end = segment.next_offset
        finally:
            reader.close()
            self.bytes_read += since
        yield since

    def _has_room(self, header: BatchHeader) -> bool:
        offsets = self.offsets
        if offsets.size == 0:
            offsets.first = header.base_offset
            if header.record_count > offsets.keys_max:
                raise TooManyKeys(
                    f"the batch at offset {header.base_offset} has {header.record_count} records, and"
                    f" the buffer holds {offsets.keys_max} keys: raise log.cleaner.dedupe.buffer.size"
                )
        is_near = header.next_offset - offsets.first <= RELATIVE_MAX
        return is_near and offsets.has_room(header.record_count)

    def _put(self, header: BatchHeader, batch: memoryview) -> None:
        data, count, base = records_of(header, batch), header.record_count, header.base_offset
        if count == header.last_offset_delta + 1:  # no offset is missing
            self.offsets.put_all(keys_of(data, count), base)
            return
        put = self.offsets.put
        for _, _, _, delta, key, _ in raw_records(data, count, header.last_offset_delta):
            if key is not None:
                put(key, base + delta)


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
