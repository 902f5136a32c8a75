"""The files of one open log: batches go in at the end, ranges come out.

Reads are one `pread` of about the size that was asked, cut at batch borders by hopping over headers. Where a read ended
is remembered, so that a sequential reader costs no lookup.
"""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from brokers.errors import KafkaError
from brokers.ids import Buffer, Buffers, Offset
from brokers.log.segment_file import SegmentFile
from brokers.log.segments import SNAPSHOT, file_name
from brokers.ports import Files
from brokers.records.batch import HEADER_SIZE, BatchError, BatchHeader, parse_header, slice_batches

_POSITIONS_REMEMBERED = 16  # of sequential readers, per log
_INDEXES_LOADED = 4  # of sealed segments, per log
_base_of = attrgetter("base_offset")


class StoredLog:
    """What the disk holds of one partition. The last segment is active; `next_offset` is one past the last batch."""

    def __init__(
        self,
        files: Files,
        directory: str,
        segments: Sequence[SegmentFile],
        *,
        log_start_offset: Offset,
        next_offset: Offset,
        synced_offset: Offset,
        index_interval_bytes: int,
    ) -> None:
        self._files = files
        self._interval = index_interval_bytes
        self._positions: dict[Offset, tuple[SegmentFile, int]] = {}
        self._loaded: dict[SegmentFile, None] = {}
        self.directory = directory
        self.segments = list(segments)
        self.log_start_offset = log_start_offset
        self.next_offset = next_offset
        self.synced_offset = synced_offset  # below: on the disk for certain
        self.sync_promised: Offset = 0  # below: to be reported only once it is synced

    @property
    def active(self) -> SegmentFile:
        return self.segments[-1]

    def append(self, headers: Sequence[BatchHeader], buffers: Buffers) -> None:
        self.segments[-1].append(headers, buffers)
        self.next_offset = headers[-1].next_offset

    def roll(self, base_offset: Offset, producers: bytes) -> None:
        """Seal the active segment; the next one begins at `base_offset`, with the producers' state as of there."""
        self.active.seal()
        self._keep_loaded(self.active)
        if base_offset == self.active.base_offset:
            return  # it is empty already
        segment = SegmentFile(self._files, self.directory, base_offset, self._interval)
        self._files.replace(segment.snapshot_path, producers)
        self._files.append(segment.path, [])
        self.segments.append(segment)
        self.next_offset = base_offset

    def close(self, producers: bytes) -> None:
        """Bring everything to the disk, so that the next opening needs to check nothing."""
        self.active.seal()
        snapshot = f"{self.directory}/{file_name(self.next_offset, SNAPSHOT)}"
        self._files.replace(snapshot, producers)
        for path in (self.active.path, self.active.index_path, self.active.time_index_path):
            self._files.sync(path)

    def end_of(self, segment: SegmentFile) -> Offset:
        """One past the last offset that a segment may hold."""
        if segment is self.active:
            return self.next_offset
        return self.segments[self.segments.index(segment) + 1].base_offset

    def trim(self, log_start_offset: Offset) -> None:
        """Remove the whole segments below an offset."""
        self.log_start_offset = log_start_offset
        while len(self.segments) > 1 and self.segments[1].base_offset <= log_start_offset:
            segment = self.segments.pop(0)
            self._loaded.pop(segment, None)
            segment.remove()
        self._positions.clear()

    def read(
        self, offset: Offset, bound: Offset, size_max: int, *, at_least_one: bool
    ) -> tuple[Buffer, Offset]:
        """(whole batches of [offset, bound), next offset), from one segment; `BatchError` where the log is damaged."""
        segment, position = self._locate(offset)
        data, next_offset = _read_batches(
            self._files, segment, position, (offset, bound), size_max, at_least_one
        )
        if data:
            self._remember(next_offset, segment, position + len(data))
        return data, next_offset

    def _locate(self, offset: Offset) -> tuple[SegmentFile, int]:
        known = self._positions.pop(offset, None)
        if known is None:
            segment = self.segment_of(offset)
            known = segment, self.position_of(segment, offset)
        segment, position = known
        while position >= segment.size and segment is not self.active:
            segment, position = self.segments[self.segments.index(segment) + 1], 0
        return segment, position

    def _remember(self, offset: Offset, segment: SegmentFile, position: int) -> None:
        if len(self._positions) >= _POSITIONS_REMEMBERED:
            del self._positions[next(iter(self._positions))]
        self._positions[offset] = segment, position

    def segment_of(self, offset: Offset) -> SegmentFile:
        """The segment that holds `offset`, or would."""
        return self.segments[max(0, bisect_right(self.segments, offset, key=_base_of) - 1)]

    def position_of(self, segment: SegmentFile, offset: Offset) -> int:
        """Where the first batch of a segment that ends above `offset` begins; its size if there is none.

        An index that leads astray is made anew from the log once; `BatchError` if the log itself is damaged.
        """
        self._keep_loaded(segment)
        try:
            return _hop_to(segment, segment.index.floor(offset), offset)
        except BatchError:
            segment.rebuild_indexes()
            return _hop_to(segment, segment.index.floor(offset), offset)

    def _keep_loaded(self, segment: SegmentFile) -> None:
        """Count a sealed segment among those whose indexes stay in memory, the least recent of which goes."""
        if segment is self.active:
            return
        self._loaded.pop(segment, None)
        self._loaded[segment] = None
        if len(self._loaded) > _INDEXES_LOADED:
            oldest = next(iter(self._loaded))
            del self._loaded[oldest]
            oldest.unload_indexes()


def _read_batches(
    files: Files,
    segment: SegmentFile,
    position: int,
    wanted: tuple[Offset, Offset],
    size_max: int,
    at_least_one: bool,
) -> tuple[Buffer, Offset]:
    offset, bound = wanted
    size = min(segment.size - position, max(size_max, HEADER_SIZE))
    if size <= 0 or offset >= bound:
        return b"", offset
    data = files.read(segment.path, position, size)
    start, end, next_offset = slice_batches(
        data, offset, bound, size_max, at_least_one=at_least_one
    )
    if end == 0 and at_least_one:
        header = parse_header(data)
        if header.next_offset <= bound and header.length > len(data):
            data = files.read(segment.path, position, header.length)
            start, end, next_offset = slice_batches(data, offset, bound, 0, at_least_one=True)
    return memoryview(data)[start:end], next_offset


def _hop_to(segment: SegmentFile, start: int, offset: Offset) -> int:
    expected = segment.base_offset
    for position, header in segment.hop(start):
        overshot = header.base_offset > offset and position == start and start > 0
        if header.base_offset < expected or overshot:
            because = f"{segment.path} is not in order at byte {position}"
            raise BatchError(KafkaError.CORRUPT_MESSAGE, because)
        if header.next_offset > offset:
            return position
        expected = header.next_offset
    return segment.size
