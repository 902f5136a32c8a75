"""How far a mirror was behind at the cut: in offsets, in bytes, and in the age of the first record it lacks (RPO)."""

from typing import NamedTuple

from federation.audit.cut.bounds import Bounds
from federation.audit.segments.headers import HEADER, HEADER_BYTES


class Lag(NamedTuple):
    """What the mirror did not hold yet at the cut; ms is the age of the first such record."""

    offsets: int = 0
    bytes: int = 0
    ms: int = 0


def lag(source: Bounds, mirror: Bounds, at_ms: int) -> Lag:
    """Zero where the mirror reaches the source's end.

    Against a live source the age counts up to the cut; a dead one took no records after its newest, so there it
    counts up to that one's timestamp.
    """
    start = max(mirror.end, source.log_start)
    if start >= source.end:
        return Lag()
    if source.log is None or source.log.is_empty or start >= source.log.end_offset:
        return Lag(source.end - start)
    place = source.log.first_covering(start)
    now_ms = at_ms if source.listed else source.log.newest_ms
    batch = source.log.batch_at(place)
    first_ms = int(HEADER.unpack_from(batch)[7]) if len(batch) >= HEADER_BYTES else -1
    return Lag(
        source.end - start,
        source.log.stretch(place, source.log.end).size,
        max(0, now_ms - first_ms) if first_ms >= 0 else 0,
    )
