"""A replica's log as files: which segments there are, where its offsets stand in them, where it ends.

Sizes are taken once, when the log is discovered: a live region goes on appending behind them, and the audit speaks
only for what it saw. Kafka's sparse offset index (entries of relative offset and position) is used as a hint for
where to start hopping, checked against the batch that stands there, and never believed.
"""

import os
import re
import struct
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from federation.audit.segments.batches import Batch, Part, walk
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES, MAGIC, OFFSET_MAX
from federation.audit.segments.rising_run import longest_run

PARTITION_FOLDER = re.compile(r"(?P<topic>[a-zA-Z0-9._-]+)-(?P<partition>\d+)")
INDEX_FILE = re.compile(r"\d{20}\.(?:time)?index")
SEGMENT_FILE = re.compile(r"(\d{20})\.log")
INDEX_ENTRY = struct.Struct(">ii")
ENTRIES_EARLY = 4
TAIL_BATCHES = 16


class SegmentFile(NamedTuple):
    base_offset: int
    path: str
    size: int


class Position(NamedTuple):
    """A place between two batches: segment number, byte in it, offset that the next batch may start at."""

    segment: int
    byte: int
    offset: int


class ReplicaLog(NamedTuple):
    """One replica of a partition; `end_offset` is the next offset after its last whole batch,
    `newest_ms` that batch's largest timestamp. `node_id` is -1 where the directory does not say it.
    `lost` are the offsets of segments whose indexes are there and whose log file is not."""

    topic: str
    partition: int
    folder: str
    segments: tuple[SegmentFile, ...]
    end_offset: int
    newest_ms: int
    node: str = ""
    node_id: int = -1
    lost: tuple[tuple[int, int], ...] = ()

    @property
    def first_offset(self) -> int:
        return self.segments[0].base_offset if self.segments else 0

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    def next_base(self, number: int) -> int:
        """The base offset of the segment after this one: what no offset in this one may reach."""
        if number + 1 < len(self.segments):
            return self.segments[number + 1].base_offset
        return OFFSET_MAX

    def parts(self, start: Position, stop: Position) -> tuple[Part, ...]:
        """The bytes from one place to another, file by file; empty files are left out."""
        found = []
        for number in range(start.segment, min(stop.segment + 1, len(self.segments))):
            segment = self.segments[number]
            begin = start.byte if number == start.segment else 0
            until = stop.byte if number == stop.segment else segment.size
            floor = start.offset if number == start.segment else segment.base_offset
            ceiling = bound = self.next_base(number)
            if number == stop.segment:
                ceiling = min(ceiling, stop.offset)
            if begin < until:
                found.append(Part(segment.path, begin, until, floor, ceiling, bound))
        return tuple(found)


def discover(directories: Sequence[DataDir]) -> dict[Key, list[ReplicaLog]]:
    """Every replica of each partition in a region's data directories, in the order of the directories.

    Raises OSError, and ValueError when two directories of one node hold the same partition.
    """
    found: dict[Key, list[ReplicaLog]] = defaultdict(list)
    for directory in directories:
        for key, folder in _partition_folders(directory.path):
            if any(directory.node_id == one.node_id >= 0 for one in found[key]):
                raise ValueError(
                    f"{found[key][-1].folder} and {folder} are replicas of one partition on {directory.node}"
                )
            found[key].append(_open(key, folder, directory))
    return dict(found)


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


def end_now(log: ReplicaLog) -> int:
    """Where the log ends by now; raises OSError when its folder is gone."""
    return _open((log.topic, log.partition), log.folder, DataDir("")).end_offset


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
    start, end = _hint(last, OFFSET_MAX - 1)
    tail_starts = deque([(start, end)], maxlen=TAIL_BATCHES)
    for base_offset, _, size in _hop(last, start):
        tail_starts.append((start, base_offset))
        start += size
    start, end = tail_starts[0]
    part = Part(last.path, start, last.size, end, OFFSET_MAX)
    # The longest rising run leaves out a batch whose base offset was damaged, which may claim any end.
    tail = longest_run([found for found in walk(part) if isinstance(found, Batch)])
    newest_ms = max((batch.max_timestamp for batch in tail), default=-1)
    return tail[-1].next_offset if tail else end, newest_ms


def first_at(log: ReplicaLog, offset: int) -> Position | None:
    """The place before the first batch at or above `offset`; None where no batch ends cleanly there."""
    number = _segment_of(log, offset)
    segment = log.segments[number]
    if segment.base_offset >= offset:
        return Position(number, 0, segment.base_offset)
    byte, reached = _hint(segment, offset)
    hops = _hop(segment, byte)
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
    return Position(number, byte, offset) if byte == segment.size and reached <= offset else None


def first_covering(log: ReplicaLog, offset: int) -> Position:
    """The place before the batch that holds `offset`, or the first above it; a file's start when in doubt."""
    number = _segment_of(log, offset)
    segment = log.segments[number]
    byte, reached = _hint(segment, offset)
    for base_offset, next_offset, size in _hop(segment, byte):
        if next_offset > offset:
            return Position(number, byte, max(reached, base_offset))
        byte, reached = byte + size, next_offset
    if byte == segment.size:
        return Position(number, byte, reached)
    return Position(number, 0, segment.base_offset)


def end_of(log: ReplicaLog) -> Position:
    """The last byte of the last file, whatever offsets are found before it."""
    return Position(len(log.segments) - 1, log.segments[-1].size, OFFSET_MAX)


def timestamp_at(log: ReplicaLog, position: Position) -> int:
    """The first timestamp of the batch that stands there, -1 where none does (ms since the Unix epoch)."""
    segment = log.segments[position.segment]
    with open(segment.path, "rb", buffering=0) as file:
        file.seek(position.byte)
        data = file.read(HEADER_BYTES)
    return int(HEADER.unpack(data)[7]) if len(data) == HEADER_BYTES else -1


def newest_below(log: ReplicaLog, start: int, stop: int, before_ms: int) -> int:
    """The first offset in [start, stop) whose batch has a timestamp at or after `before_ms`; `stop` if none has.

    Only headers are read. What the log does not hold there counts as old.
    """
    number = _segment_of(log, start)
    for segment in log.segments[number:]:
        if segment.base_offset >= stop:
            break
        for base_offset, next_offset, max_timestamp in _timestamps(segment):
            if next_offset > start and base_offset < stop and max_timestamp >= before_ms:
                return max(start, base_offset)
    return stop


def _timestamps(segment: SegmentFile) -> Iterator[tuple[int, int, int]]:
    byte = 0
    with open(segment.path, "rb", buffering=0) as file:
        for base_offset, next_offset, size in _hop(segment, 0):
            header = os.pread(file.fileno(), HEADER_BYTES, byte)
            if len(header) < HEADER_BYTES:
                return
            yield base_offset, next_offset, int(HEADER.unpack(header)[8])
            byte += size


def _segment_of(log: ReplicaLog, offset: int) -> int:
    return max(0, bisect_right(log.segments, offset, key=lambda segment: segment.base_offset) - 1)


def _hop(segment: SegmentFile, byte: int) -> Iterator[tuple[int, int, int]]:
    """Base offset, next offset and size of batch after batch, as their headers say, while headers make sense."""
    with open(segment.path, "rb", buffering=0) as file:
        while 0 <= byte <= segment.size - HEADER_BYTES:
            data = os.pread(file.fileno(), HEADER_BYTES, byte)
            if len(data) < HEADER_BYTES:
                return
            header = HEADER.unpack(data)
            base_offset, size, magic, delta = (
                header[0],
                LENGTH_BYTES + header[1],
                header[3],
                header[6],
            )
            if magic != MAGIC or size < HEADER_BYTES or delta < 0 or byte + size > segment.size:
                return
            yield base_offset, base_offset + delta + 1, size
            byte += size


def _hint(segment: SegmentFile, offset: int) -> tuple[int, int]:
    """A byte at which a batch at or below `offset` starts, and its base offset, by the index if that holds true."""
    start = 0, segment.base_offset
    try:
        with open(segment.path[: -len(".log")] + ".index", "rb") as file:
            index = file.read()
    except FileNotFoundError:
        return start
    byte = _indexed(index, offset - segment.base_offset)
    for base_offset, _, _ in _hop(segment, byte):
        if segment.base_offset <= base_offset <= offset:
            return byte, base_offset
        break
    return start


def _indexed(index: bytes, relative: int) -> int:
    """Position of an entry shortly before `relative`; a live index ends in zeros that are no entries.

    A few entries early, so that hopping on from there meets batches that are out of place around the offset.
    """

    def key(number: int) -> int:
        entry, position = INDEX_ENTRY.unpack_from(index, number * INDEX_ENTRY.size)
        return entry if position > 0 or number == 0 else OFFSET_MAX

    found = bisect_right(range(len(index) // INDEX_ENTRY.size), relative, key=key)
    early = found - ENTRIES_EARLY
    return int(INDEX_ENTRY.unpack_from(index, early * INDEX_ENTRY.size)[1]) if early >= 0 else 0
