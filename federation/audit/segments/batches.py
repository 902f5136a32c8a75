"""Walk Kafka segment files: bytes in, batches and unreadable stretches out.

The audit's own reader, written from the format alone (RecordBatch v2, KIP-98): an auditor that shared the broker's
parser would share its bugs. It believes no header. A batch is a batch when its checksum holds, or when its neighbour
stands exactly where its length says; everything else is a `Break`, and the walk goes on at the next batch whose
checksum holds. So every byte of a part is accounted for: in a batch or in a break.
"""

from collections.abc import Iterator
from typing import IO, NamedTuple

from crc32c import crc32c
from xxhash import xxh3_128_intdigest

from federation.audit.segments.headers import (
    CHECKED_FROM,
    EPOCH_STOP,
    HEADER,
    HEADER_BYTES,
    LENGTH_BYTES,
    MAGIC,
    OFFSET_MAX,
)
from federation.audit.segments.records import is_plausible, lie

WINDOW_BYTES = 1 << 20


class Part(NamedTuple):
    """A stretch of one segment file, in bytes. Its offsets lie in [floor, ceiling), those of the file below `bound`.

    `is_indexed`: the indexes beside the file are in use, not to be built anew when the node starts.
    """

    path: str
    start: int
    stop: int
    floor: int
    ceiling: int
    bound: int = OFFSET_MAX
    is_indexed: bool = True


class Batch(NamedTuple):
    """One batch as found on disk; `body` is the xxh3-128 of all its bytes after the leader epoch.

    `sound`: its checksum holds; `lie`: why its records are not what its header says all the same, or empty.
    """

    base_offset: int
    next_offset: int
    leader_epoch: int
    magic: int
    attributes: int
    max_timestamp: int
    records: int
    sound: bool
    body: int
    path: str
    position: int
    size: int
    lie: str = ""


class Break(NamedTuple):
    """Bytes that are no batch, and the offsets that may have been in them (up to the part's ceiling at its end)."""

    base_offset: int
    next_offset: int
    path: str
    position: int
    size: int


class Window:
    """A sliding view of one file: `at` gives any stretch of it, reading on as the walk moves forward."""

    def __init__(self, file: IO[bytes], stop: int) -> None:
        self._file = file
        self._from = 0
        self._bytes = memoryview(b"")
        self.stop = stop

    def at(self, position: int, size: int) -> memoryview:
        """Up to `size` bytes from `position` on: fewer at the end of the part or of a file that shrank."""
        size = max(0, min(size, self.stop - position))
        begin = position - self._from
        if begin < 0 or begin + size > len(self._bytes):
            self._file.seek(position)
            self._from = position
            wanted = min(max(size, WINDOW_BYTES), self.stop - position)
            self._bytes = memoryview(self._file.read(wanted))
            begin = 0
        return self._bytes[begin : begin + size]


def walk(part: Part) -> Iterator[Batch | Break]:
    """Every byte of the part in file order; raises OSError when the file cannot be opened or read."""
    with open(part.path, "rb", buffering=0) as file:
        window = Window(file, part.stop)
        position, expected = part.start, part.floor
        while position < part.stop:
            batch = _batch(window, part, position)
            if batch is None:
                follower = _next_sound(window, part, position + 1, expected)
                stop = follower[0] if follower else part.stop
                next_offset = follower[1] if follower else part.ceiling
                yield Break(expected, next_offset, part.path, position, stop - position)
                position = stop
                continue
            yield batch
            position += batch.size
            if expected <= batch.base_offset and batch.next_offset <= part.ceiling:
                expected = batch.next_offset


def _batch(window: Window, part: Part, position: int) -> Batch | None:
    header = _header(window, position)
    if header is None:
        return None
    base_offset, length, leader_epoch, magic, crc, attributes, delta, _, max_timestamp = header[:9]
    size = LENGTH_BYTES + length
    data = window.at(position, size)
    if len(data) < size:
        return None
    checked = _checks(data, crc)
    next_offset = base_offset + max(0, delta) + 1
    if not checked:
        follower = _follower(window, part, position + size, base_offset)
        if magic != MAGIC or follower is None or _swallows(data, base_offset, part.ceiling):
            return None
        # A damaged header cannot say which offset comes next; its neighbour can, or where the part ends.
        if follower >= 0:
            next_offset = follower
        elif part.ceiling < OFFSET_MAX:
            next_offset = part.ceiling
    sound = checked and magic == MAGIC
    body = xxh3_128_intdigest(data[EPOCH_STOP:])
    is_usual = header[12] == delta + 1 and is_plausible(attributes & 7, data, 0)
    return Batch(base_offset, next_offset, leader_epoch, magic, attributes, max_timestamp,
                 header[12], sound, body, part.path, position, size,
                 "" if is_usual or not sound else lie(bytes(data)))  # fmt: skip


def _header(window: Window, position: int) -> tuple[int, ...] | None:
    data = window.at(position, HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        return None
    header = HEADER.unpack(data)
    if header[1] < HEADER_BYTES - LENGTH_BYTES:
        return None
    return header


def _follower(window: Window, part: Part, position: int, after: int) -> int | None:
    """Base offset of a believable header at `position`; -1 at the end of the part; None when there is none."""
    if position == part.stop:
        return -1
    header = _header(window, position)
    if header is None or header[3] != MAGIC or not after < header[0] < part.ceiling:
        return None
    return header[0] if position + LENGTH_BYTES + header[1] <= part.stop else None


def _next_sound(window: Window, part: Part, start: int, expected: int) -> tuple[int, int] | None:
    """Position and base offset of the first batch from `start` on that fits here and whose checksum holds.

    Requiring an offset that is possible here excludes batches that are stored inside of record values.
    """
    while start + HEADER_BYTES <= part.stop:
        data = window.at(start, WINDOW_BYTES)
        if len(data) < HEADER_BYTES:
            return None
        for begin, base_offset in _candidates(data, expected, part.ceiling):
            header = _header(window, start + begin)
            size = LENGTH_BYTES + header[1] if header is not None else 0
            found = window.at(start + begin, size)
            if header is not None and len(found) == size and _checks(found, header[4]):
                return start + begin, base_offset
        start += len(data) - HEADER_BYTES + 1
    return None


def _checks(batch: memoryview, crc: int) -> bool:
    return crc32c(batch[CHECKED_FROM:]) == crc


def _swallows(data: memoryview, base_offset: int, ceiling: int) -> bool:
    """A damaged batch ends where a sound one ends that begins inside of it: it was cut short."""
    for begin, _ in _candidates(data, base_offset + 1, ceiling):
        header = HEADER.unpack_from(data, begin)
        if LENGTH_BYTES + header[1] == len(data) - begin and _checks(data[begin:], header[4]):
            return True
    return False


def _candidates(data: memoryview, lowest: int, ceiling: int) -> Iterator[tuple[int, int]]:
    import numpy

    octets = numpy.frombuffer(data, numpy.uint8)
    at = numpy.flatnonzero(
        octets[EPOCH_STOP : len(octets) - HEADER_BYTES + EPOCH_STOP + 1] == MAGIC
    )
    bases = octets[at[:, None] + numpy.arange(8)].copy().view(">i8").ravel()
    fits = (bases >= lowest) & (bases < ceiling)
    yield from zip(at[fits].tolist(), bases[fits].tolist(), strict=True)
