"""The cut: which offsets of each partition an audit speaks for, and how it came to know.

Ends are read on the mirror first and on the source after it, so that a healthy mirror is never seen ahead; file sizes
after the ends, so that files reach them; log starts last, so that no file listed has expired by then. A live region is
asked (ListOffsets); for a dead one its checkpoint files are a lower bound and its logs' ends are the bound: what a
mirror holds came over a link that carries committed data only, so all of it must equal what the source holds there.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from federation.audit.cut.listed_offsets import Unanswered, Which, brokers, offsets
from federation.audit.facts.region_facts import RegionFacts
from federation.audit.facts.replica_choice import ReplicaChoice, ReplicaSelection, choose
from federation.audit.fetch import discovery
from federation.audit.segments import checkpoints, data_dir
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.replica import ReadableReplica
from federation.audit.segments.replica_log import PARTITION_FOLDER, discover


class AuditedRegion(NamedTuple):
    """A region as the audit finds it: its name, its nodes' data directories, its address or an empty text, and what
    it says of itself, or None where it could not be asked (`because` says why).

    In-sync replicas of which no directory is named are fetched from the brokers, where these answer.
    """

    name: str
    data_dirs: tuple[str, ...]
    bootstrap: str = ""
    facts: RegionFacts | None = None
    because: str = "no facts given"


class Ends(NamedTuple):
    """High watermarks of a region, and `source`: "listed" by the region or from its "checkpoint" files."""

    offsets: dict[Key, int]
    source: str
    reason: str


class AuditedReplica(NamedTuple):
    """One replica, which is judged from `since` on, where its files begin, and below `until`. Compaction may have
    changed what lies below `clean`; -1: nobody says up to where."""

    log: ReadableReplica
    since: int
    until: int
    clean: int = 0


class Bounds(NamedTuple):
    """One side of a partition: offsets [log_start, end); a reader was promised those below the high watermark.

    `log` is the replica that reaches furthest, by which the audit is planned. All `replicas` must hold the same
    below `agreed`. `absent` are in-sync nodes whose directories were not named; `in_sync_known` says whether the
    region said which replicas are in sync. Below `judged_until`, earlier reports found the partition kept.
    """

    log: ReadableReplica | None
    log_start: int
    high_watermark: int
    end: int
    listed: bool
    replicas: tuple[AuditedReplica, ...] = ()
    agreed: int = 0
    absent: tuple[int, ...] = ()
    in_sync_known: bool = True
    judged_until: int = 0


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
    mirror_ends = _ends(*sides[1])
    source_ends = _ends(*sides[0])
    mirror_logs = discover(sides[1][1], is_running=mirror_ends.source == "listed")
    source_logs = discover(sides[0][1], is_running=source_ends.source == "listed")
    mirrors = _without_prefix(_bounds(*sides[1], mirror_logs, mirror_ends, wanted), mirror_prefix)
    sources = _bounds(*sides[0], source_logs, source_ends, wanted)
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


def _ends(region: AuditedRegion, directories: Sequence[DataDir]) -> Ends:
    reason = "no address given"
    if region.bootstrap:
        try:
            listed = offsets(region.bootstrap, _partitions(region, directories), Which.LATEST)
            return Ends(listed, "listed", "")
        except Unanswered as error:
            reason = str(error)
    read = _checkpoints(directories, checkpoints.HIGH_WATERMARKS)
    return Ends(_furthest(read.values()), "checkpoint", reason)


def _checkpoints(directories: Sequence[DataDir], name: str) -> dict[str, dict[Key, int]]:
    """The file of that name in each directory, by path."""
    return {one.path: checkpoints.read(one.path, name) for one in directories}


def _clean_points(directories: Sequence[DataDir]) -> dict[str, dict[Key, int]]:
    """By directory, after its logs were listed: a node writes that a log is cleaned before it is. Kafka's checkpoint is
    the lower bound for other brokers' directories."""
    found = {}
    for one in directories:
        kafka = checkpoints.read(one.path, checkpoints.CLEANER_OFFSETS)
        own = checkpoints.read(one.path, checkpoints.COMPLETE_FROM)
        found[one.path] = _furthest((kafka, own))
    return found


def cleaned_since(bounds: Bounds) -> bool:
    """Whether a replica that is read from files may have been compacted since the cut was taken."""
    for one in bounds.replicas:
        if one.log.folder:
            directory = DataDir(os.path.dirname(one.log.folder))
            key = one.log.topic, one.log.partition
            now = _clean_points([directory])[directory.path].get(key, 0)
            if now != one.clean:
                return True
    return False


def _furthest(read: Iterable[Mapping[Key, int]]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for each in read:
        for key, offset in each.items():
            found[key] = max(offset, found.get(key, 0))
    return found


def _partitions(region: AuditedRegion, directories: Sequence[DataDir]) -> list[Key]:
    """Every partition folder, and every partition that the region says it has."""
    names = (
        PARTITION_FOLDER.fullmatch(name) for one in directories for name in os.listdir(one.path)
    )
    keys = {(name["topic"], int(name["partition"])) for name in names if name}
    said = region.facts.partitions().keys() if region.facts is not None else set()
    return sorted(key for key in keys | said if not key[0].startswith("__") or key in said)


def _bounds(
    region: AuditedRegion,
    directories: Sequence[DataDir],
    logs: Mapping[Key, Sequence[ReadableReplica]],
    ends: Ends,
    wanted: ReplicaSelection,
) -> dict[Key, Bounds]:
    own_starts = _checkpoints(directories, checkpoints.LOG_STARTS)
    own_ends = _checkpoints(directories, checkpoints.HIGH_WATERMARKS)
    cleaned = _clean_points(directories)
    listed_starts = _listed_starts(region, ends)
    facts = region.facts.partitions() if region.facts is not None else {}
    keys = sorted(logs.keys() | ends.offsets.keys() | facts.keys())
    choices = {key: choose(logs.get(key, ()), facts.get(key), wanted) for key in keys}
    if ends.source == "listed":
        choices |= _fetched(region, choices, ends)
    bounds = {}
    for key, choice in choices.items():
        side = _Side(key, own_starts, own_ends, cleaned, choice)
        listed = ends.source == "listed" and key in ends.offsets
        bounds[key] = side.bounds(ends.offsets.get(key, 0), listed, listed_starts.get(key))
    return bounds


def _fetched(
    region: AuditedRegion, choices: Mapping[Key, ReplicaChoice], ends: Ends
) -> dict[Key, ReplicaChoice]:
    """The choices of partitions that lack the directory of a node, with what the brokers have instead."""
    absent = {key: one.absent for key, one in choices.items() if one.absent}
    if not absent:
        return {}
    try:
        there = discovery.replicas(brokers(region.bootstrap), absent, ends.offsets)
    except Unanswered:
        return {}
    return {key: choices[key].with_fetched(found) for key, found in there.items()}


class _Side(NamedTuple):
    """One partition of one region, with the checkpoint files of every directory."""

    key: Key
    own_starts: Mapping[str, Mapping[Key, int]]
    own_ends: Mapping[str, Mapping[Key, int]]
    cleaned: Mapping[str, Mapping[Key, int]]
    choice: ReplicaChoice

    def bounds(self, promised: int, listed: bool, listed_start: int | None) -> Bounds:
        logs = [*self.choice.required, *self.choice.partial]
        furthest = max(logs, key=lambda log: log.end_offset, default=None)
        reached = [log.end_offset for log in self.choice.required]
        agreed = promised if listed else max(promised, min(reached, default=0))
        lowest = min((log.first_offset for log in logs), default=0)
        untils = [agreed] * len(self.choice.required)
        for log in self.choice.partial:
            own = self.own_ends.get(os.path.dirname(log.folder), {}).get(self.key, 0)
            untils.append(min(own, log.end_offset, agreed))
        replicas = [
            AuditedReplica(
                log, log.first_offset if log.first_offset > lowest else 0, until, self._clean(log)
            )
            for log, until in zip(logs, untils, strict=True)
        ]
        return Bounds(
            furthest,
            self._start(lowest) if listed_start is None else listed_start,
            promised,
            agreed,
            listed,
            tuple(replicas),
            agreed,
            self.choice.absent,
            self.choice.known,
        )

    def _clean(self, log: ReadableReplica) -> int:
        if not log.folder:
            return -1
        return self.cleaned.get(os.path.dirname(log.folder), {}).get(self.key, 0)

    def _start(self, lowest: int) -> int:
        """The lowest offset that a replica has a file for, unless a checkpoint says that the log starts later."""
        return max(lowest, *(one.get(self.key, 0) for one in self.own_starts.values()))


def _listed_starts(region: AuditedRegion, ends: Ends) -> dict[Key, int]:
    if ends.source != "listed":
        return {}
    try:
        return offsets(region.bootstrap, list(ends.offsets), Which.EARLIEST)
    except Unanswered:  # the region died after its ends were listed: read its checkpoint files
        return {}


def clean_point(source: Bounds, mirror: Bounds) -> int:
    """Below it compaction may have changed the log of a replica."""
    return max((one.clean for one in (*source.replicas, *mirror.replicas)), default=0)


def compared_range(source: Bounds, mirror: Bounds) -> tuple[int, int]:
    """The offsets that both sides should hold and that are to be read; empty ranges end where they start."""
    start = max(source.log_start, mirror.log_start, source.judged_until)
    return start, max(start, min(source.end, mirror.end))
