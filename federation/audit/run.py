"""An audit from its options to its result: cut, examine, compare, settle, judge."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from federation.audit.comparison.findings import Finding
from federation.audit.comparison.unit import UnitOutcome, never_at_rest
from federation.audit.cut.cut import AuditCut, take
from federation.audit.engines import AuditProgress, compared
from federation.audit.examine import Examined, chosen, examine
from federation.audit.options import Options
from federation.audit.result import AuditResult, CannotRun, ExitCode, PartitionLineage
from federation.audit.sections import record_counts
from federation.audit.sections.judge import sections
from federation.audit.sections.section import Section
from federation.audit.segments.checkpoints import Key
from federation.audit.since.earlier import Observed
from federation.audit.since.last_report import JudgedRange, NoReport
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.settle import settle
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict, judge, overall


def run_audit(options: Options, now: Callable[[], int], watch: AuditProgress) -> AuditResult:
    """The audit of all chosen partitions; raises CannotRun. `now` returns ms since the Unix epoch.

    When files went away meanwhile (retention, a partition moved), or what was found may be the work of a cleaning,
    their partitions are audited once more against a fresh cut; what is then still away or changing is unreadable.
    """
    taken = _take(options, now())
    examined = examine(taken, chosen(taken, options.topics), options)
    outcomes = _compared(examined, options, watch)
    gone = {key for key, found in outcomes.items() if any(one.missing_file for one in found)}
    gone |= _cleaned_meanwhile(examined, outcomes)
    if gone:
        taken = _take(options, now())
        fresh = examine(taken, sorted(gone), options)
        examined |= fresh
        again = _compared(fresh, options, watch)
        outcomes |= {key: again.get(key, []) for key in gone}
        for key in _cleaned_meanwhile(fresh, outcomes):
            outcomes[key] = [never_at_rest(one) for one in outcomes[key]]
    partitions, settled = [], {}
    for key, one in sorted(examined.items()):
        settled[key] = _settled(key, one, outcomes.get(key, []), options)
        parts = (*key, one.source, one.mirror, one.lag)
        partitions.append(judge(parts, one.units, outcomes.get(key, []), settled[key]))
    findings = [one for found in settled.values() for one in found]
    judged = [*_sections(options, taken, examined), record_counts.judge(outcomes, settled)]
    result = _result(options, taken, partitions, findings, judged)
    return result._replace(
        lineage={
            (row.topic, row.partition): _lineage(row, examined[row.topic, row.partition], taken)
            for row in partitions
        }
    )


def _cleaned_meanwhile(
    examined: Mapping[Key, Examined], outcomes: Mapping[Key, Sequence[UnitOutcome]]
) -> set[Key]:
    """Partitions in which something was found, and a log was compacted while it was read."""
    return {
        key
        for key, one in examined.items()
        if any(each.findings for each in outcomes.get(key, ())) and one.compacted_meanwhile()
    }


def _lineage(row: PartitionVerdict, one: Examined, taken: AuditCut) -> PartitionLineage:
    judged = list(one.earlier.judged_by)
    if row.verdict is Verdict.KEPT and (not judged or row.compared_from < row.compared_to):
        judged.append(
            JudgedRange(from_offset=row.compared_from, to_offset=row.compared_to, at_ms=taken.at_ms)
        )
    now = Observed(one.source, one.mirror, one.topic_ids)
    return PartitionLineage(
        one.earlier, tuple(judged), one.topic_ids, tuple(now.replicas), now.tails(row.compared_to)
    )


def _sections(options: Options, taken: AuditCut, examined: dict[Key, Examined]) -> list[Section]:
    pairs = {
        key: (one.source._replace(judged_until=0), one.mirror) for key, one in examined.items()
    }
    cuts = {
        (topic.removeprefix(options.mirror_prefix), index) for topic, index in options.all_cuts()
    }
    regions = options.source, options.mirror
    try:
        return sections(regions, taken, pairs, options.mirror_prefix, cuts)
    except OSError as error:
        raise CannotRun(f"{error.filename}: {error.strerror}") from error


def _compared(
    examined: dict[Key, Examined], options: Options, watch: AuditProgress
) -> dict[Key, list[UnitOutcome]]:
    units = [unit for one in examined.values() for unit in one.units]
    how = {"engine": options.engine, "master": options.master}
    return compared(units, watch, payload=options.payload, **how)


def _take(options: Options, at_ms: int) -> AuditCut:
    try:
        taken = take(options.source, options.mirror, at_ms, options.replicas, options.mirror_prefix)
        if options.since is not None:
            options.since.check(taken.clusters, options.mirror_prefix, options.replicas)
        return taken
    except OSError as error:
        raise CannotRun(
            f"{error.filename}: {error.strerror}; check the data directories"
        ) from error
    except NoReport as error:
        raise CannotRun(f"--since: {error}") from error
    except ValueError as error:
        raise CannotRun(f"{error}; check the data directories") from error


def _settled(
    key: Key, examined: Examined, outcomes: Sequence[UnitOutcome], options: Options
) -> list[Finding]:
    found = [*examined.findings, *(one for outcome in outcomes for one in outcome.findings)]
    return settle(found, _of(key, options.all_holes()), _of(key, options.all_source_holes()))


def _of(key: Key, holes: Iterable[KnownHole]) -> list[KnownHole]:
    return [hole for hole in holes if (hole.topic, hole.partition) == key]


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
