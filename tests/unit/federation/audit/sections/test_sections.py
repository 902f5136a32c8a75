"""Beside the bytes: each section finds what is planted in its own files, where it is, and nothing in sound ones."""

import random
from pathlib import Path

import pytest

from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.sections import group_offsets
from federation.audit.sections.section import Section
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.cases import audit
from tests.spark.file_sides import SIDES
from tests.spark.section_plants import (
    EPOCHS,
    GROUPS,
    PRODUCERS,
    RECORDS,
    SECTION_PLANTS,
    TOPICS,
    SectionSides,
)


@pytest.fixture
def sides(tmp_path: Path) -> SectionSides:
    return SectionSides(tmp_path)


def of(result: AuditResult, name: str) -> Section:
    return next(one for one in result.sections if one.name == name)


def test_what_is_sound_is_kept_and_counted(sides: SectionSides) -> None:
    for name in SIDES:
        sides.groups(name, ("g", "t", 0, 5), ("g", "t", 0, 9), ("other", "t", 0, 3))
    result = sides.audit()
    assert (result.verdict, result.findings) == (Verdict.KEPT, ())
    assert [(one.name, one.verdict, one.judged, one.problems) for one in result.sections] == [
        (EPOCHS, Verdict.KEPT, 2, ()),
        (PRODUCERS, Verdict.KEPT, 2, ()),
        (GROUPS, Verdict.KEPT, 2, ()),
        (TOPICS, Verdict.KEPT, 1, ()),
        (RECORDS, Verdict.KEPT, 1, ()),
    ]


@pytest.mark.parametrize("where", SIDES)
@pytest.mark.parametrize("name", SECTION_PLANTS)
def test_what_does_not_fit_is_found_in_its_section(
    sides: SectionSides, where: str, name: str
) -> None:
    section, blamed = SECTION_PLANTS[name](sides, where, random.Random(name))
    result = sides.audit()
    assert result.verdict is Verdict.BROKEN
    assert [one.name for one in result.sections if one.verdict is not Verdict.KEPT] == [section]
    faults = [one for one in of(result, section).problems if one.severity == "fault"]
    assert blamed in {one.replica.split(" ")[0] for one in faults}


@pytest.mark.parametrize(
    "text", ["", "0\n2\n0 0\n", "0\n1\nx\n", "0\n2\n3 5\n1 9\n", "0\n1\n0 0", "0\n2\n0 0\n3 5"]
)
def test_a_checkpoint_that_cannot_be_read_is_unknown(sides: SectionSides, text: str) -> None:
    (sides.folders["east"] / "leader-epoch-checkpoint").write_text(text)
    found = of(sides.audit(), EPOCHS)
    assert (found.verdict, found.problems[0].replica.split()[0]) == (Verdict.UNKNOWN, "mirror")


def test_a_torn_checkpoint_of_a_node_that_lost_its_power_is_noted(sides: SectionSides) -> None:
    """The node builds it anew from its batches when it starts."""
    folder = sides.folders["east"]
    (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n3 5")
    (folder.parent / META).write_text("version=1\nnode.id=2\n")
    result = sides.audit()
    found = of(result, EPOCHS)
    assert (result.verdict, found.verdict) == (Verdict.KEPT, Verdict.KEPT)
    assert [(one.severity, one.replica) for one in found.problems] == [("note", "mirror node 2")]
    assert "torn" in found.problems[0].because


def test_a_group_past_the_mirror_s_data_breaks_p6(sides: SectionSides) -> None:
    end = sides.made[-1].next_offset
    sides.groups("west", ("g", "t", 0, end))
    sides.groups("east", ("g", "t", 0, end + 1), ("at the end", "t", 0, end))
    result = sides.audit()
    found = of(result, GROUPS)
    faults = [one for one in found.problems if one.severity == "fault"]
    assert (result.verdict, found.verdict, found.judged) == (Verdict.BROKEN, Verdict.BROKEN, 2)
    assert [(one.offset, one.because) for one in faults] == [
        (end + 1, f"group g stands at {end + 1}, the mirror ends at {end}")
    ]


def test_the_last_commit_counts_and_a_tombstone_takes_it_back(sides: SectionSides) -> None:
    end = sides.made[-1].next_offset
    sides.groups("west")
    sides.groups(
        "east",
        ("moved back", "t", 0, end + 5),
        ("deleted", "t", 0, end + 5),
        ("moved back", "t", 0, 4),
        ("deleted", "t", 0, None),
        ("elsewhere", "u", 0, 10**9),
    )
    found = of(sides.audit(), GROUPS)
    assert (found.judged, found.problems) == (1, ())


def test_a_group_ahead_of_its_source_is_noted(sides: SectionSides) -> None:
    sides.groups("west", ("g", "t", 0, 3))
    sides.groups("east", ("g", "t", 0, 8))
    found = of(sides.audit(), GROUPS)
    assert [one.because for one in found.problems] == ["group g stands at 8, at the source at 3"]
    assert found.verdict is Verdict.KEPT


def test_a_region_without_the_topic_of_groups_has_no_commits(sides: SectionSides) -> None:
    found = of(sides.audit(), GROUPS)
    assert (found.verdict, found.judged, found.because) == (Verdict.KEPT, 0, "")


def test_where_nobody_says_that_there_is_no_topic_of_groups_they_are_unknown() -> None:
    found = group_offsets.read({}, None)
    assert "no __consumer_offsets" in found.because
    assert group_offsets.judge(found, found, {}, "", frozenset()).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("key", "severity", "verdict"),
    [("max.message.bytes", "fault", Verdict.BROKEN), ("retention.ms", "note", Verdict.KEPT)],
)
def test_configurations_that_differ_are_found(
    sides: SectionSides, key: str, severity: str, verdict: Verdict
) -> None:
    regions = {
        side: facts.region(name, str(sides.folders[name].parent), configs={key: value})
        for (name, side), value in zip(SIDES.items(), ("5", "6"), strict=True)
    }
    result = audit(Options(**regions, engine="local", master="local[1]"))  # type: ignore[arg-type]
    (problem,) = of(result, TOPICS).problems
    assert (problem.because, problem.severity) == (f"{key} is 5, 6 on the mirror", severity)
    assert result.verdict is verdict


@pytest.mark.parametrize(("grown", "verdict"), [("west", Verdict.KEPT), ("east", Verdict.BROKEN)])
def test_a_mirror_never_has_more_partitions(
    sides: SectionSides, grown: str, verdict: Verdict
) -> None:
    generate.write_partition(str(sides.folders[grown].parent), "t", 1, {})
    found = of(sides.audit(), TOPICS)
    assert (found.verdict, len(found.problems)) == (verdict, 1)
