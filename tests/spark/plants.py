"""Faults planted on purpose, each with the finding that it must lead to, and no other.

A plant takes both sides as lists of (batch, bytes), chooses its place from a seed and changes one side. It keeps away
from the first and last batches and from other plants' places, so that what is expected stays plain.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.spark import generate
from tests.spark.generate import Made

Expected = tuple[str, str, int, int]
"""Class, side, from offset, to offset."""
Stored = tuple[Made, bytes]


@dataclass
class Pair:
    """Both sides of a partition, what was planted, and where nothing more may be planted."""

    source: list[Stored]
    mirror: list[Stored]
    expected: list[Expected] = field(default_factory=list)
    original: list[Made] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    no_segment_at: set[int] = field(default_factory=set)

    def place(self, seed: random.Random, width: int = 1, *, is_marker: bool = False) -> Made:
        """A batch with room around it that no plant has touched: a marker, or `width` batches of data."""
        while True:
            number = seed.randrange(2, len(self.original) - 3 - width)
            around = set(range(number - 2, number + width + 2))
            chosen = self.original[number : number + width]
            fits = all(bool(one.flags & generate.CONTROL) is is_marker for one in chosen)
            if fits and not around & self.taken:
                self.taken |= around
                return self.original[number]

    def takes_end(self, number: int) -> bool:
        """Whether the first batch (0) or the last one (-1) is still as it was; from now on it is taken."""
        is_free = number not in self.taken
        self.taken.add(number)
        return is_free


def at(side: list[Stored], batch: Made) -> int:
    return next(n for n, (made, _) in enumerate(side) if made.base_offset == batch.base_offset)


Plant = Callable[[Pair, random.Random], None]


def missing(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    del pair.mirror[at(pair.mirror, batch)]
    pair.expected.append(("missing_on_mirror", "", batch.base_offset, batch.next_offset))


def missing_run(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed, 3)
    number = at(pair.mirror, batch)
    last = pair.mirror[number + 2][0]
    del pair.mirror[number : number + 3]
    pair.expected.append(("missing_on_mirror", "", batch.base_offset, last.next_offset))


def extra(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    del pair.source[at(pair.source, batch)]
    pair.expected.append(("extra_on_mirror", "", batch.base_offset, batch.next_offset))


def _flip(side_name: str, kind: str, mend: bool) -> Plant:
    def plant(pair: Pair, seed: random.Random) -> None:
        batch = pair.place(seed)
        side = getattr(pair, side_name)
        number = at(side, batch)
        data = side[number][1]
        # From the checksum's own first byte on; not the codec bits when mended, which would be another fault.
        byte = seed.randrange(61, len(data)) if mend else seed.randrange(17, len(data))
        data = generate.flipped(data, byte, seed.randrange(8))
        side[number] = batch, generate.recomputed(data) if mend else data
        damaged = side_name if not mend else ""
        pair.expected.append((kind, damaged, batch.base_offset, batch.next_offset))

    return plant


damaged_mirror = _flip("mirror", "damaged", mend=False)
damaged_source = _flip("source", "damaged", mend=False)
flipped_and_mended = _flip("mirror", "divergent", mend=True)


def damaged_on_both(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    data = batch.encoded()
    data = generate.flipped(data, seed.randrange(21, len(data)))
    for side in (pair.source, pair.mirror):
        side[at(side, batch)] = batch, data
    pair.expected.append(("damaged", "both", batch.base_offset, batch.next_offset))


def other_value(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    rows = list(batch.rows)
    rows[-1] = replace(rows[-1], value=b"somebody else's")
    other = replace(batch, rows=tuple(rows))
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("divergent", "", batch.base_offset, batch.next_offset))


def other_producer(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    other = replace(batch, producer_id=batch.producer_id + 1)
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("divergent", "", batch.base_offset, batch.next_offset))


def other_leader_epoch(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    other = replace(batch, leader_epoch=batch.leader_epoch + 1)
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("epoch_mismatch", "", batch.base_offset, batch.next_offset))


def other_magic(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    number = at(pair.mirror, batch)
    pair.mirror[number] = batch, generate.flipped(batch.encoded(), 16, seed.randrange(8))
    pair.expected.append(("damaged", "mirror", batch.base_offset, batch.next_offset))


def other_base_offset(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    number = at(pair.mirror, batch)
    data = generate.flipped(batch.encoded(), seed.randrange(8), seed.randrange(8))
    pair.mirror[number] = batch, data
    pair.expected.append(("divergent", "", batch.base_offset, batch.next_offset))


def duplicate(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    number = at(pair.mirror, batch)
    pair.mirror.insert(number + seed.randrange(1, 3), (batch, batch.encoded()))
    pair.expected.append(("duplicate", "mirror", batch.base_offset, batch.next_offset))


def duplicate_on_source(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    pair.source.insert(at(pair.source, batch) + 1, (batch, batch.encoded()))
    pair.expected.append(("duplicate", "source", batch.base_offset, batch.next_offset))


def duplicate_on_both(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    for side in (pair.source, pair.mirror):
        side.insert(at(side, batch) + 1, (batch, batch.encoded()))
    pair.expected.append(("duplicate", "both", batch.base_offset, batch.next_offset))


def resplit(pair: Pair, seed: random.Random) -> None:
    """The same records in two batches instead of one."""
    batch = pair.place(seed)
    if len(batch.rows) == 1:
        rows = (*batch.rows, replace(batch.rows[0], delta=1))
        whole = replace(batch, rows=rows)
        _shift(pair, batch, whole)
        batch = whole
    half = seed.randrange(1, len(batch.rows))
    first = replace(batch, rows=batch.rows[:half])
    rest = tuple(replace(row, delta=row.delta - half) for row in batch.rows[half:])
    second = replace(batch, base_offset=batch.base_offset + half, rows=rest)
    number = at(pair.mirror, batch)
    pair.mirror[number : number + 1] = [(first, first.encoded()), (second, second.encoded())]
    pair.expected.append(("rebatched", "", batch.base_offset, batch.next_offset))


def _shift(pair: Pair, batch: Made, longer: Made) -> None:
    """Replace a batch by one a record longer, everything behind it one offset later, on both sides."""
    assert not pair.expected, "shifts offsets: plant it first"
    for side in (pair.source, pair.mirror):
        number = at(side, batch)
        side[number] = longer, longer.encoded()
        for later in range(number + 1, len(side)):
            moved = replace(side[later][0], base_offset=side[later][0].base_offset + 1)
            side[later] = moved, moved.encoded()
    pair.original[:] = [made for made, _ in pair.source]


def recompressed(pair: Pair, seed: random.Random) -> None:
    batch = pair.place(seed)
    other = replace(batch, codec="zstd" if batch.codec != "zstd" else "lz4")
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("rebatched", "", batch.base_offset, batch.next_offset))


def lost_record(pair: Pair, seed: random.Random) -> None:
    """The batch lost its last record and says so with a valid checksum."""
    batch = pair.place(seed)
    if len(batch.rows) == 1:
        return missing_at(pair, batch)
    other = replace(batch, rows=batch.rows[:-1])
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("missing_on_mirror", "", batch.base_offset, batch.next_offset))
    return None


def missing_at(pair: Pair, batch: Made) -> None:
    del pair.mirror[at(pair.mirror, batch)]
    pair.expected.append(("missing_on_mirror", "", batch.base_offset, batch.next_offset))


def other_length(pair: Pair, seed: random.Random) -> None:
    """A damaged length: nothing says where the batch ends, so what it holds is unknown."""
    batch = pair.place(seed)
    number = at(pair.mirror, batch)
    data = batch.encoded()
    pair.mirror[number] = batch, generate.flipped(data, seed.randrange(8, 12), seed.randrange(8))
    pair.expected.append(("unreadable", "mirror", batch.base_offset, batch.next_offset))


def half_a_batch(pair: Pair, seed: random.Random) -> None:
    """A batch cut short in the middle of a file, the next one right behind what is left of it.

    More than zeros is cut off: the next one begins with zeros, which would make the batch whole again.
    """
    batch = pair.place(seed)
    number = at(pair.mirror, batch)
    data = batch.encoded()
    most = len(data.rstrip(b"\0")) - 1
    pair.mirror[number] = batch, data[: min(most, seed.randrange(1, len(data)))]
    pair.expected.append(("unreadable", "mirror", batch.base_offset, batch.next_offset))


def zeros(pair: Pair, seed: random.Random) -> None:
    """A block that was never written out."""
    batch = pair.place(seed)
    number = at(pair.source, batch)
    pair.source[number] = batch, bytes(len(batch.encoded()))
    pair.expected.append(("unreadable", "source", batch.base_offset, batch.next_offset))


def junk(pair: Pair, seed: random.Random) -> None:
    """Bytes that are no batch between two that miss no offset."""
    batch = pair.place(seed)
    pair.mirror.insert(at(pair.mirror, batch), (batch, seed.randbytes(seed.randrange(1, 200))))
    pair.expected.append(("damaged", "mirror", batch.base_offset, batch.base_offset))


def swapped(pair: Pair, seed: random.Random) -> None:
    """Two neighbours in each other's place: one of them, the same one every time, is out of order."""
    batch = pair.place(seed, 2)
    number = at(pair.mirror, batch)
    one, two = pair.mirror[number : number + 2]
    pair.mirror[number : number + 2] = [two, one]
    pair.no_segment_at |= {one[0].base_offset, two[0].base_offset}
    pair.expected.append(("out_of_order", "mirror", one[0].base_offset, two[0].next_offset))


def swapped_on_both(pair: Pair, seed: random.Random) -> None:
    """A faithful copy of a log that is itself out of order (within a file: a file says where it starts)."""
    batch = pair.place(seed, 2)
    following = pair.original[pair.original.index(batch) + 1]
    pair.no_segment_at |= {batch.base_offset, following.base_offset}
    for side in (pair.source, pair.mirror):
        number = at(side, batch)
        one, two = side[number : number + 2]
        side[number : number + 2] = [two, one]
    pair.expected.append(("out_of_order", "both", one[0].base_offset, two[0].next_offset))


def gap_on_both(pair: Pair, seed: random.Random) -> None:
    """Offsets that the source never held are no fault of the mirror's."""
    batch = pair.place(seed)
    for side in (pair.source, pair.mirror):
        del side[at(side, batch)]


def other_marker(pair: Pair, seed: random.Random) -> None:
    """A commit here, an abort there."""
    found = pair.place(seed, is_marker=True)
    aborts = generate.marker(found.base_offset, found.leader_epoch, commits=False)
    pair.mirror[at(pair.mirror, found)] = aborts, aborts.encoded()
    pair.expected.append(("control_batch_mismatch", "", found.base_offset, found.next_offset))


def missing_marker(pair: Pair, seed: random.Random) -> None:
    missing_at(pair, pair.place(seed, is_marker=True))


def extra_marker(pair: Pair, seed: random.Random) -> None:
    found = pair.place(seed, is_marker=True)
    del pair.source[at(pair.source, found)]
    pair.expected.append(("extra_on_mirror", "", found.base_offset, found.next_offset))


def damaged_marker(pair: Pair, seed: random.Random) -> None:
    found = pair.place(seed, is_marker=True)
    data = found.encoded()
    damaged = generate.flipped(data, seed.randrange(21, len(data)), seed.randrange(8))
    pair.mirror[at(pair.mirror, found)] = found, damaged
    pair.expected.append(("damaged", "mirror", found.base_offset, found.next_offset))


def no_longer_transactional(pair: Pair, seed: random.Random) -> None:
    """An aborted record would be read as committed."""
    batch = pair.place(seed)
    other = replace(batch, flags=batch.flags ^ generate.TRANSACTIONAL)
    pair.mirror[at(pair.mirror, batch)] = other, other.encoded()
    pair.expected.append(("divergent", "", batch.base_offset, batch.next_offset))


def _edge(side_name: str, number: int) -> Plant:
    """The first or the last batch of a log, which other plants leave alone."""

    def plant(pair: Pair, seed: random.Random) -> None:
        if not pair.takes_end(number):
            return
        side = getattr(pair, side_name)
        batch, data = side[number]
        # Not the numbers that say where the last batch ends: nothing else could.
        byte = seed.choice([*range(17, 23), *range(27, 57), *range(61, len(data))])
        damaged = generate.flipped(data, byte, seed.randrange(8))
        side[number] = batch, damaged
        pair.expected.append(("damaged", side_name, batch.base_offset, batch.next_offset))

    return plant


def missing_head(pair: Pair, seed: random.Random) -> None:
    """The file still has the name of its first offset."""
    if pair.takes_end(0):
        missing_at(pair, pair.mirror[0][0])


def missing_tail(pair: Pair, seed: random.Random) -> None:
    """What a mirror does not hold yet is no fault."""
    if not pair.takes_end(-1):
        return
    batch = pair.mirror.pop()[0]
    pair.expected.append(("lag", "mirror", batch.base_offset, batch.next_offset))


def extra_tail(pair: Pair, seed: random.Random) -> None:
    if not pair.takes_end(-1):
        return
    batch = pair.source.pop()[0]
    pair.expected.append(("mirror_ahead", "mirror", batch.base_offset, batch.next_offset))


def _lying(change: Callable[[bytes], bytes], *sides: str) -> Plant:
    """A header that says something else about the records, under a checksum that holds."""

    def plant(pair: Pair, seed: random.Random) -> None:
        batch = pair.place(seed)
        for side in (getattr(pair, name) for name in sides):
            number = at(side, batch)
            side[number] = batch, generate.recomputed(change(side[number][1]))
        where = "both" if len(sides) > 1 else sides[0]
        pair.expected.append(("malformed", where, batch.base_offset, batch.next_offset))

    return plant


def _one_more(data: bytes) -> bytes:
    return data[:57] + struct.pack(">i", struct.unpack_from(">i", data, 57)[0] + 1) + data[61:]


def _other_codec(data: bytes) -> bytes:
    """gzip where it is not, lz4 where it is."""
    return data[:22] + bytes([data[22] & ~7 | (3 if data[22] & 7 == 1 else 1)]) + data[23:]


SHIFTING = (resplit,)
PLANTS: dict[str, Plant] = {
    plant.__name__: plant
    for plant in (
        missing, missing_run, extra, damaged_on_both, other_value, other_producer, other_leader_epoch, other_magic,
        other_base_offset, duplicate, duplicate_on_source, duplicate_on_both, resplit, recompressed, lost_record,
        other_length, half_a_batch, zeros, junk, swapped, swapped_on_both, gap_on_both, other_marker,
        missing_marker, extra_marker, damaged_marker, no_longer_transactional, missing_head, missing_tail, extra_tail,
    )
} | {
    "damaged_head_of_mirror": _edge("mirror", 0),
    "damaged_head_of_source": _edge("source", 0),
    "damaged_tail_of_mirror": _edge("mirror", -1),
    "damaged_tail_of_source": _edge("source", -1),
    "damaged_mirror": damaged_mirror,
    "damaged_source": damaged_source,
    "flipped_and_mended": flipped_and_mended,
    "lying_count_on_mirror": _lying(_one_more, "mirror"),
    "lying_count_on_source": _lying(_one_more, "source"),
    "lying_count_on_both": _lying(_one_more, "source", "mirror"),
    "lying_codec_on_mirror": _lying(_other_codec, "mirror"),
    "lying_codec_on_source": _lying(_other_codec, "source"),
    "lying_codec_on_both": _lying(_other_codec, "source", "mirror"),
}  # fmt: skip
