"""The cut: which offsets of each partition an audit speaks for, and how it came to know.

Ends are read on the mirror first and on the source after it, so that a healthy mirror is never seen ahead; file sizes
after the ends, so that files reach them; log starts last, so that no file listed has expired by then. A live region is
asked (ListOffsets); for a dead one its checkpoint files are a lower bound and its log's end is the bound: what a mirror
holds came over a link that carries committed data only, so all of it must equal what the source holds there.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from federation.audit.cut.listed_offsets import Unanswered, Which, offsets
from federation.audit.segments import checkpoints
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.replica_log import PARTITION_FOLDER, ReplicaLog, discover


class AuditedRegion(NamedTuple):
    """A region as the audit finds it: its name, its nodes' data directories, its address or an empty text."""

    name: str
    data_dirs: tuple[str, ...]
    bootstrap: str = ""


class Ends(NamedTuple):
    """High watermarks of a region, and `source`: "listed" by the region or from its "checkpoint" files."""

    offsets: dict[Key, int]
    source: str
    reason: str


class Bounds(NamedTuple):
    """One side of a partition: offsets [log_start, end); a reader was promised those below the high watermark."""

    log: ReplicaLog | None
    log_start: int
    high_watermark: int
    end: int
    listed: bool


class AuditCut(NamedTuple):
    """What is known of each side, per partition, at one moment (ms since the Unix epoch)."""

    at_ms: int
    source: dict[Key, Bounds]
    mirror: dict[Key, Bounds]
    source_ends: Ends
    mirror_ends: Ends


def take(source: AuditedRegion, mirror: AuditedRegion, at_ms: int) -> AuditCut:
    """Raises OSError when a data directory cannot be read and ValueError when a checkpoint file is damaged."""
    mirror_ends = _ends(mirror)
    source_ends = _ends(source)
    mirror_logs = discover(mirror.data_dirs)
    source_logs = discover(source.data_dirs)
    return AuditCut(
        at_ms,
        _bounds(source, source_logs, source_ends),
        _bounds(mirror, mirror_logs, mirror_ends),
        source_ends,
        mirror_ends,
    )


def _ends(region: AuditedRegion) -> Ends:
    reason = "no address given"
    if region.bootstrap:
        try:
            listed = offsets(region.bootstrap, _partitions(region.data_dirs), Which.LATEST)
            return Ends(listed, "listed", "")
        except Unanswered as error:
            reason = str(error)
    found: dict[Key, int] = {}
    for data_dir in region.data_dirs:
        for key, offset in checkpoints.read(data_dir, checkpoints.HIGH_WATERMARKS).items():
            found[key] = max(offset, found.get(key, 0))
    return Ends(found, "checkpoint", reason)


def _partitions(data_dirs: Sequence[str]) -> list[Key]:
    """Every partition folder, internal topics left out."""
    names = (PARTITION_FOLDER.fullmatch(name) for path in data_dirs for name in os.listdir(path))
    keys = {(name["topic"], int(name["partition"])) for name in names if name}
    return sorted(key for key in keys if not key[0].startswith("__"))


def _bounds(region: AuditedRegion, logs: dict[Key, ReplicaLog], ends: Ends) -> dict[Key, Bounds]:
    starts = _log_starts(region, ends)
    bounds = {}
    for key in sorted(logs.keys() | ends.offsets.keys()):
        log = logs.get(key)
        listed = ends.source == "listed" and key in ends.offsets
        promised = ends.offsets.get(key, 0)
        reached = log.end_offset if log else 0
        first = log.first_offset if log else 0
        bounds[key] = Bounds(
            log,
            starts[key] if listed and key in starts else max(first, starts.get(key, 0)),
            promised,
            promised if listed else max(promised, reached),
            listed,
        )
    return bounds


def _log_starts(region: AuditedRegion, ends: Ends) -> dict[Key, int]:
    if ends.source == "listed":
        try:
            return offsets(region.bootstrap, list(ends.offsets), Which.EARLIEST)
        except Unanswered:  # the region died after its ends were listed: read its checkpoint files
            pass
    found: dict[Key, int] = {}
    for data_dir in region.data_dirs:
        for key, offset in checkpoints.read(data_dir, checkpoints.LOG_STARTS).items():
            found[key] = max(offset, found.get(key, 0))
    return found


def compared_range(source: Bounds, mirror: Bounds) -> tuple[int, int]:
    """The offsets that both sides should hold; empty ranges end where they start."""
    start = max(source.log_start, mirror.log_start)
    return start, max(start, min(source.end, mirror.end))
