"""Planted faults of every class: each is found, as what it is, where it is, and nothing else is found."""

import json
import random
import shutil
from pathlib import Path

import pytest

from federation.audit.comparison.compare import compare
from federation.audit.comparison.unit import outcome_from_row, unit_from_row
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.cut import take
from federation.audit.plan import units
from federation.audit.verdict.verdicts import Verdict
from tests.quick import some
from tests.spark import generate
from tests.spark.cases import NOW_MS, Case, audit, planted, unexpected
from tests.spark.plants import PLANTS

NOT_FAULTS = {"unreadable", "lag"}


def check_case(case: Case) -> Verdict:
    result = audit(case.options())
    problems = unexpected(case, result.findings)
    assert not problems, (case.planted, case.codec, problems)
    wanted = {kind for kind, *_ in case.expected}
    if wanted - NOT_FAULTS:
        assert result.verdict is Verdict.BROKEN
    elif "unreadable" in wanted:
        assert result.verdict is Verdict.UNKNOWN
    else:
        assert result.verdict is Verdict.KEPT
    return result.verdict


@pytest.mark.parametrize("codec", generate.CODECS)
@pytest.mark.parametrize("name", sorted(PLANTS))
def test_every_class_of_fault_is_found_with_every_codec(
    tmp_path: Path, name: str, codec: str
) -> None:
    for number in range(3):
        check_case(planted(str(tmp_path / str(number)), number, (name,), codec))


@pytest.mark.parametrize("start", some(range(0, 600, 50)))
def test_of_hundreds_of_seeded_cases_none_is_missed_and_none_is_false(
    tmp_path: Path, start: int
) -> None:
    for number in range(start, start + 50):
        seed = random.Random(number)
        names = tuple(seed.sample(sorted(PLANTS), seed.choice((0, 1, 1, 2, 2))))
        check_case(planted(str(tmp_path), number, names))
        shutil.rmtree(tmp_path / "west")
        shutil.rmtree(tmp_path / "east")


def test_first_differing_offset_is_that_of_the_record(tmp_path: Path) -> None:
    made = generate.batches(random.Random(1), 8, rows_max=1)
    rows = tuple(generate.Row(n, b"k", b"value %d" % n) for n in range(10))
    whole = generate.Made(made[-1].next_offset, rows)
    altered = generate.Made(
        whole.base_offset, (*rows[:7], generate.Row(7, b"k", b"other"), *rows[8:])
    )
    for side, last in (("west", whole), ("east", altered)):
        log = generate.stored([*made, last])
        generate.write_partition(str(tmp_path / side), "flights", 0, {0: log})
    case = Case(str(tmp_path / "west"), str(tmp_path / "east"), (), "none", ())
    result = audit(case.options())
    assert result.partitions[0].first_differing_offset == whole.base_offset + 7
    assert "other" not in result.findings[0].evidence
    assert "other" in audit(case.options(payload=True)).findings[0].evidence


def test_units_and_outcomes_survive_their_json_form(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 5, ("missing", "other_value"))
    cut = take(AuditedRegion("west", (case.source,)), AuditedRegion("east", (case.mirror,)), NOW_MS)
    for key in cut.source:
        for unit in units(cut.source[key], cut.mirror[key]):
            assert unit_from_row(json.loads(json.dumps(unit))) == unit
            outcome = compare(unit, payload=False)
            assert outcome_from_row(json.loads(json.dumps(outcome))) == outcome


def test_a_file_that_cannot_be_read_is_unreadable_on_its_side(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 7, ())
    cut = take(AuditedRegion("west", (case.source,)), AuditedRegion("east", (case.mirror,)), NOW_MS)
    key = ("flights", 0)
    (first, *_) = units(cut.source[key], cut.mirror[key])
    for number, folder in enumerate((case.source, case.mirror)):
        copy = first.copies[number]
        parts = tuple(part._replace(path=f"{folder}/gone.log") for part in copy.parts)
        copies = list(first.copies)
        copies[number] = copy._replace(parts=parts)
        gone = first._replace(copies=tuple(copies))
        side = copy.side
        outcome = compare(gone, payload=False)
        assert [(one.kind, one.side) for one in outcome.findings] == [("unreadable", side)]
        assert outcome.findings[0][2:4] == (first.from_offset, first.to_offset)
        assert outcome.missing_file == f"{folder}/gone.log"
        assert (outcome.source_bytes, outcome.mirror_bytes)[number] == 0
