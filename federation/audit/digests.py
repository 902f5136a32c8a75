"""One digest per side of a unit: the fast path on which almost every byte of an audit is read.

Two sides of a unit hold the same thing when their bytes have the same length and the same xxh3-128. The source is
also walked batch by batch, so that equal bytes are known to be sound bytes: checksums hold, offsets rise, and every
file of either side ends where a batch ends. Whatever is not so is left to the slow path, which says what it is.
xxh3-128 is right against faults, not against an adversary who can choose the bytes of a batch.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from crc32c import crc32c
from xxhash import xxh3_128

from federation.audit.read import (
    CHECKED_FROM,
    HEADER,
    HEADER_BYTES,
    LENGTH_BYTES,
    MAGIC,
    Part,
)

CHUNK_BYTES = 1 << 20
"""Two of these stay in a core's second-level cache, so that hash and checksum read no memory twice."""


class Digest(NamedTuple):
    """What one side of a unit came to; `batches`, `records`, `offsets` and `sound` only where it was walked."""

    bytes_read: int
    digest: str
    batches: int = 0
    records: int = 0
    offsets: int = 0
    sound: bool = False


def size(parts: Sequence[Part]) -> int:
    return sum(part.stop - part.start for part in parts)


def digest(parts: Sequence[Part]) -> Digest:
    """Length and xxh3-128 of the parts' bytes, one after the other; raises OSError."""
    hasher, total = xxh3_128(), 0
    buffer = bytearray(CHUNK_BYTES)
    for part in parts:
        for chunk in _chunks(part, buffer):
            hasher.update(chunk)
            total += len(chunk)
    return Digest(total, hasher.hexdigest())


def _chunks(part: Part, buffer: bytearray) -> Iterator[memoryview]:
    view = memoryview(buffer)
    left = part.stop - part.start
    with open(part.path, "rb", buffering=0) as file:
        file.seek(part.start)
        while left > 0 and (got := file.readinto(view[:left])):
            yield view[:got]
            left -= got


def digest_and_walk(parts: Sequence[Part], ends: Sequence[Part]) -> Digest:
    """The same, and whether the bytes are sound batches with a batch ending wherever a part of `ends` does."""
    walk = _Walk(set(accumulate(part.stop - part.start for part in ends)))
    hasher, total = xxh3_128(), 0
    buffer = bytearray(2 * CHUNK_BYTES)
    for part in parts:
        held, left = 0, part.stop - part.start
        walk.expect(part.floor, part.ceiling)
        with open(part.path, "rb", buffering=0) as file:
            file.seek(part.start)
            while left > 0:
                if len(buffer) - held < min(left, CHUNK_BYTES):
                    buffer.extend(bytes(len(buffer)))  # a batch longer than the buffer
                view = memoryview(buffer)
                got = file.readinto(view[held : held + min(left, len(buffer) - held)])
                if not got:
                    break
                hasher.update(view[held : held + got])
                total, left, filled = total + got, left - got, held + got
                used = walk.batches_in(view[:filled], held + got + left)
                held = filled - used
                view[:held] = bytes(view[used:filled])
                view.release()
        walk.sound &= held == 0 and left == 0
    sound = walk.sound and not walk.ends
    return Digest(total, hasher.hexdigest(), walk.batches, walk.records, walk.offsets, sound)


class _Walk:
    """Hops from header to header, keeping count and an eye on what must hold."""

    def __init__(self, ends: set[int]) -> None:
        self.ends = ends
        self.sound = True
        self.batches = 0
        self.records = 0
        self.offsets = 0
        self._position = 0
        self._expected = self._ceiling = 0

    def expect(self, floor: int, ceiling: int) -> None:
        self._expected, self._ceiling = max(self._expected, floor), ceiling

    def batches_in(self, view: memoryview, available: int) -> int:
        """Bytes of the whole batches at the start of `view`; `available` is what the part still has.

        Written out flat: this loop runs once per batch of the audit.
        """
        unpack, start, length_all = HEADER.unpack_from, 0, len(view)
        expected, records, offsets = self._expected, 0, 0
        if not self.sound:
            return length_all
        while start + HEADER_BYTES <= length_all:
            base, length, _, magic, crc, _, delta, _, _, _, _, _, count = unpack(view, start)
            stop = start + LENGTH_BYTES + length
            if length < HEADER_BYTES - LENGTH_BYTES or stop > available or magic != MAGIC:
                self.sound = False
                return length_all
            if stop > length_all:
                break
            if base < expected or delta < 0 or crc32c(view[start + CHECKED_FROM : stop]) != crc:
                self.sound = False
                return length_all
            expected = base + delta + 1
            records += count
            offsets += delta + 1
            self.batches += 1
            start = stop
            if self._position + start in self.ends:
                self.ends.discard(self._position + start)
        self._position += start
        self.sound = expected <= self._ceiling
        self.offsets += offsets
        self._expected, self.records = expected, self.records + records
        return start
