"""The result of the demo: numbers, and whether every promise was kept."""

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from federation.demo.costs import Acknowledged
from federation.demo.summary import Summary, list_lost

AS_PROMISED = Summary(
    flights=336_776,
    acknowledged_before=318_388,
    acknowledged_after=18_400,
    mirrored=318_376,
    lost=12,
    lost_below_the_cut=0,
    read_again=310,
    skipped=0,
    never_read=0,
    stored_twice=2,
    rpo_ms=1.24,
    rto_ms=412.0,
    writable_ms=15.0,
    first_acknowledged_ms=120.0,
    first_read_ms=412.0,
    sealed=14,
    lost_and_sealed=12,
    replayed=12,
    way_back_ms=700.0,
    audit={"verdict": "kept", "html": "/demo/audit/report.html"},
    files={"lost": "/demo/lost.csv"},
    seconds=33.3,
)


def _with(**changes: Any) -> Summary:
    return dataclasses.replace(AS_PROMISED, **changes)


def test_a_loss_beyond_the_cut_breaks_no_promise() -> None:
    assert AS_PROMISED.broken() == []
    assert _with(lost=5_000, lost_and_sealed=5_000, replayed=5_000, stored_twice=70).broken() == []


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"lost_below_the_cut": 1}, "P2"),
        ({"lost_and_sealed": 11}, "P5"),
        ({"replayed": 11}, "P5"),
        ({"skipped": 1}, "P6"),
        ({"never_read": 3}, "P6"),
        ({"audit": {"verdict": "broken"}}, "audit"),
        ({"audit": {}}, "audit"),
    ],
)
def test_what_must_not_be_is_named(changes: dict[str, Any], names: str) -> None:
    (problem,) = _with(**changes).broken()
    assert names in problem


def test_every_problem_is_named() -> None:
    assert len(_with(lost_below_the_cut=1, skipped=1, audit={}).broken()) == 3


def test_scripts_get_every_number() -> None:
    result = json.loads(json.dumps(AS_PROMISED.as_json()))
    assert set(result) == {field.name for field in dataclasses.fields(Summary)}
    assert (result["lost"], result["rpo_ms"], result["audit"]["verdict"]) == (12, 1.2, "kept")


def test_people_get_the_costs_at_a_glance() -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(AS_PROMISED.table())
    text = console.export_text()
    for figure in ("318,388", "318,376", "12 records", "412 ms", "310", "kept"):
        assert figure in text


def test_what_was_lost_is_listed_record_by_record(tmp_path: Path) -> None:
    path = tmp_path / "lost.csv"
    list_lost(path, [Acknowledged(1, 8, 70, 3.0), Acknowledged(0, 9, 71, 2.0)])
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        {"partition": "0", "offset": "9", "flight": "71"},
        {"partition": "1", "offset": "8", "flight": "70"},
    ]
