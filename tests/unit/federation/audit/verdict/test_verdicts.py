"""What follows for a partition from what was found in it."""

from federation.audit.comparison.findings import Class, Finding, Severity, Side, severity_of
from federation.audit.comparison.unit import Unit, UnitCopy, UnitOutcome
from federation.audit.cut.bounds import Bounds
from federation.audit.segments.batches import Part
from federation.audit.segments.headers import OFFSET_MAX
from federation.audit.verdict.verdicts import (
    Lag,
    PartitionVerdict,
    Verdict,
    at_the_cut,
    judge,
    overall,
)

NO_LAG = Lag()
SIDES = (Side.SOURCE, Side.MIRROR)


def bounds(start: int, end: int, high_watermark: int | None = None) -> Bounds:
    return Bounds(None, start, end if high_watermark is None else high_watermark, end, True)


def unit(start: int, stop: int, size: int = 100) -> Unit:
    part = Part("", 0, size, start, OFFSET_MAX)
    return Unit("t", 0, start, stop, tuple(UnitCopy(side, "", (part,)) for side in SIDES))


def outcome(start: int, stop: int, source: int = 100, mirror: int = 100) -> UnitOutcome:
    return UnitOutcome(
        "t", 0, start, stop, source, mirror, 1, stop - start, stop - start, "a", "a", ()
    )


def finding(kind: Class, start: int, stop: int) -> Finding:
    return Finding("t", 0, start, stop, kind, Side.MIRROR, start + 1)


def judged(
    *findings: Finding, outcomes: tuple[UnitOutcome, ...] = (outcome(0, 50), outcome(50, 90))
) -> PartitionVerdict:
    examined = ("t", 0, bounds(0, 90), bounds(0, 90), Lag())
    return judge(examined, [unit(0, 50), unit(50, 90)], outcomes, findings)


def test_kept_needs_every_byte_of_both_sides() -> None:
    assert judged().verdict is Verdict.KEPT
    for short in (outcome(50, 90, source=99), outcome(50, 90, mirror=99)):
        row = judged(outcomes=(outcome(0, 50), short))
        assert row.verdict is Verdict.UNKNOWN
        assert min(row.source_coverage, row.mirror_coverage) < 1
    assert judged(outcomes=(outcome(0, 50),)).verdict is Verdict.UNKNOWN


def test_every_class_of_fault_breaks_and_no_note_does() -> None:
    for kind in Class:
        row = judged(finding(kind, 10, 20))
        expected = {
            Severity.FAULT: Verdict.BROKEN,
            Severity.UNKNOWN: Verdict.UNKNOWN,
            Severity.NOTE: Verdict.KEPT,
        }[severity_of(kind, Side.MIRROR)]
        assert row.verdict is expected, kind
        assert row.first_differing_offset == (11 if expected is Verdict.BROKEN else -1)


def test_offsets_in_the_dark_are_counted_once_and_within_the_range() -> None:
    dark = [
        finding(Class.UNREADABLE, start, stop)
        for start, stop in ((10, 20), (15, 25), (12, 14), (80, 300))
    ]
    row = judged(*dark)
    assert (row.unread_offsets, row.offsets) == (15 + 10, 90 - 25)


def test_one_broken_partition_breaks_all_and_one_unknown_leaves_all_open() -> None:
    kept, broken = judged(), judged(finding(Class.MISSING_ON_MIRROR, 3, 4))
    unknown = judged(finding(Class.UNREADABLE, 3, 4))
    assert overall([kept, kept]) is Verdict.KEPT
    assert overall([kept, unknown, kept]) is Verdict.UNKNOWN
    assert overall([kept, unknown, broken]) is Verdict.BROKEN


def said(source: Bounds, mirror: Bounds, lag: Lag = NO_LAG) -> list[tuple[str, str, int, int]]:
    found = at_the_cut("t", 0, source, mirror, lag)
    return [(one.kind.value, one.side.value, one.from_offset, one.to_offset) for one in found]


def test_bounds_alone_tell_what_lies_outside_of_the_range() -> None:
    assert said(bounds(0, 0), bounds(0, 0)) == []
    assert said(bounds(0, 90, 0), bounds(30, 60), Lag(30, 1, 1)) == [
        ("lag", "mirror", 60, 90),
        ("unreadable", "source", 30, 60),
    ]
    assert ("mirror_ahead", "mirror", 60, 90) in said(bounds(30, 60), bounds(0, 90))
