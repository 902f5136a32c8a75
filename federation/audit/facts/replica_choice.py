"""Which replicas of a partition an audit reads and judges."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from federation.audit.facts.region_facts import PartitionFacts
from federation.audit.segments.replica import ReadableReplica


class ReplicaSelection(StrEnum):
    """`--replicas`: the leader alone, the in-sync replicas, or whatever the directories hold."""

    LEADER = "leader"
    IN_SYNC = "in-sync"
    ALL = "all"


class ReplicaChoice(NamedTuple):
    """`required` must hold everything below the high watermark; `partial` are out of sync: judged as far as they
    claim to be committed. `absent` are nodes whose directory should have been named. `known`: the region said
    which replicas are in sync."""

    required: tuple[ReadableReplica, ...]
    partial: tuple[ReadableReplica, ...] = ()
    absent: tuple[int, ...] = ()
    known: bool = True

    def with_fetched(self, found: Sequence[ReadableReplica]) -> "ReplicaChoice":
        """The same, with replicas that brokers have of the absent nodes."""
        there = {one.node_id for one in found}
        return self._replace(
            required=(*self.required, *found),
            absent=tuple(node for node in self.absent if node not in there),
        )


def choose(
    found: Sequence[ReadableReplica], facts: PartitionFacts | None, wanted: ReplicaSelection
) -> ReplicaChoice:
    """Of the replicas found in a region's directories, those that are judged.

    Without facts, or where the directories do not say whose they are, every replica found is required; `known` is
    then true only if all were asked for.
    """
    anonymous = any(log.node_id < 0 for log in found)
    if facts is None or (anonymous and len(found) > 1):
        return ReplicaChoice(tuple(found), known=wanted is ReplicaSelection.ALL)
    leader = {facts.leader} if facts.leader >= 0 else set(facts.last_known_elr)
    in_sync = leader if wanted is ReplicaSelection.LEADER and leader else facts.complete
    if not in_sync:
        return ReplicaChoice(tuple(found), known=wanted is ReplicaSelection.ALL)
    if anonymous:  # one replica of a node that does not say its id
        return ReplicaChoice(tuple(found), absent=tuple(sorted(in_sync)[1:]))
    required = tuple(log for log in found if log.node_id in in_sync)
    others = tuple(log for log in found if log.node_id not in in_sync)
    return ReplicaChoice(
        required,
        others if wanted is ReplicaSelection.ALL else (),
        tuple(sorted(in_sync - {log.node_id for log in found} - {-1})),
    )
