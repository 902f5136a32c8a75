"""Faults planted in a partition's files once they are written, each with the finding that it must lead to."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

from tests.spark import generate

FilePlant = Callable[[Path, list[generate.Made], random.Random], tuple[str, int, int]]
"""A folder and what its log holds -> the class that must be found, and the offsets it may touch."""


def _segments(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob("*.log"))


def _damaged_index(
    kind: str, change: Callable[[tuple[int, int], random.Random], tuple[int, int]]
) -> FilePlant:
    """One entry of an index of this kind, at random, is changed."""
    layout = struct.Struct(">ii" if kind == "index" else ">qi")

    def plant(folder: Path, made: list[generate.Made], seed: random.Random) -> tuple[str, int, int]:
        found = []
        for path in sorted(folder.glob(f"*.{kind}")):
            rows = [
                layout.unpack_from(path.read_bytes(), at)
                for at in range(0, path.stat().st_size, layout.size)
            ]
            found += [(path, number, row) for number, row in enumerate(rows) if any(row)]
        path, number, row = seed.choice(found)
        data = bytearray(path.read_bytes())
        layout.pack_into(data, number * layout.size, *change(row, seed))
        path.write_bytes(data)
        base = int(path.stem)
        following = [one for one in _segments(folder) if one > base]
        return "index_damaged", base, following[0] if following else made[-1].next_offset

    return plant


def lost_segment(
    folder: Path, made: list[generate.Made], seed: random.Random
) -> tuple[str, int, int]:
    """Not the first: retention takes that one, and what is missing there is judged as a head."""
    bases = _segments(folder)
    number = seed.randrange(1, len(bases) - 1)
    (folder / f"{bases[number]:020}.log").unlink()
    return "segment_missing", bases[number], bases[number + 1]


def overlapping_segments(
    folder: Path, made: list[generate.Made], seed: random.Random
) -> tuple[str, int, int]:
    """A segment holds the first batches of the next one as well."""
    bases = _segments(folder)
    number = seed.randrange(0, len(bases) - 2)
    log = folder / f"{bases[number]:020}.log"
    again = [one for one in made if one.base_offset >= bases[number + 1]][: seed.randrange(1, 3)]
    again = [one for one in again if one.next_offset <= bases[number + 2]]
    log.write_bytes(log.read_bytes() + b"".join(one.encoded() for one in again))
    return "segments_overlap", bases[number + 1], again[-1].next_offset


FILE_PLANTS: dict[str, FilePlant] = {
    "index_position": _damaged_index(
        "index", lambda row, seed: (row[0], row[1] ^ 1 << seed.randrange(31))
    ),
    "index_offset_beyond": _damaged_index("index", lambda row, seed: (row[0] + 1_000_000, row[1])),
    "index_negative": _damaged_index("index", lambda row, seed: (-row[0] - 1, row[1])),
    "index_entry_zeroed": _damaged_index("index", lambda row, seed: (0, row[1])),
    "time_index_timestamp": _damaged_index(
        "timeindex", lambda row, seed: (row[0] ^ 1 << seed.randrange(63), row[1])
    ),
    "lost_segment": lost_segment,
    "overlapping_segments": overlapping_segments,
}
