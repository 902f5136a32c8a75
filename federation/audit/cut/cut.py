"""The cut: which offsets of each partition an audit speaks for, and how it came to know.

Ends are read on the mirror first and on the source after it, so that a healthy mirror is never seen ahead; file sizes
after the ends, so that files reach them; log starts last, so that no file listed has expired by then. A live region is
asked (ListOffsets); for a dead one its checkpoint files are a lower bound and its logs' ends are the bound: what a
mirror holds came over a link that carries committed data only, so all of it must equal what the source holds there.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from federation.audit.cut.bounds import AuditedRegion, Bounds
from federation.audit.cut.ends import Ends, ends
from federation.audit.cut.sides import side_bounds
from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments import data_dir
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.replica_log import discover


class AuditCut(NamedTuple):
    """What is known of each side, per partition, at one moment (ms since the Unix epoch); `clusters` are the ids of
    source and mirror, empty where nobody says them."""

    at_ms: int
    source: dict[Key, Bounds]
    mirror: dict[Key, Bounds]
    source_ends: Ends
    mirror_ends: Ends
    clusters: tuple[str, str]


def take(
    source: AuditedRegion,
    mirror: AuditedRegion,
    at_ms: int,
    wanted: ReplicaSelection = ReplicaSelection.IN_SYNC,
    mirror_prefix: str = "",
) -> AuditCut:
    """Raises OSError when a data directory cannot be read, ValueError when a file in it is damaged, when the
    directories can't be those of two regions, or when facts are another cluster's. The mirror's partitions are named
    as the source's: without `mirror_prefix`.
    """
    sides = [
        (region, data_dir.of_region(region.name, region.data_dirs)) for region in (source, mirror)
    ]
    clusters = _clusters(sides)
    mirror_ends = ends(*sides[1])
    source_ends = ends(*sides[0])
    mirror_logs = discover(sides[1][1], is_running=mirror_ends.is_listed)
    source_logs = discover(sides[0][1], is_running=source_ends.is_listed)
    mirrors = side_bounds(*sides[1], mirror_logs, mirror_ends, wanted)
    mirrors = _without_prefix(mirrors, mirror_prefix)
    sources = side_bounds(*sides[0], source_logs, source_ends, wanted)
    for key, bounds in sources.items():
        sources[key] = _proven_by(mirrors.get(key), bounds)
    return AuditCut(at_ms, sources, mirrors, source_ends, mirror_ends, clusters)


def _clusters(sides: Sequence[tuple[AuditedRegion, Sequence[DataDir]]]) -> tuple[str, str]:
    clusters = []
    for region, directories in sides:
        found = data_dir.cluster_id(directories)
        said = region.facts.cluster_id if region.facts is not None else ""
        if said and found and said != found:
            raise ValueError(
                f"{region.name}: the facts are cluster {said}'s, the directories cluster {found}'s"
            )
        clusters.append(found or said)
    if clusters[0] and clusters[0] == clusters[1]:
        raise ValueError(f"both sides are cluster {clusters[0]}: it would be compared with itself")
    return clusters[0], clusters[1]


def _without_prefix(bounds: Mapping[Key, Bounds], prefix: str) -> dict[Key, Bounds]:
    """Internal topics keep their names."""
    return {
        (topic if topic.startswith("__") else topic.removeprefix(prefix), partition): one
        for (topic, partition), one in bounds.items()
        if topic.startswith((prefix, "__"))
    }


def _proven_by(mirror: Bounds | None, source: Bounds) -> Bounds:
    """A link carries what is committed: what a mirror holds was below the source's high watermark.

    So it has to be on each in-sync replica of a source that is down, as far as any of them reaches.
    """
    if mirror is None or source.listed or len(source.replicas) < 2:
        return source
    furthest = max(one.log.end_offset for one in source.replicas)
    agreed = max(source.agreed, min(mirror.end, furthest))
    replicas = tuple(
        one._replace(until=agreed) if one.until == source.agreed else one for one in source.replicas
    )
    return source._replace(agreed=agreed, end=max(source.end, agreed), replicas=replicas)
