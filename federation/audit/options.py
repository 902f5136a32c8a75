"""What an audit is asked to do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.facts.region_facts import HoleFacts
from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments.checkpoints import Key
from federation.audit.since.last_report import LastReport
from federation.audit.verdict.holes import KnownHole


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to audit and how. Topics are names or shell patterns; none means all that both regions have.

    `cuts` are the offsets at which failovers ended mirrors: beyond them the two sides owe each other nothing.
    `holes` are of the mirror's ledger, `source_holes` of the source's: it was a mirror before it was failed over to.
    `mirror_prefix` stands before the source's name in the mirror's (`cluster.link.prefix`).
    Of what the report `since` found kept, only what is new is read.
    `engine` is "spark" or "local", `master` a Spark master URL; a budget of None is none at all.
    """

    source: AuditedRegion
    mirror: AuditedRegion
    topics: tuple[str, ...] = ()
    engine: str = "spark"
    master: str = "local[*]"
    payload: bool = False
    holes: tuple[KnownHole, ...] = ()
    source_holes: tuple[KnownHole, ...] = ()
    cuts: Mapping[Key, int] = field(default_factory=dict)
    mirror_prefix: str = ""
    replicas: ReplicaSelection = ReplicaSelection.IN_SYNC
    since: LastReport | None = None
    budget_lag_records: int | None = None
    budget_lag_ms: int | None = None

    def all_cuts(self) -> dict[Key, int]:
        """By the mirror's topic and partition: what its region says, and what was given."""
        facts = self.mirror.facts
        return {**(facts.cuts() if facts is not None else {}), **self.cuts}

    def all_holes(self) -> list[KnownHole]:
        """By the source's topic and partition: the mirror region's ledger, and what was given."""
        return [*_ledger(self.mirror, self.mirror_prefix), *self.holes]

    def all_source_holes(self) -> list[KnownHole]:
        """By its topic and partition: the source region's ledger, of when it was a mirror, and what was given."""
        return [*_ledger(self.source), *self.source_holes]


def _ledger(region: AuditedRegion, prefix: str = "") -> Iterator[KnownHole]:
    for one in region.facts.ledger() if region.facts is not None else ():
        yield KnownHole(one.topic.removeprefix(prefix), *_hole(one))


def _hole(said: HoleFacts) -> tuple[int, int, int, str]:
    return said.partition, said.from_offset, said.to_offset, said.cause
