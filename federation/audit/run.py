"""An audit from its options to its result: cut, plan, compare, settle, judge."""

import fnmatch
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, Protocol

from federation.audit import plan, pool
from federation.audit.comparison.findings import Finding, Side
from federation.audit.comparison.unit import Unit, UnitOutcome
from federation.audit.cut.cut import AuditCut, AuditedRegion, Bounds, take
from federation.audit.cut.lag import Lag, lag
from federation.audit.facts.region_facts import HoleFacts
from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.journal import Journal
from federation.audit.sections.judge import sections
from federation.audit.sections.section import Section
from federation.audit.segments.checkpoints import Key
from federation.audit.verdict.heads import heads, retention
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.settle import settle
from federation.audit.verdict.verdicts import (
    PartitionVerdict,
    Verdict,
    at_the_cut,
    judge,
    orphan_tail,
    overall,
    unread_replicas,
)

NO_JOURNAL = Journal()
NOTHING_THERE = Bounds(None, 0, 0, 0, False)


class ExitCode(IntEnum):
    KEPT = 0
    BROKEN = 1
    UNKNOWN = 2
    OVER_BUDGET = 3
    COULD_NOT_RUN = 4


class CannotRun(Exception):
    """The audit could not be made; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to audit and how. Topics are names or shell patterns; none means all that both regions have.

    `cuts` are the offsets at which failovers ended mirrors: beyond them the two sides owe each other nothing.
    `mirror_prefix` stands before the source's name in the mirror's (`cluster.link.prefix`).
    `engine` is "spark" or "local", `master` a Spark master URL; a budget of None is none at all.
    """

    source: AuditedRegion
    mirror: AuditedRegion
    topics: tuple[str, ...] = ()
    engine: str = "spark"
    master: str = "local[*]"
    payload: bool = False
    holes: tuple[KnownHole, ...] = ()
    cuts: Mapping[Key, int] = field(default_factory=dict)
    mirror_prefix: str = ""
    replicas: ReplicaSelection = ReplicaSelection.IN_SYNC
    budget_lag_records: int | None = None
    budget_lag_ms: int | None = None

    def all_cuts(self) -> dict[Key, int]:
        """By the mirror's topic and partition: what its region says, and what was given."""
        facts = self.mirror.facts
        return {**(facts.cuts() if facts is not None else {}), **self.cuts}

    def all_holes(self) -> list[KnownHole]:
        """By the source's topic and partition: the mirror region's ledger, and what was given."""
        facts = self.mirror.facts
        said = [
            KnownHole(one.topic.removeprefix(self.mirror_prefix), *_hole(one))
            for one in (facts.holes if facts is not None else ())
        ]
        return [*said, *self.holes]


def _hole(said: HoleFacts) -> tuple[int, int, int, str]:
    return said.partition, said.from_offset, said.to_offset, said.cause


class AuditResult(NamedTuple):
    """What was found; `over_budget` has a sentence for each partition that exceeds a budget, `sections` what was judged
    beside the bytes of batches."""

    verdict: Verdict
    exit_code: ExitCode
    cut: AuditCut
    partitions: tuple[PartitionVerdict, ...]
    findings: tuple[Finding, ...]
    over_budget: tuple[str, ...]
    sections: tuple[Section, ...] = ()


class AuditProgress(NamedTuple):
    """Callbacks: `planned` gets the number of bytes to read, `seen` the bytes compared since its last call. The journal
    has what an earlier run compared, and gets what this one does."""

    planned: Callable[[int], None]
    seen: Callable[[int], None]
    journal: Journal = NO_JOURNAL


class Engine(Protocol):
    """Runs units, in whatever order, on whatever cores; `done` is called with some outcomes at a time."""

    def __call__(
        self,
        units: Sequence[Unit],
        *,
        master: str,
        payload: bool,
        done: Callable[[list[UnitOutcome]], None],
    ) -> None: ...


class Examined(NamedTuple):
    """One partition: its bounds, its lag, its units, and the findings that follow from its bounds alone."""

    source: Bounds
    mirror: Bounds
    lag: Lag
    units: tuple[Unit, ...]
    findings: tuple[Finding, ...]


def run_audit(options: Options, now: Callable[[], int], watch: AuditProgress) -> AuditResult:
    """The audit of all chosen partitions; raises CannotRun. `now` returns ms since the Unix epoch.

    When files went away meanwhile (retention, a partition moved), their partitions are audited once more against a
    fresh cut; what is then still away is unreadable.
    """
    taken = _take(options, now())
    examined = _examine(taken, _chosen(taken, options.topics), options)
    outcomes = _compared(examined, options, watch)
    gone = {key for key, found in outcomes.items() if any(one.missing_file for one in found)}
    if gone:
        taken = _take(options, now())
        fresh = _examine(taken, sorted(gone), options)
        examined |= fresh
        outcomes |= _compared(fresh, options, watch)
    partitions, findings = [], []
    for key, one in sorted(examined.items()):
        settled = _settled(key, one, outcomes.get(key, []), options.all_holes())
        findings += settled
        parts = (*key, one.source, one.mirror, one.lag)
        partitions.append(judge(parts, one.units, outcomes.get(key, []), settled))
    judged = _sections(options, taken, examined)
    return _result(options, taken, partitions, findings, judged)


def _sections(options: Options, taken: AuditCut, examined: dict[Key, Examined]) -> list[Section]:
    pairs = {key: (one.source, one.mirror) for key, one in examined.items()}
    cuts = {
        (topic.removeprefix(options.mirror_prefix), index) for topic, index in options.all_cuts()
    }
    regions = options.source, options.mirror
    try:
        return sections(regions, taken, pairs, options.mirror_prefix, cuts)
    except OSError as error:
        raise CannotRun(f"{error.filename}: {error.strerror}") from error


def _take(options: Options, at_ms: int) -> AuditCut:
    try:
        return take(options.source, options.mirror, at_ms, options.replicas, options.mirror_prefix)
    except OSError as error:
        raise CannotRun(
            f"{error.filename}: {error.strerror}; check the data directories"
        ) from error
    except ValueError as error:
        raise CannotRun(f"{error}; check the data directories") from error


def _chosen(taken: AuditCut, patterns: Sequence[str]) -> list[Key]:
    """Partitions of the topics that are asked for, on either side; internal topics never."""
    source = {topic for topic, _ in taken.source if not topic.startswith("__")}
    mirror = {topic for topic, _ in taken.mirror if not topic.startswith("__")}
    topics = source & mirror
    if patterns:
        topics = {
            one for one in source | mirror if any(fnmatch.fnmatchcase(one, p) for p in patterns)
        }
        idle = [p for p in patterns if not fnmatch.filter(source | mirror, p)]
        if idle:
            raise CannotRun(
                f"no such topic: {', '.join(idle)}; there are: {_listed(source | mirror)}"
            )
    if not topics:
        raise CannotRun(
            "the regions have no topic in common: nothing to audit"
            f" (source: {_listed(source)}; mirror: {_listed(mirror)})"
        )
    return sorted(key for key in taken.source.keys() | taken.mirror.keys() if key[0] in topics)


def _listed(topics: Iterable[str]) -> str:
    names = sorted(topics)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "") or "none"


def _examine(taken: AuditCut, keys: Iterable[Key], options: Options) -> dict[Key, Examined]:
    examined = {}
    prefix, cuts, holes = options.mirror_prefix, options.all_cuts(), options.all_holes()
    for key in keys:
        source = taken.source.get(key) or NOTHING_THERE._replace(
            listed=options.source.facts is not None  # then it says that there is no such partition
        )
        mirror = taken.mirror.get(key, NOTHING_THERE)
        topic, partition = key
        stop = cuts.get((prefix + topic, partition))
        orphans: list[Finding] = []
        if stop is not None:
            tail = lag(source, _until(mirror, stop), taken.at_ms)
            orphans = orphan_tail(*key, stop, source.end, tail)
            source, mirror = _until(source, stop), _until(mirror, stop)
        behind = lag(source, mirror, taken.at_ms)
        found = [*at_the_cut(*key, source, mirror, behind), *orphans]
        kept = retention(options.source, topic), retention(options.mirror, prefix + topic)
        found += heads(key, source, mirror, kept, holes, taken.at_ms)
        found += unread_replicas(*key, Side.SOURCE, source) + unread_replicas(
            *key, Side.MIRROR, mirror
        )
        units = tuple(plan.units(source, mirror))
        examined[key] = Examined(source, mirror, behind, units, tuple(found))
    return examined


def _until(bounds: Bounds, stop: int) -> Bounds:
    """The same, speaking for nothing at or above `stop`."""
    return bounds._replace(
        end=min(bounds.end, stop),
        high_watermark=min(bounds.high_watermark, stop),
        replicas=tuple(
            one._replace(until=min(one.until, max(stop, bounds.log_start)))
            for one in bounds.replicas
        ),
    )


def _compared(
    examined: dict[Key, Examined], options: Options, watch: AuditProgress
) -> dict[Key, list[UnitOutcome]]:
    """Outcomes by partition, in offset order."""
    units = [unit for one in examined.values() for unit in one.units]
    watch.planned(sum(unit.size for unit in units))
    by_range = {unit[:4]: unit for unit in units}
    found: list[UnitOutcome] = []

    def done(some: list[UnitOutcome]) -> None:
        found.extend(some)
        watch.seen(sum(by_range[one[:4]].size for one in some))

    def compared(some: list[UnitOutcome]) -> None:
        watch.journal.add((by_range[one[:4]], one) for one in some)
        done(some)

    done([known for unit in units if (known := watch.journal.known(unit)) is not None])
    read = {one[:4] for one in found}
    left = [unit for unit in units if unit[:4] not in read]
    try:
        run = _engine(options.engine)
        run(left, master=options.master, payload=options.payload, done=compared)
    except plan.EngineFailed as error:
        raise CannotRun(str(error)) from error
    outcomes: dict[Key, list[UnitOutcome]] = defaultdict(list)
    for outcome in sorted(found, key=lambda outcome: outcome[:4]):
        outcomes[outcome.topic, outcome.partition].append(outcome)
    return outcomes


def _engine(name: str) -> Engine:
    if name == "local":
        return pool.run
    from federation.audit import jobs  # pyspark takes its time to import

    return jobs.run


def _settled(
    key: Key, examined: Examined, outcomes: Sequence[UnitOutcome], holes: Iterable[KnownHole]
) -> list[Finding]:
    found = [*examined.findings, *(one for outcome in outcomes for one in outcome.findings)]
    return settle(found, [hole for hole in holes if (hole.topic, hole.partition) == key])


def _result(
    options: Options,
    taken: AuditCut,
    partitions: Sequence[PartitionVerdict],
    findings: Sequence[Finding],
    judged: Sequence[Section],
) -> AuditResult:
    verdict = overall(partitions)
    if any(one.verdict is Verdict.BROKEN for one in judged):
        verdict = Verdict.BROKEN
    over = tuple(_over_budget(options, partitions))
    code = {
        Verdict.BROKEN: ExitCode.BROKEN,
        Verdict.UNKNOWN: ExitCode.UNKNOWN,
        Verdict.KEPT: ExitCode.OVER_BUDGET if over else ExitCode.KEPT,
    }[verdict]
    rows, found = tuple(partitions), tuple(findings)
    return AuditResult(verdict, code, taken, rows, found, over, tuple(judged))


def _over_budget(options: Options, partitions: Sequence[PartitionVerdict]) -> Iterable[str]:
    for row in partitions:
        name = f"{row.topic}-{row.partition}"
        for value, budget, unit in (
            (row.lag_offsets, options.budget_lag_records, "records"),
            (row.lag_ms, options.budget_lag_ms, "ms"),
        ):
            if budget is not None and value > budget:
                yield f"{name}: {value} {unit} behind, {budget} allowed"
