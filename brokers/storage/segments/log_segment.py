"""One segment's files: its `.log` and two indexes.

The indexes of the active segment are in memory and are saved periodically; after a crash recovery rebuilds them from
the log. Those of a sealed segment are loaded by a lookup.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from struct import Struct

from brokers.errors import KafkaError
from brokers.ids import Buffer, Buffers, Instant, Offset
from brokers.ports import Appending, DiskError, FileRange, Files
from brokers.records.batch import HEADER_SIZE, BatchError, BatchHeader, parse_header
from brokers.storage.segments.file_names import DIGEST, INDEX, LOG, SNAPSHOT, TIME_INDEX, file_name
from brokers.storage.segments.indexes import OFFSET_ENTRY, TIME_ENTRY, OffsetIndex, TimeIndex
from brokers.storage.segments.segment_digest import FOOTER_SIZE, HEADER, DigestError, decode_ends

_HOP_BYTES = 1 << 16  # headers of small batches are read in such chunks,
_LARGE_BATCH_BYTES = 1 << 13  # those of batches from this size on one by one
_SCAN_BYTES = 1 << 20


class LoadedIndexes:
    """The sealed segments of all logs whose indexes are in memory: an LRU cache."""

    def __init__(self, segments_max: int = 32) -> None:
        self._segments_max = segments_max
        self._segments: dict[LogSegment, None] = {}

    def touch(self, segment: "LogSegment") -> None:
        self._segments.pop(segment, None)
        self._segments[segment] = None
        if len(self._segments) > self._segments_max:
            oldest = next(iter(self._segments))
            del self._segments[oldest]
            oldest.unload_indexes()

    def forget(self, segment: "LogSegment") -> None:
        self._segments.pop(segment, None)


class LogSegment:
    """`size` bytes of whole batches; the batch that ends at `max_timestamp_offset` has the largest timestamp."""

    __slots__ = (
        "_files",
        "_index",
        "_interval",
        "_rebuilt",
        "_saved",
        "_time_index",
        "_unindexed",
        "base_offset",
        "digest_path",
        "index_path",
        "is_digested",
        "max_timestamp",
        "max_timestamp_offset",
        "path",
        "size",
        "snapshot_path",
        "time_index_path",
    )

    def __init__(self, files: Files, directory: str, base_offset: Offset, interval: int) -> None:
        self._files = files
        self._interval = interval  # index.interval.bytes
        self._rebuilt = False
        self.base_offset = base_offset
        self.path = f"{directory}/{file_name(base_offset, LOG)}"
        self.index_path = f"{directory}/{file_name(base_offset, INDEX)}"
        self.time_index_path = f"{directory}/{file_name(base_offset, TIME_INDEX)}"
        self.snapshot_path = f"{directory}/{file_name(base_offset, SNAPSHOT)}"
        self.digest_path = f"{directory}/{file_name(base_offset, DIGEST)}"
        self.is_digested = False  # sealed, with a digest
        self._empty()

    def _empty(self) -> None:
        self.size = 0
        self.max_timestamp: Instant = -1
        self.max_timestamp_offset: Offset = -1
        self._index: OffsetIndex | None = OffsetIndex(self.base_offset)
        self._time_index: TimeIndex | None = TimeIndex(self.base_offset)
        self._unindexed = 0  # bytes of log since the last index entry
        self._saved = (-1, -1)  # saved bytes of both indexes; -1: no file yet

    @property
    def paths(self) -> tuple[str, str, str]:
        """The log file and its two indexes."""
        return self.path, self.index_path, self.time_index_path

    @property
    def paths_beside(self) -> tuple[str, str, str, str]:
        """All files of a sealed segment except the log file."""
        return self.index_path, self.time_index_path, self.snapshot_path, self.digest_path

    def moved_to(self, files: Files) -> None:
        """The files moved to another directory."""
        self._files = files

    @property
    def interval(self) -> int:
        return self._interval

    def successor(self, base_offset: Offset, interval: int | None = None) -> "LogSegment":
        """The segment that follows this one in the same folder, by default with its index interval; makes no file."""
        interval = self._interval if interval is None else interval
        directory = self.path.rpartition("/")[0]
        return LogSegment(self._files, directory, base_offset, interval)

    def append(self, headers: Sequence[BatchHeader], buffers: Buffers) -> None:
        """Append batches; after a `DiskError` the file may hold a part of them."""
        self.appended(headers, self._files.append(self.path, buffers))

    def begin_append(self, buffers: Buffers) -> Appending:
        """A write for any thread; the size that it returns is passed to `appended`."""
        return self._files.begin_append(self.path, buffers)

    def appended(self, headers: Sequence[BatchHeader], size: int) -> None:
        """The batches are written; the file has `size` bytes."""
        for header in headers:
            self.index_batch(header)
        assert size == self.size, f"{self.path} has {size} bytes, not {self.size}"

    def index_batch(self, header: BatchHeader) -> None:
        """Add the batch at position `size` to the indexes."""
        # The timestamp of a batch that compaction has emptied is no record's.
        timestamp = header.max_timestamp if header.record_count > 0 else -1
        self._index_batch(header.base_offset + header.last_offset_delta, header.length, timestamp)

    def index_batches(
        self, last_offsets: Sequence[Offset], lengths: Sequence[int], timestamps: Sequence[Instant]
    ) -> None:
        """Add neighbouring batches; the largest timestamp of one without records is -1."""
        for each in zip(last_offsets, lengths, timestamps, strict=True):
            self._index_batch(*each)

    def _index_batch(self, last_offset: Offset, length: int, max_timestamp: Instant) -> None:
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self._unindexed > self._interval:
            self.index.add(last_offset, self.size)
            if self.max_timestamp >= 0:
                self.time_index.add(self.max_timestamp, self.max_timestamp_offset)
            self._unindexed = 0
        self._unindexed += length
        self.size += length

    @property
    def index(self) -> OffsetIndex:
        if self._index is None:
            data = self._files.read(self.index_path, 0, self._saved[0])
            self._index = OffsetIndex(self.base_offset, data)
        return self._index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            data = self._files.read(self.time_index_path, 0, self._saved[1])
            self._time_index = TimeIndex(self.base_offset, data)
        return self._time_index

    @property
    def has_unsaved_indexes(self) -> bool:
        if self._index is None or self._time_index is None:
            return False  # sealed: they are saved
        return self._saved != (len(self._index.data), len(self._time_index.data))

    def save_indexes(self) -> None:
        """Write the new index entries to their files, and create these."""
        if self._index is None or self._time_index is None:
            return  # sealed: they are saved
        self._saved = (
            self._save(self.index_path, self._index.data, self._saved[0]),
            self._save(self.time_index_path, self._time_index.data, self._saved[1]),
        )

    def _save(self, path: str, data: bytearray, saved: int) -> int:
        if len(data) == saved:
            return saved
        return self._files.append(path, [memoryview(data)[max(saved, 0) :]])

    def seal(self) -> None:
        """Complete the indexes: the time index ends with the segment's largest timestamp."""
        if self.max_timestamp >= 0:
            self.time_index.add(self.max_timestamp, self.max_timestamp_offset)
        self.save_indexes()

    def sync_indexes(self) -> None:
        """Sync indexes that were rebuilt below the recovery point, where no other sync covers them.

        After a `DiskError` they are removed: the next opening must not trust them.
        """
        paths = (self.index_path, self.time_index_path)
        try:
            for path in paths:
                self._files.sync(path)
        except DiskError:
            for path in paths:
                with suppress(DiskError):
                    self._files.remove(path)
            raise

    def unload_indexes(self) -> None:
        """Drop the indexes of a sealed segment from memory."""
        self._index = self._time_index = None

    def trust_files(self, *, is_just_cleaned: bool = False) -> bool:
        """Use the sealed log and indexes; False if the indexes are wrong and must be rebuilt.

        Of a segment that was just cleaned maybe no record is left, and then there is no timestamp either.
        """
        self.size = self._files.size(self.path)
        if not (self._files.exists(self.index_path) and self._files.exists(self.time_index_path)):
            return False
        self._saved = (self._files.size(self.index_path), self._files.size(self.time_index_path))
        self.unload_indexes()
        last = self._last_entry(self.index_path, self._saved[0], OFFSET_ENTRY, (0, 0))
        if is_just_cleaned and self._saved == (0, 0):
            self.max_timestamp = self.max_timestamp_offset = -1
            self._unindexed = self.size
            return True
        newest = self._last_entry(self.time_index_path, self._saved[1], TIME_ENTRY, None)
        if last is None or newest is None or not 0 <= last[1] < self.size or min(last + newest) < 0:
            return False
        self.max_timestamp, self.max_timestamp_offset = newest[0], self.base_offset + newest[1]
        self._unindexed = self.size - last[1]
        return True

    def trust_empty_files(self) -> bool:
        """The same for an empty segment."""
        paths = (self.path, self.index_path, self.time_index_path)
        if not all(self._files.exists(path) and self._files.size(path) == 0 for path in paths):
            return False
        self._empty()
        self._saved = (0, 0)
        return True

    def _last_entry(
        self, path: str, size: int, entry: Struct, empty: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        if size == 0 or size % entry.size:
            return None if size else empty
        first, second = entry.unpack(self._files.read(path, size - entry.size, entry.size))
        return first, second

    def discard_indexes(self) -> None:
        """Remove the indexes, to rebuild them with `index_batch`."""
        self.remove_digest()
        self._files.remove(self.index_path)
        self._files.remove(self.time_index_path)
        self._empty()

    def rebuild_indexes(self) -> bool:
        """Rebuild both indexes from the log file's headers -> False if this process has done so before.

        Raises `BatchError` for a corrupt file; the indexes are then not changed.
        """
        if self._rebuilt:
            return False
        self._rebuilt = True
        end, whole = self.size, 0
        for position, header in self.scan_headers(0, end):
            whole = position + header.length
        if whole < end:
            raise self.damage(whole)
        self.discard_indexes()
        for _, header in self.scan_headers(0, end):
            self.index_batch(header)
        self.seal()
        self.sync_indexes()
        return True

    def damage(self, position: int) -> BatchError:
        """The error for a position without a complete batch."""
        return BatchError(KafkaError.CORRUPT_MESSAGE, f"{self.path} is damaged at byte {position}")

    def scan_headers(
        self, position: int, end: int | None = None
    ) -> Iterator[tuple[int, BatchHeader]]:
        """(position, header) of each complete batch from `position` on; reads little more than headers.

        Stops before an incomplete batch; raises `BatchError` at corruption.
        """
        end = self.size if end is None else end
        chunk, chunk_from, size = memoryview(b""), position, HEADER_SIZE
        while position + HEADER_SIZE <= end:
            if position + HEADER_SIZE > chunk_from + len(chunk):
                chunk, chunk_from = self._chunk(position, end, size), position
            header = parse_header(chunk, position - chunk_from)
            if position + header.length > end:
                return
            yield position, header
            position += header.length
            size = _HOP_BYTES if header.length < _LARGE_BATCH_BYTES else HEADER_SIZE

    def scan(self, position: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
        """(header, batch) of each complete batch from `position` on; else as `scan_headers`."""
        chunk, chunk_from = memoryview(b""), position
        while position + HEADER_SIZE <= end:
            if position + HEADER_SIZE > chunk_from + len(chunk):
                chunk, chunk_from = self._chunk(position, end, _SCAN_BYTES), position
            header = parse_header(chunk, position - chunk_from)
            if position + header.length > end:
                return
            if position + header.length > chunk_from + len(chunk):
                size = max(_SCAN_BYTES, header.length)
                chunk, chunk_from = self._chunk(position, end, size), position
            start = position - chunk_from
            yield header, chunk[start : start + header.length]
            position += header.length

    def _chunk(self, position: int, end: int, size: int) -> memoryview:
        return memoryview(self.read(position, min(size, end - position)))

    def read(self, position: int, size: int) -> Buffer:
        """Bytes of the log file."""
        return self._files.read(self.path, position, size)

    def refer(self, position: int, size: int) -> FileRange:
        """A reference to bytes of the log file."""
        return self._files.refer(self.path, position, size)

    def find_digest(self, topic_id: bytes) -> None:
        """Whether a sealed segment has its digest; removes one that does not match."""
        if not self._files.exists(self.digest_path):
            return
        try:
            self.is_digested = self._has_digest_of(topic_id)
        except DigestError:
            self.is_digested = False
        self._files.close(self.digest_path)
        if not self.is_digested:
            self.remove_digest()

    def _has_digest_of(self, topic_id: bytes) -> bool:
        path, size = self.digest_path, self._files.size(self.digest_path)
        header = self._files.read(path, 0, HEADER.size)
        footer = self._files.read(path, max(0, size - FOOTER_SIZE), FOOTER_SIZE)
        found = decode_ends(header, footer, size)
        own = (topic_id, self.base_offset, self.size)
        return (found.topic_id, found.base_offset, found.size) == own

    def remove_digest(self) -> None:
        """Before the segment's bytes change."""
        self.is_digested = False
        self._files.remove(self.digest_path)

    def remove(self) -> None:
        """Remove all files of the segment."""
        self._files.remove(self.snapshot_path)
        self.remove_data()

    def remove_data(self) -> None:
        """Remove the files, the log file last: a crash leaves a segment."""
        self.remove_digest()
        for path in reversed(self.paths):
            self._files.remove(path)
