"""One digest per side of a unit: the fast path on which almost every byte of an audit is read.

Two sides of a unit hold the same thing when their bytes have the same length and the same xxh3-128. The source is
also walked batch by batch, so that equal bytes are known to be sound bytes: checksums hold, offsets rise, and every
file of either side ends where a batch ends. The slow path classifies everything else.
xxh3-128 is right against faults, not against an adversary who can choose the bytes of a batch.
"""

import struct
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from crc32c import crc32c
from xxhash import xxh3_128

from federation.audit.segments.batches import Part
from federation.audit.segments.headers import CHECKED_FROM, HEADER_BYTES, LENGTH_BYTES, MAGIC
from federation.audit.segments.indexes import Mark
from federation.audit.segments.records import is_plausible, lie

CHUNK_BYTES = 256 << 10
"""What is read at a time stays in a core's second-level cache: hash and checksum do not read memory again."""
FIELDS = struct.Struct(">qi4xbIhi30xiI")
"""Base offset, length, magic, checksum, attributes, last offset delta and record count of a batch header, and the first
four bytes of its records."""
MAX_TIMESTAMP = struct.Struct(">35xq")
NEVER = 1 << 63
LENGTH_MIN = HEADER_BYTES - LENGTH_BYTES


class Digest(NamedTuple):
    """What one copy of a unit came to; all but the first two only where it was walked.

    `marks` are the batches at the places asked for, `reached` is the offset after the last one.
    """

    bytes_read: int
    digest: str
    batches: int = 0
    records: int = 0
    offsets: int = 0
    sound: bool = False
    marks: tuple[Mark, ...] = ()
    reached: int = 0


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


def digest_and_walk(
    parts: Sequence[Part], others: Iterable[Sequence[Part]], places: Sequence[int] = ()
) -> Digest:
    """The same, and whether the bytes are sound batches with a batch ending wherever a part of `others` does.

    The batches at `places` (ascending, counted from the first part's first byte) are noted as marks.
    """
    ends = {end for each in others for end in accumulate(part.stop - part.start for part in each)}
    walk = _Walk(sorted(ends), places)
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
    counts = walk.batches, walk.records, walk.offsets
    return Digest(total, hasher.hexdigest(), *counts, sound, tuple(walk.marks), walk.reached)


class _Walk:
    """Hops from header to header, keeping count and an eye on what must hold."""

    def __init__(self, ends: Iterable[int], places: Sequence[int]) -> None:
        self.ends = deque(ends)
        self.sound = True
        self.batches = self.records = self.offsets = 0
        self.marks: list[Mark] = []
        self.reached = self._position = self._ceiling = 0
        self._places = iter(places)
        self._place = next(self._places, NEVER)

    def expect(self, floor: int, ceiling: int) -> None:
        self.reached, self._ceiling = max(self.reached, floor), ceiling

    def batches_in(self, view: memoryview, available: int) -> int:
        """Bytes of the whole batches at the start of `view`; `available` is what the part still has.

        Written out flat: this loop runs once per batch of the audit.
        """
        filled, start, expected = len(view), 0, self.reached
        batches = records = offsets = 0
        end = self.ends[0] - self._position if self.ends else -1
        checksum, unpack, sound = crc32c, FIELDS.unpack_from, self.sound
        position = self._position
        place = self._place - position
        while sound and start + FIELDS.size <= filled:
            base, length, magic, crc, attributes, delta, count, head = unpack(view, start)
            stop = start + LENGTH_BYTES + length
            if stop > filled and length >= LENGTH_MIN and stop <= available:
                break
            sound = (
                length >= LENGTH_MIN
                and stop <= filled
                and base >= expected
                and delta >= 0
                and magic == MAGIC
                and checksum(view[start + CHECKED_FROM : stop]) == crc
            )
            if attributes & 7:
                odd = not is_plausible(attributes & 7, view, start)
            else:  # a length of one, two or more bytes, then attributes, which are 0
                odd = (
                    head & 0x80FF0000
                    and head & 0x8080FF00 != 0x80000000
                    and head & 0x80800000 != 0x80800000
                )
            if (odd or count != delta + 1) and sound:
                sound = not lie(bytes(view[start:stop]))
            expected = base + delta + 1
            if start >= place:
                (newest,) = MAX_TIMESTAMP.unpack_from(view, start)
                self.marks.append((position + start, base, expected, newest))
                while place <= start:
                    place = next(self._places, NEVER) - position
            batches += 1
            records += count
            offsets += delta + 1
            start = stop
            if start == end:
                self.ends.popleft()
                end = self.ends[0] - self._position if self.ends else -1
        self.sound = sound and expected <= self._ceiling
        self.batches += batches
        self.records += records
        self.offsets += offsets
        self._place = place + position
        self._position += start
        self.reached = expected
        return start if self.sound else filled
