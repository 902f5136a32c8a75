"""The files of one open log: appends and reads.

The positions where reads ended are kept, so that a sequential reader needs no index lookup.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter

from brokers.effects import KeepProducers
from brokers.ids import Buffer, Buffers, LeaderEpoch, Offset
from brokers.ports import Appending, FileRange, Files
from brokers.records.batch import BatchError, BatchHeader
from brokers.storage.directories.checkpoint_files import LEADER_EPOCHS, format_epochs
from brokers.storage.directories.removals import Removals
from brokers.storage.segments.file_names import SNAPSHOT, file_name
from brokers.storage.segments.log_segment import LoadedIndexes, LogSegment
from brokers.storage.segments.ranges import find_batches, read_batches

# Per log: where sequential readers go on, such as all followers at its end.
_POSITIONS_REMEMBERED = 16
# Below, copying is cheaper than sendfile.
_WORTH_A_REFERENCE_BYTES = 1 << 15
_base_of = attrgetter("base_offset")


class LocalLog:
    """The files of one partition. The last segment is active; `next_offset` is one past the last batch.

    Everything below `synced_offset` is synced; writes below `sync_promised` are reported only once they are synced;
    `unsynced_paths` are small files to sync with the next data; `undigested` are sealed segments without a digest.
    `settled`: the folder is as `close` leaves it.
    """

    def __init__(
        self,
        files: Files,
        directory: str,
        topic_id: bytes,
        segments: Sequence[LogSegment],
        loaded: LoadedIndexes,
        removals: Removals,
        *,
        log_start_offset: Offset,
        next_offset: Offset,
        synced_offset: Offset,
        settled: bool,
        file_delete_delay_ms: int,
    ) -> None:
        self._files = files
        self._loaded = loaded
        self._removals = removals
        self.file_delete_delay_ms = file_delete_delay_ms
        self.preallocate_bytes = 0  # of disk that a new segment takes at once
        self._preallocated: LogSegment | None = None
        self._positions: dict[Offset, tuple[LogSegment, int]] = {}
        self.directory = directory
        self.topic_id = topic_id
        self.segments = list(segments)
        self.log_start_offset = log_start_offset
        self.next_offset = next_offset
        self.synced_offset = synced_offset
        self.sync_promised: Offset = 0
        self.unsynced_paths: dict[str, int] = {}
        self._writings = 0
        self._epochs_behind: bytes | None = None  # what is to be written of leader epochs
        self._settled = settled
        self._producers: tuple[Offset, bytes] | None = None
        self.undigested = {
            each: None for each in self.segments[:-1] if each.size > 0 and not each.is_digested
        }

    @property
    def active(self) -> LogSegment:
        return self.segments[-1]

    def append(self, headers: Sequence[BatchHeader], buffers: Buffers) -> None:
        """Append batches; after a `DiskError` the log must be reopened."""
        self._settled = False
        self.segments[-1].append(headers, buffers)
        self.next_offset = headers[-1].next_offset

    def begin_append(self, buffers: Buffers) -> Appending:
        """The first part of an append: a write for any thread, whose result is passed to `appended`. One at a time."""
        self._settled = False
        return self.active.begin_append(buffers)

    def appended(self, headers: Sequence[BatchHeader], size: int) -> None:
        """The batches are written; the file has `size` bytes."""
        self.active.appended(headers, size)
        self.next_offset = headers[-1].next_offset

    def roll(self, base_offset: Offset, producers: bytes, interval: int | None = None) -> None:
        """Seal the active segment; begin the next one at `base_offset`, with a producer snapshot and index interval."""
        self._settled = False
        sealed = self.active
        sealed.seal()
        self._release()
        segment = sealed.successor(base_offset, interval)
        self._files.replace(segment.snapshot_path, producers)
        self._files.append(segment.path, [])
        self.segments.append(segment)
        self.preallocate()
        if sealed.size > 0:
            self.undigested[sealed] = None
        self._loaded.touch(sealed)
        self.next_offset = base_offset

    def save_behind(self) -> None:
        """Write what `save_epochs` put off, and what is new in the active segment's indexes."""
        self.save_epochs_behind()
        self.active.save_indexes()

    @property
    def has_epochs_behind(self) -> bool:
        return self._epochs_behind is not None

    def save_epochs_behind(self) -> None:
        """Before a batch is appended, and when the log is closed."""
        if self._epochs_behind is not None:
            path = f"{self.directory}/{LEADER_EPOCHS}"
            self._files.write(path, self._epochs_behind)
            self._epochs_behind = None
            self._writings += 1
            self.unsynced_paths[path] = self._writings

    def preallocate(self) -> None:
        """The active segment takes the disk that it will need, if the topic's `preallocate` says so.

        Kafka's takes it as zeros behind the records, which it cuts off when the segment is closed, and after a crash
        when the log is opened. Here the file ends where its records do.
        """
        if self.preallocate_bytes:
            self._files.preallocate(self.active.path, self.preallocate_bytes)
            self._preallocated = self.active

    def _release(self) -> None:
        """The active segment grows no more, or not for now."""
        if self._preallocated is self.active:
            self._files.release(self.active.path)
        self._preallocated = None

    def replace(self, replaced: Sequence[LogSegment], suffix: str) -> LogSegment:
        """A cleaned segment takes the place of these, which follow one another -> the segment.

        Its log file has this `suffix` to its name until `replacement_named`.
        """
        first = self.segments.index(replaced[0])
        segment = replaced[0].successor(replaced[0].base_offset)
        segment.path += suffix
        if not segment.trust_files(is_just_cleaned=True):
            segment.rebuild_indexes()
        for each in replaced:
            self.undigested.pop(each, None)
            self._loaded.forget(each)
        self.segments[first : first + len(replaced)] = [segment]
        self._positions.clear()
        return segment

    def replacement_named(self, segment: LogSegment, suffix: str) -> None:
        """The log file of a cleaned segment has its own name now."""
        segment.path = segment.path.removesuffix(suffix)
        if segment.size > 0:
            self.undigested[segment] = None

    def trim(self, log_start_offset: Offset) -> list[str]:
        """Remove the whole segments below an offset -> the removed files."""
        gone: list[str] = []
        self.log_start_offset = log_start_offset
        while len(self.segments) > 1 and self.segments[1].base_offset <= log_start_offset:
            segment = self.segments.pop(0)
            self.undigested.pop(segment, None)
            self._discard(segment)
            gone += segment.paths
        self._positions.clear()
        return gone

    def cut(self, offset: Offset) -> Offset:
        """Remove the batches that hold `offset` or lie above it, durably -> the new log end offset.

        The indexes are not changed: the log must be reopened. Raises `BatchError` if the log is corrupt.
        """
        kept = self.segment_of(offset)
        while self.active is not kept:
            self._discard(self.segments.pop())
        kept.remove_digest()
        size = self.position_of(kept, offset)
        self.next_offset = kept.base_offset
        for _, header in kept.scan_headers(kept.index.floor(offset - 1), size):
            self.next_offset = header.next_offset
        if size < kept.size:
            self._files.truncate(kept.path, size)
        return self.next_offset

    def clear(self, offset: Offset) -> Offset:
        """Remove all segments: the log must be reopened, and begins at `offset`, which is returned."""
        while self.segments:
            self._discard(self.segments.pop())
        self.next_offset = offset
        return offset

    def _discard(self, segment: LogSegment) -> None:
        """The log file last: a crash leaves a segment."""
        self._loaded.forget(segment)
        segment.is_digested = False
        self._removals.discard(
            segment.paths_beside, [segment.path], delay_ms=self.file_delete_delay_ms
        )

    def discard_replaced(
        self, gone: Sequence[str], log: str
    ) -> tuple[list[str], list[tuple[str, str]]]:
        """What to (remove, rename) of segments that a cleaned one replaces; without a delay it gets the name of `log`
        in its place."""
        delay_ms = self.file_delete_delay_ms
        return self._removals.changes([*gone, log] if delay_ms > 0 else gone, delay_ms=delay_ms)

    def save_epochs(self, entries: Sequence[tuple[LeaderEpoch, Offset]]) -> None:
        """Persist the leader-epoch history.

        If the latest epoch has no data yet, the file is written behind (`save_behind`), before the first, and synced
        with it: a node that becomes the leader of many partitions need not write and sync each. After a crash the file
        may lack that epoch, as after a power loss it could with any order: it is the one of no batch.
        """
        if entries and entries[-1][1] >= self.next_offset:
            self._epochs_behind = format_epochs(entries)
            return
        self._epochs_behind = None
        path = f"{self.directory}/{LEADER_EPOCHS}"
        self._files.replace(path, format_epochs(entries))
        self.unsynced_paths.pop(path, None)

    def keep(self, effect: KeepProducers) -> None:
        """Keep the producer snapshot at an offset, for `close`."""
        self._producers = effect.next_offset, effect.snapshot

    def close(self) -> None:
        """Sync everything, so that the next opening need not check the log.

        Without a producer snapshot at the log end, the next opening reads the batches.
        """
        self._release()
        self.save_epochs_behind()
        if self._settled:
            return  # unchanged
        self.active.seal()
        next_offset, producers = self._producers or (-1, b"")
        if next_offset == self.next_offset:
            snapshot = f"{self.directory}/{file_name(next_offset, SNAPSHOT)}"
            self._files.replace(snapshot, producers)
        for path in (*self.active.paths, *self.unsynced_paths):
            self._files.sync(path)

    def moved_to(self, files: Files, loaded: LoadedIndexes, removals: Removals) -> None:
        """The folder moved to another directory; all of it is synced."""
        for segment in self.segments:
            self._loaded.forget(segment)
            segment.moved_to(files)
        self._files, self._loaded, self._removals = files, loaded, removals
        for segment in self.segments[:-1]:
            loaded.touch(segment)
        self.unsynced_paths.clear()

    def is_synced_to(self, next_offset: Offset) -> bool:
        """Everything below is synced -> whether writes waited for that."""
        was_promised = self.sync_promised > self.synced_offset
        self.synced_offset = max(self.synced_offset, next_offset)
        return was_promised

    def needs(self, path: str) -> bool:
        """Whether a file is part of the log: if it is missing, the disk failed."""
        return any(path in segment.paths for segment in self.segments)

    def sync_small_files(self) -> None:
        """Sync the small files now."""
        for path in list(self.unsynced_paths):
            self._files.sync(path)
            del self.unsynced_paths[path]

    def synced(self, writings: Mapping[str, int]) -> None:
        """These versions of small files are synced; newer ones are not."""
        for path, writing in writings.items():
            if self.unsynced_paths.get(path) == writing:
                del self.unsynced_paths[path]

    def end_of(self, segment: LogSegment) -> Offset:
        """One past the last offset that a segment may hold."""
        if segment is self.active:
            return self.next_offset
        return self.segments[self.segments.index(segment) + 1].base_offset

    def read(
        self, offset: Offset, bound: Offset, size_max: int, *, at_least_one: bool
    ) -> tuple[Buffer, Offset]:
        """(whole batches of [offset, bound), next offset), from one segment; raises `BatchError` if it is corrupt."""
        if offset >= bound:
            return b"", offset
        segment, position = self._locate(offset)
        return self._read(segment, position, (offset, bound), size_max, at_least_one)

    def _read(
        self,
        segment: LogSegment,
        position: int,
        wanted: tuple[Offset, Offset],
        size_max: int,
        at_least_one: bool,
    ) -> tuple[Buffer, Offset]:
        data, next_offset = read_batches(
            self._files, segment, position, wanted, size_max, at_least_one
        )
        if data:
            self._remember(next_offset, segment, position + len(data))
        return data, next_offset

    def find(
        self, offset: Offset, bound: Offset, size_max: int, *, at_least_one: bool
    ) -> tuple[Buffer | FileRange, Offset]:
        """The same batches; large ranges as a reference to their file."""
        if offset >= bound:
            return b"", offset
        segment, position = self._locate(offset)
        wanted, rest = (offset, bound), segment.size - position
        if min(rest, size_max) < _WORTH_A_REFERENCE_BYTES:
            return self._read(segment, position, wanted, size_max, at_least_one)
        if rest <= size_max and self.end_of(segment) <= bound:
            size, next_offset = rest, self.end_of(segment)
        else:
            size, next_offset = find_batches(segment, position, wanted, size_max, at_least_one)
        if size == 0:
            return b"", offset
        self._remember(next_offset, segment, position + size)
        return segment.refer(position, size), next_offset

    def _locate(self, offset: Offset) -> tuple[LogSegment, int]:
        known = self._positions.get(offset)
        if known is None:
            segment = self.segment_of(offset)
            known = segment, self.position_of(segment, offset)
        segment, position = known
        while position >= segment.size and segment is not self.active:
            segment, position = self.segments[self.segments.index(segment) + 1], 0
        self._keep_loaded(segment)
        return segment, position

    def _remember(self, offset: Offset, segment: LogSegment, position: int) -> None:
        known = self._positions
        if len(known) >= _POSITIONS_REMEMBERED and offset not in known:
            del known[next(iter(known))]
        known[offset] = segment, position

    def segment_of(self, offset: Offset) -> LogSegment:
        """The segment that holds `offset`, or would."""
        return self.segments[max(0, bisect_right(self.segments, offset, key=_base_of) - 1)]

    def position_of(self, segment: LogSegment, offset: Offset) -> int:
        """The position of the first batch of a segment that ends above `offset`; the segment's size if there is none.

        A wrong index is rebuilt from the log once; raises `BatchError` if the log itself is corrupt.
        """
        self._keep_loaded(segment)
        try:
            return _hop_to(segment, segment.index.floor(offset), offset)
        except BatchError:
            if not segment.rebuild_indexes():
                raise
            return _hop_to(segment, segment.index.floor(offset), offset)

    def _keep_loaded(self, segment: LogSegment) -> None:
        if segment is not self.active:
            self._loaded.touch(segment)


def _hop_to(segment: LogSegment, start: int, offset: Offset) -> int:
    expected, end = segment.base_offset, start
    for position, header in segment.scan_headers(start):
        overshot = header.base_offset > offset and position == start and start > 0
        if header.base_offset < expected or overshot:
            raise segment.damage(position)
        if header.next_offset > offset:
            return position
        expected, end = header.next_offset, position + header.length
    if end < segment.size:
        raise segment.damage(end)
    return end
