"""The bounds of every partition of one region: which of its replicas are judged, and from where to where."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from federation.audit.cut.bounds import AuditedRegion, AuditedReplica, Bounds
from federation.audit.cut.ends import Ends, by_directory, listed_starts
from federation.audit.cut.listed_offsets import Unanswered, brokers
from federation.audit.facts.region_facts import PartitionFacts
from federation.audit.facts.replica_choice import ReplicaChoice, ReplicaSelection, choose
from federation.audit.fetch import discovery
from federation.audit.segments import checkpoints
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.replica import ReadableReplica


def side_bounds(
    region: AuditedRegion,
    directories: Sequence[DataDir],
    logs: Mapping[Key, Sequence[ReadableReplica]],
    ends: Ends,
    wanted: ReplicaSelection,
) -> dict[Key, Bounds]:
    """Of each partition that the directories hold, or that the region says it has."""
    own_starts = by_directory(directories, checkpoints.LOG_STARTS)
    own_ends = by_directory(directories, checkpoints.HIGH_WATERMARKS)
    starts = listed_starts(region, ends)
    facts = region.facts.partitions() if region.facts is not None else {}
    keys = sorted(logs.keys() | ends.offsets.keys() | facts.keys())
    choices = {key: choose(logs.get(key, ()), facts.get(key), wanted) for key in keys}
    if ends.is_listed:
        choices |= _fetched(region, choices, ends)
    bounds = {}
    for key, choice in choices.items():
        side = _Side(key, own_starts, own_ends, choice, facts.get(key))
        listed = ends.is_listed and key in ends.offsets
        bounds[key] = side.bounds(ends.offsets.get(key, 0), listed, starts.get(key))
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
    """One partition of one region, with the checkpoint files of every directory, and what the region says of it."""

    key: Key
    own_starts: Mapping[str, Mapping[Key, int]]
    own_ends: Mapping[str, Mapping[Key, int]]
    choice: ReplicaChoice
    facts: PartitionFacts | None

    def bounds(self, promised: int, listed: bool, listed_start: int | None) -> Bounds:
        logs = [*self.choice.required, *self.choice.partial]
        furthest = max(logs, key=lambda log: log.end_offset, default=None)
        reached = [log.end_offset for log in self.choice.required]
        agreed = promised if listed else max(promised, min(reached, default=0))
        lowest = min((log.first_offset for log in logs), default=0)
        replicas = [
            AuditedReplica(
                log,
                log.first_offset if log.first_offset > lowest else 0,
                until,
                self._clean(log),
                log.compaction.markers_from if log.compaction is not None else 0,
            )
            for log, until in zip(logs, self._untils(agreed), strict=True)
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

    def _untils(self, agreed: int) -> list[int]:
        """Up to where each replica is judged; one that is out of sync, as far as it says that it is committed."""
        untils = [agreed] * len(self.choice.required)
        for log in self.choice.partial:
            own = self.own_ends.get(os.path.dirname(log.folder), {}).get(self.key, 0)
            untils.append(min(own, log.end_offset, agreed))
        return untils

    def _clean(self, log: ReadableReplica) -> int:
        """Facts are believed beside files, which may be a copy: they were taken with it. A broker speaks for itself."""
        own = log.compaction.complete_from if log.compaction is not None else -1
        if not log.folder or self.facts is None:
            return own
        return max(own, self.facts.complete_from_of(log.node_id))

    def _start(self, lowest: int) -> int:
        """The lowest offset that a replica has a file for, unless a checkpoint says that the log starts later."""
        return max(lowest, *(one.get(self.key, 0) for one in self.own_starts.values()))
