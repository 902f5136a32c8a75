"""Every kind of planting is found; what an audit can find has a kind that shows it."""

import random
from pathlib import Path

import pytest

from federation.audit.comparison.findings import Class
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.verdicts import Verdict
from tests.spark.cases import audit, planted, unexpected
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import Sides
from tests.spark.kinds import KINDS
from tests.spark.ledger_plants import LEDGER_PLANTS, late_mirror
from tests.spark.plants import PLANTS
from tests.spark.section_plants import (
    EPOCHS,
    GROUPS,
    PRODUCERS,
    RECORDS,
    SECTION_PLANTS,
    TOPICS,
    SectionSides,
)

ELSEWHERE = {
    Class.DISPLACED,  # settled before anybody sees it
    Class.REPLICA_DIVERGENT,  # every `..._in_one_replica`
    Class.KNOWN_STALE, Class.MARKER_MISSED,  # of compacted logs: tests/spark/test_compacted.py
    Class.NOT_ASKED, Class.ORPHAN_TAIL,  # about what a region did not say, and about cuts: verdict/test_heads.py
}  # fmt: skip


@pytest.mark.parametrize("name", [*FILE_PLANTS, *SECTION_PLANTS, *LEDGER_PLANTS])
def test_each_is_found_wherever_it_is_planted(tmp_path: Path, name: str) -> None:
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert KINDS[name](folder, random.Random(f"{name} {number}")) == []


@pytest.mark.parametrize(
    ("name", "number"),
    [("swapped", 1148), ("swapped_on_both", 817), ("half_a_batch", 78), ("half_a_batch", 1790)],
)
def test_nothing_else_is_found_beside_what_was_planted(
    tmp_path: Path, name: str, number: int
) -> None:
    """Time indexes that fell with the swapped batches; batches that the next one's zeros made whole."""
    case = planted(str(tmp_path), number, (name,))
    assert unexpected(case, audit(case.options()).findings) == []


def test_there_are_forty_kinds_and_more() -> None:
    alone = len(PLANTS) + len(FILE_PLANTS) + len(SECTION_PLANTS) + len(LEDGER_PLANTS)
    assert alone >= 40
    assert len(KINDS) > alone


def test_every_class_and_every_section_has_a_kind(tmp_path: Path) -> None:
    seed = random.Random(1)
    found = {
        kind for name in PLANTS for kind, *_ in planted(str(tmp_path / name), 3, (name,)).expected
    }
    for name, plant in FILE_PLANTS.items():
        sides = Sides(tmp_path / name, seed)
        found.add(plant(sides.folders["east"], sides.made, seed)[0])
    for name, head in LEDGER_PLANTS.items():
        found |= {kind for kind, *_ in late_mirror(tmp_path / name, seed, head)[1]}
    assert found == {kind.value for kind in Class} - {kind.value for kind in ELSEWHERE}
    sections = {
        plant(SectionSides(tmp_path / name), "east", seed)[0]
        for name, plant in SECTION_PLANTS.items()
    }
    assert sections == {EPOCHS, PRODUCERS, GROUPS, TOPICS}


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("missing", "the source has"),
        ("extra", "the source has"),
        ("lost_record", "the source has"),
        ("zeros", "can't be counted"),
    ],
)
def test_record_counts_are_a_section_of_their_own(tmp_path: Path, name: str, because: str) -> None:
    result = audit(planted(str(tmp_path), 4, (name,)).options())
    (section,) = [one for one in result.sections if one.name == RECORDS]
    assert because in section.problems[0].because
    assert section.verdict is (Verdict.UNKNOWN if name == "zeros" else Verdict.BROKEN)


def test_a_hole_in_the_ledger_is_not_missed_in_the_counts(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 4, ("missing",))
    ((_, _, start, stop),) = case.expected
    result = audit(case.options(holes=(KnownHole("flights", 0, start, stop, "skipped"),)))
    assert {one.verdict for one in result.sections if one.name == RECORDS} == {Verdict.KEPT}
    assert result.verdict is Verdict.KEPT
