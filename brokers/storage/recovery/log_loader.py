"""Recovers a log from its folder (Kafka's LogLoader): trusts what was closed or synced, checks and repairs the rest.

From the recovery point on, every batch is checked: complete, checksum, ascending offsets. The log is truncated at the
first bad one: nothing after it was reported as synced. Each repair is one line.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from brokers.ids import Buffer, Instant, Offset
from brokers.log.completeness import gap_end
from brokers.log.epochs import EpochHistory
from brokers.log.producers import ProducerStates
from brokers.log.snapshots import SnapshotError, decode_snapshot, encode_snapshot
from brokers.ports import Files
from brokers.records.batch import BatchError, BatchHeader, verify_crc
from brokers.storage.cleaning.swapping import SWAP, complete_swaps
from brokers.storage.directories.checkpoint_files import (
    LEADER_EPOCHS,
    CheckpointError,
    parse_epochs,
)
from brokers.storage.directories.removals import DELETED
from brokers.storage.segments.file_names import (
    CLEANED,
    DIGEST,
    INDEX,
    LOG,
    SNAPSHOT,
    TIME_INDEX,
    file_name,
    offset_in_name,
)
from brokers.storage.segments.log_segment import LogSegment

_INT32_MAX = 2**31 - 1  # relative offsets in indexes
_LEFTOVERS = (DELETED, CLEANED, SWAP, ".tmp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A partition's folder and its checkpoints.

    Everything below `recovery_point` is synced; `closed` if the log was closed cleanly, with its end there. Files in
    `discarded` are removed later. Nothing of a log that is `forsaken` may be used.
    """

    directory: str
    recovery_point: Offset = 0
    log_start_offset: Offset = 0
    closed: bool = False
    index_interval_bytes: int = 4096
    discarded: frozenset[str] = frozenset()
    forsaken: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """A log after recovery."""

    segments: list[LogSegment]
    log_start_offset: Offset
    next_offset: Offset
    epochs: EpochHistory
    epochs_changed: bool  # they differ from the checkpoint file
    producers: ProducerStates
    settled: bool  # as after a clean shutdown
    repairs: tuple[str, ...]
    gap_end: Offset  # the end of the last gap that was found, -1: none


class LogLoader:
    """One opening of one folder. Raises `DiskError`."""

    def __init__(self, files: Files, folder: Folder) -> None:
        self._files = files
        self._folder = folder
        self._repairs: list[str] = []
        self._settled = False
        self._gap_end: Offset = -1

    def run(self, now: Instant) -> Recovered:
        """Repair the folder in place; return the log."""
        names = self._remove_leftovers()
        segments = self._find_segments(names)
        if self._folder.forsaken:
            self._remove_all(segments)
        next_offset = self._read_through(segments)
        producers = self._load_producers(segments, next_offset, now)
        if not segments or next_offset < self._folder.log_start_offset:
            segments, next_offset = self._begin_at_start(segments, producers)
        log_start = max(self._folder.log_start_offset, segments[0].base_offset)
        epochs, epochs_changed = self._load_epochs(segments)
        if epochs.truncate_from_end(next_offset):
            self._repairs.append(
                f"{self._folder.directory}: leader epochs above {next_offset} dropped"
            )
            epochs_changed = True
        epochs_changed |= epochs.truncate_from_start(log_start)
        return Recovered(
            segments=segments,
            log_start_offset=log_start,
            next_offset=next_offset,
            epochs=epochs,
            epochs_changed=epochs_changed,
            producers=producers,
            settled=self._settled or (len(segments) == 1 and segments[0].size == 0),
            repairs=tuple(self._repairs),
            gap_end=self._gap_end,
        )

    def _remove_all(self, segments: list[LogSegment]) -> None:
        """The log begins anew, where it began."""
        start = max(self._folder.log_start_offset, *(each.base_offset for each in segments[:1]), 0)
        self._folder = replace(self._folder, log_start_offset=start, closed=False)
        while segments:
            segments.pop().remove()

    def _segment(self, base_offset: Offset) -> LogSegment:
        folder = self._folder
        return LogSegment(self._files, folder.directory, base_offset, folder.index_interval_bytes)

    def _path(self, name: str) -> str:
        return f"{self._folder.directory}/{name}"

    def _remove_leftovers(self) -> list[str]:
        """Complete the swaps of a cleaning; remove leftovers of deletions and replacements, and files without a segment
        -> the remaining names."""
        self._repairs += complete_swaps(self._files, self._folder.directory, self._segment)
        found = self._files.list(self._folder.directory)
        names = {name: None for name in found if name not in self._folder.discarded}
        active = max((name for name in names if offset_in_name(name, LOG) is not None), default="")
        gone = [
            name
            for name in names
            if name.endswith(_LEFTOVERS)
            or any(
                (base := offset_in_name(name, suffix)) is not None
                and file_name(base, LOG) not in names
                for suffix in (INDEX, TIME_INDEX, DIGEST)
            )
            or name == active.removesuffix(LOG) + DIGEST  # truncated since it was sealed
        ]
        for name in gone:
            self._files.remove(self._path(name))
            del names[name]
        return list(names)

    def _find_segments(self, names: list[str]) -> list[LogSegment]:
        """The segments, ascending; removes those wholly below the log start offset, left by a crash in a trim."""
        folder = self._folder
        bases = sorted(base for name in names if (base := offset_in_name(name, LOG)) is not None)
        segments = [self._segment(base) for base in bases]
        while len(segments) > 1 and segments[1].base_offset <= folder.log_start_offset:
            segments.pop(0).remove()
        return segments

    def _read_through(self, segments: list[LogSegment]) -> Offset:
        """Trust or check each segment; truncate the log at the first corruption or loss -> the log end offset."""
        next_offset: Offset = 0
        for segment, following in list(pairwise([*segments, None])):
            assert segment is not None
            next_offset = max(next_offset, segment.base_offset)
            if self._is_trusted(segment, following):
                next_offset = following.base_offset if following else self._folder.recovery_point
                continue
            next_offset, damage = self._check(segment, next_offset)
            if damage:
                self._cut(segment, next_offset, damage)
            if damage or following is None or self._is_lost(next_offset, following):
                self._remove_behind(segments, segment, next_offset)
                break
            segment.seal()
            segment.sync_indexes()
            if segment.size == 0:
                segments.remove(segment)
                segment.remove_data()
        return next_offset

    def _is_lost(self, next_offset: Offset, following: LogSegment) -> bool:
        """Whether batches between two segments are lost: intended gaps are below the recovery point."""
        return max(next_offset, self._folder.recovery_point) < following.base_offset

    def _is_trusted(self, segment: LogSegment, following: LogSegment | None) -> bool:
        if following:
            return self._is_kept(following.base_offset) and segment.trust_files()
        if self._folder.closed and segment.base_offset == self._folder.recovery_point:
            # There may be thousands, and each would cost syncs.
            self._settled = segment.trust_empty_files()
        elif self._folder.closed:
            self._settled = segment.trust_files() and self._was_closed(segment)
        return self._settled

    def _is_kept(self, end: Offset) -> bool:
        """Whether a sealed segment and its indexes are synced: the indexes are synced after its last batch."""
        folder = self._folder
        return end < folder.recovery_point or (folder.closed and end == folder.recovery_point)

    def _was_closed(self, segment: LogSegment) -> bool:
        """Whether the last segment ends where the log was closed."""
        try:
            last = segment.index.last()
            end, next_offset = last.position if last else 0, -1
            for position, header in segment.scan_headers(end):
                next_offset, end = header.next_offset, position + header.length
        except BatchError:
            return False
        return end == segment.size and next_offset == self._folder.recovery_point

    def _check(self, segment: LogSegment, expected: Offset) -> tuple[Offset, str]:
        """Index the batches -> (next offset, the error of the first bad one, if any)."""
        size = self._files.size(segment.path)
        segment.discard_indexes()
        try:
            for header, batch in self._batches(segment, size):
                if damage := _damage(segment, header, batch, expected):
                    return expected, damage
                self._gap_end = max(self._gap_end, gap_end([header], expected))
                segment.index_batch(header)
                expected = header.next_offset
        except BatchError as error:
            return expected, error.because
        return expected, "" if segment.size == size else "the last batch is cut short"

    def _batches(
        self, segment: LogSegment, size: int
    ) -> Iterator[tuple[BatchHeader, Buffer | None]]:
        """Headers below the recovery point, from there on whole batches, whose checksums are checked."""
        checked = 0
        for position, header in segment.scan_headers(0, size):
            checked = position
            if header.base_offset >= self._folder.recovery_point:
                break
            yield header, None
            checked = position + header.length
        yield from segment.scan(checked, size)

    def _cut(self, segment: LogSegment, next_offset: Offset, damage: str) -> None:
        cut = self._files.size(segment.path) - segment.size
        self._files.truncate(segment.path, segment.size)
        self._repairs.append(
            f"{segment.path}: {cut} bytes cut from offset {next_offset} on: {damage}"
        )

    def _remove_behind(
        self, segments: list[LogSegment], segment: LogSegment, next_offset: Offset
    ) -> None:
        while segments[-1] is not segment:
            behind = segments.pop()
            self._repairs.append(f"{behind.path}: removed, offsets from {next_offset} on are lost")
            behind.remove_data()

    def _begin_at_start(
        self, segments: list[LogSegment], producers: ProducerStates
    ) -> tuple[list[LogSegment], Offset]:
        """Begin at the log start offset: a new log, or one whose rest lies below it. Its producers are kept."""
        start = self._folder.log_start_offset
        for segment in segments:
            self._repairs.append(f"{segment.path}: removed, it lies below the log start {start}")
            segment.remove_data()
        first = self._segment(start)
        if len(producers) > 0:
            self._files.replace(first.snapshot_path, encode_snapshot(producers))
        self._files.append(first.path, [])
        return [first], start

    def _load_epochs(self, segments: list[LogSegment]) -> tuple[EpochHistory, bool]:
        """(leader epochs from the checkpoint or else the batches, whether the checkpoint must be written)."""
        path = self._path(LEADER_EPOCHS)
        epochs, since, is_believed = EpochHistory(), 0, False
        if is_there := self._files.exists(path):
            try:
                epochs = EpochHistory(
                    parse_epochs(self._files.read(path, 0, self._files.size(path)))
                )
                # The file is synced with the data: it may lack the epochs of unsynced batches.
                since, is_believed = self._folder.recovery_point, True
            except CheckpointError as error:
                self._repairs.append(f"{path}: made anew from the log: {error}")
        known = epochs.entries
        for header in () if is_believed and self._settled else self._headers(segments, since):
            if not is_believed or header.next_offset > self._folder.log_start_offset:
                epochs.assign(header.leader_epoch, header.base_offset)
        return epochs, epochs.entries != known or (is_there and not is_believed)

    def _load_producers(
        self, segments: list[LogSegment], next_offset: Offset, now: Instant
    ) -> ProducerStates:
        """The newest valid snapshot, updated with every batch since."""
        bound = max(next_offset, self._folder.log_start_offset)
        producers, since = self._load_snapshot(segments, bound)
        for header in self._headers(segments, since):
            producers.update(header, now)
        return producers

    def _load_snapshot(
        self, segments: list[LogSegment], bound: Offset
    ) -> tuple[ProducerStates, Offset]:
        names = self._files.list(self._folder.directory)
        offsets = sorted(at for name in names if (at := offset_in_name(name, SNAPSHOT)) is not None)
        for offset in reversed(offsets):
            path = self._path(file_name(offset, SNAPSHOT))
            try:
                if offset <= bound:
                    data = self._files.read(path, 0, self._files.size(path))
                    found = decode_snapshot(data)
                    self._remove_outdated(segments, [at for at in offsets if at < offset])
                    return found, offset
                reason = "it is above the log's end"
            except SnapshotError as error:
                reason = str(error)
            self._repairs.append(f"{path}: removed: {reason}")
            self._files.remove(path)
        return ProducerStates(), 0

    def _remove_outdated(self, segments: list[LogSegment], offsets: list[Offset]) -> None:
        """Remove snapshots of earlier shutdowns; those of segments stay, in case a newer one is corrupt."""
        bases = {segment.base_offset for segment in segments}
        for offset in offsets:
            if offset not in bases:
                self._files.remove(self._path(file_name(offset, SNAPSHOT)))

    def _headers(self, segments: list[LogSegment], since: Offset) -> Iterator[BatchHeader]:
        """The batches from `since` on, up to the first corrupt one."""
        for segment, following in pairwise([*segments, None]):
            assert segment is not None
            if following and following.base_offset <= since:
                continue
            position = segment.index.floor(since)
            try:
                for _, header in segment.scan_headers(position):
                    if header.base_offset >= since:
                        yield header
            except BatchError as error:
                self._repairs.append(f"{segment.path}: unreadable from here on: {error.because}")


def _damage(
    segment: LogSegment, header: BatchHeader, batch: Buffer | None, expected: Offset
) -> str:
    if header.base_offset < expected or header.last_offset_delta < 0:
        return f"offset {header.base_offset} follows {expected - 1}"
    if header.next_offset - segment.base_offset > _INT32_MAX:
        return f"offset {header.base_offset} is too far from the segment's first"
    if batch is None or verify_crc(batch, header):
        return ""
    return "the checksum is wrong"
