"""Record counts: of the offsets compared, a mirror has as many records as its source, less its known holes."""

from collections.abc import Mapping, Sequence

from federation.audit.comparison.findings import Class, Finding, Severity
from federation.audit.comparison.unit import UnitOutcome
from federation.audit.sections.section import Problem, Section, section
from federation.audit.segments.checkpoints import Key

NAME = "record counts"


def judge(
    outcomes: Mapping[Key, Sequence[UnitOutcome]], findings: Mapping[Key, Sequence[Finding]]
) -> Section:
    """`findings` are settled: what the hole ledger explains is known by then."""
    problems: list[Problem] = []
    for key, found in sorted(outcomes.items()):
        problems += _uncounted(key, found)
        counted = [one.record_counts for one in found if one.record_counts is not None]
        source, mirror = (sum(pair[side] for pair in counted) for side in (0, 1))
        held = source - sum(
            one.records for one in findings[key] if one.kind is Class.KNOWN_HOLE and one.batches
        )
        if held != mirror:
            because = f"the source has {held} records, the mirror {mirror}"
            is_known = all(one.severity is not Severity.UNKNOWN for one in findings[key])
            severity = Severity.FAULT if is_known else Severity.UNKNOWN
            problems.append(Problem(*key, -1, because, severity=severity))
    return section(NAME, "P2", len(outcomes), "partitions", problems)


def _uncounted(key: Key, outcomes: Sequence[UnitOutcome]) -> list[Problem]:
    return [
        Problem(
            *key,
            one.from_offset,
            f"up to offset {one.to_offset}, what is damaged can't be counted",
            severity=Severity.UNKNOWN,
        )
        for one in outcomes
        if one.record_counts is None
    ]
