"""How far a mirror was behind at the cut: in offsets, in bytes, and in the age of the first record it lacks (RPO)."""

from typing import NamedTuple

from federation.audit.cut.cut import Bounds
from federation.audit.segments.replica_log import end_of, first_covering, timestamp_at


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
    if source.log is None or not source.log.segments or start >= source.log.end_offset:
        return Lag(source.end - start)
    place = first_covering(source.log, start)
    now_ms = at_ms if source.listed else source.log.newest_ms
    first_ms = timestamp_at(source.log, place)
    parts = source.log.parts(place, end_of(source.log))
    return Lag(
        source.end - start,
        sum(part.stop - part.start for part in parts),
        max(0, now_ms - first_ms) if first_ms >= 0 else 0,
    )
