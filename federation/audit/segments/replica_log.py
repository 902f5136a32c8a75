"""A replica's log as files: which segments there are, where its offsets stand in them, where it ends.

Sizes are taken once, when the log is discovered: a live region goes on appending behind them, and the audit speaks
only for what it saw.
"""

import os
import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from federation.audit.segments import checkpoints
from federation.audit.segments.batches import Batch, Part, walk
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compaction, Compactions
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES, OFFSET_MAX
from federation.audit.segments.replica import Position, Stretch
from federation.audit.segments.rising_run import longest_run
from federation.audit.segments.segment_file import SegmentFile, hint, hop, offset_near, timestamps

PARTITION_FOLDER = re.compile(r"(?P<topic>[a-zA-Z0-9._-]+)-(?P<partition>\d+)")
INDEX_FILE = re.compile(r"\d{20}\.(?:time)?index")
SEGMENT_FILE = re.compile(r"(\d{20})\.log")
TAIL_BATCHES = 16
RECORD_BYTES_MIN = 7
CODEC, COMPRESSION_MAX = 0x07, 1_000


class ReplicaLog(NamedTuple):
    """A `ReadableReplica` in a data directory; `folder` has its files.

    `lost` are the offsets of segments whose indexes are there and whose log file is not. After a crash a node
    builds the indexes of segments that reach above `recovery_point` anew.
    """

    topic: str
    partition: int
    folder: str
    segments: tuple[SegmentFile, ...]
    end_offset: int
    newest_ms: int
    node: str = ""
    node_id: int = -1
    lost: tuple[tuple[int, int], ...] = ()
    recovery_point: int = OFFSET_MAX
    compaction: Compaction | None = Compaction()

    @property
    def is_crashed(self) -> bool:
        return self.recovery_point < OFFSET_MAX

    @property
    def is_empty(self) -> bool:
        return not self.segments

    @property
    def first_offset(self) -> int:
        return self.segments[0].base_offset if self.segments else 0

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def end(self) -> Position:
        """The last byte of the last file, whatever offsets are found before it."""
        return Position(len(self.segments) - 1, self.segments[-1].size, OFFSET_MAX)

    def compaction_now(self) -> Compaction | None:
        return Compactions(os.path.dirname(self.folder)).of((self.topic, self.partition))

    def end_now(self) -> int:
        return _open((self.topic, self.partition), self.folder, DataDir("")).end_offset

    def boundaries(self, start: int, stop: int, step: int) -> list[int]:
        """Bases of segments, and of batches about every `step` bytes in a long one that has an index."""
        found: list[int] = []
        for segment in self.segments:
            found.append(segment.base_offset)
            found += [offset_near(segment, byte) for byte in range(step, segment.size, step)]
        return [offset for offset in found if start < offset < stop]

    def stretch(self, start: Position, stop: Position) -> Stretch:
        """File by file; empty files are left out."""
        found = []
        for number in range(start.segment, min(stop.segment + 1, len(self.segments))):
            segment = self.segments[number]
            begin = start.byte if number == start.segment else 0
            until = stop.byte if number == stop.segment else segment.size
            floor = start.offset if number == start.segment else segment.base_offset
            ceiling = bound = self._next_base(number)
            if number == stop.segment:
                ceiling = min(ceiling, stop.offset)
            if begin < until:
                is_indexed = bound <= self.recovery_point
                found.append(Part(segment.path, begin, until, floor, ceiling, bound, is_indexed))
        return Stretch(tuple(found))

    def first_at(self, offset: int, *, is_stop: bool = False) -> Position | None:
        number = self._segment_of(offset)
        segment = self.segments[number]
        if segment.base_offset >= offset:
            return Position(number, 0, segment.base_offset)
        byte, reached = hint(segment, offset)
        hops = hop(segment, byte)
        for base_offset, next_offset, size in hops:
            if reached == offset <= base_offset:
                return Position(number, byte, offset)
            if base_offset >= offset:
                # Offsets are missing before it: only if the log goes on above it, its base offset can be believed.
                after = next(hops, (next_offset, 0, 0))[0]
                return Position(number, byte, offset) if after >= next_offset else None
            if base_offset < reached or next_offset > offset:
                return None
            byte, reached = byte + size, next_offset
        is_there = (byte == segment.size and reached <= offset) or (is_stop and reached == offset)
        return Position(number, byte, offset) if is_there else None

    def first_covering(self, offset: int) -> Position:
        """A file's start when in doubt."""
        number = self._segment_of(offset)
        segment = self.segments[number]
        byte, reached = hint(segment, offset)
        for base_offset, next_offset, size in hop(segment, byte):
            if next_offset > offset:
                return Position(number, byte, max(reached, base_offset))
            byte, reached = byte + size, next_offset
        if byte == segment.size:
            return Position(number, byte, reached)
        return Position(number, 0, segment.base_offset)

    def batch_at(self, position: Position) -> bytes:
        with open(self.segments[position.segment].path, "rb", buffering=0) as file:
            file.seek(position.byte)
            data = file.read(HEADER_BYTES)
            if len(data) == HEADER_BYTES:
                data += file.read(max(0, LENGTH_BYTES + HEADER.unpack(data)[1] - HEADER_BYTES))
        return data

    def newest_below(self, start: int, stop: int, before_ms: int) -> int:
        """Only headers are read. What the log does not hold there counts as old."""
        for segment in self.segments[self._segment_of(start) :]:
            if segment.base_offset >= stop:
                break
            for base_offset, next_offset, max_timestamp in timestamps(segment):
                if next_offset > start and base_offset < stop and max_timestamp >= before_ms:
                    return max(start, base_offset)
        return stop

    def _next_base(self, number: int) -> int:
        """The base offset of the segment after this one: what no offset in this one may reach."""
        if number + 1 < len(self.segments):
            return self.segments[number + 1].base_offset
        return OFFSET_MAX

    def _segment_of(self, offset: int) -> int:
        found = bisect_right(self.segments, offset, key=lambda segment: segment.base_offset)
        return max(0, found - 1)


def discover(
    directories: Sequence[DataDir], *, is_running: bool = False
) -> dict[Key, list[ReplicaLog]]:
    """Every replica of each partition in a region's data directories, in the order of the directories.

    Nodes of a region that runs use every index that they have. Raises OSError, and ValueError when two directories of
    one node hold the same partition.
    """
    found: dict[Key, list[ReplicaLog]] = defaultdict(list)
    for directory in directories:
        points = None if is_running or not directory.is_crashed else _recovery_points(directory)
        of_this = []
        for key, folder in _partition_folders(directory.path):
            if any(directory.node_id == one.node_id >= 0 for one in found[key]):
                raise ValueError(
                    f"{found[key][-1].folder} and {folder} are replicas of one partition on {directory.node}"
                )
            log = _open(key, folder, directory)
            if points is not None:
                log = _after_crash(log, points.get(key, 0))
            of_this.append((key, log))
        # After the files: what they lack is written before they lack it.
        compactions = Compactions(directory.path)
        for key, log in of_this:
            found[key].append(log._replace(compaction=compactions.of(key)))
    return dict(found)


def _after_crash(log: ReplicaLog, recovery_point: int) -> ReplicaLog:
    """No name above the recovery point was synced, and of the last segment only the index may have kept its own.

    A node removes that when it opens the log. What must be there the high watermark says.
    """
    lost = tuple(one for one in log.lost if one[0] < recovery_point or one[1] < OFFSET_MAX)
    return log._replace(recovery_point=recovery_point, lost=lost)


def _recovery_points(directory: DataDir) -> dict[Key, int]:
    """None that could be read: everything is recovered."""
    try:
        return checkpoints.read(directory.path, checkpoints.RECOVERY_POINTS)
    except ValueError:
        return {}


def _partition_folders(data_dir: str) -> Iterator[tuple[Key, str]]:
    for entry in sorted(os.scandir(data_dir), key=lambda entry: entry.name):
        folder = PARTITION_FOLDER.fullmatch(entry.name)
        if folder is not None and entry.is_dir():
            yield (folder["topic"], int(folder["partition"])), entry.path


def _open(key: Key, folder: str, directory: DataDir) -> ReplicaLog:
    listed = os.listdir(folder)
    names = sorted(name for name in listed if SEGMENT_FILE.fullmatch(name))
    segments = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            segments.append(SegmentFile(int(name[:20]), path, os.stat(path).st_size))
        except FileNotFoundError:  # retention took it between the listing and now
            continue
    end = _end(segments)
    lost = tuple(_lost(listed))
    return ReplicaLog(*key, folder, tuple(segments), *end, directory.node, directory.node_id, lost)


def _lost(listed: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Offsets of segments that have an index and no log file; the last one's end is not known.

    Retention takes the files of the first segments one by one: what lies before the first log is no loss.
    """
    logs = {int(name[:20]) for name in listed if SEGMENT_FILE.fullmatch(name)}
    indexes = {int(name[:20]) for name in listed if INDEX_FILE.fullmatch(name)}
    bases = sorted(logs | indexes)
    for base, following in pairwise([*bases, OFFSET_MAX]):
        if base not in logs and logs and base > min(logs):
            yield base, following


def _end(segments: Sequence[SegmentFile]) -> tuple[int, int]:
    """End offset and newest timestamp: the last few batches walked; a torn last batch does not count."""
    if not segments:
        return 0, -1
    last = segments[-1]
    start, end = hint(last, OFFSET_MAX - 1)
    tail_starts = deque([(start, end)], maxlen=TAIL_BATCHES)
    for base_offset, _, size in hop(last, start):
        tail_starts.append((start, base_offset))
        start += size
    start, end = tail_starts[0]
    part = Part(last.path, start, last.size, end, OFFSET_MAX)
    # The longest rising run leaves out a batch whose base offset was damaged, which may claim any end.
    tail = longest_run([found for found in walk(part) if isinstance(found, Batch)])
    newest_ms = max((batch.max_timestamp for batch in tail), default=-1)
    return _end_of(tail[-1]) if tail else end, newest_ms


def _end_of(last: Batch) -> int:
    """Behind a damaged last batch stands nothing that could say where it ends; its header has two numbers for it.

    A number that is larger than its bytes could hold records is not believed.
    """
    if last.sound:
        return last.next_offset
    said = last.next_offset - last.base_offset, last.records
    most = (last.size - HEADER_BYTES) // RECORD_BYTES_MIN
    if last.attributes & CODEC:
        most *= COMPRESSION_MAX
    return last.base_offset + max((one for one in said if 0 < one <= most), default=1)
