"""A replica that was away for longer than `delete.retention.ms` keeps what was deleted: named, and no fault."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.segments.checkpoints import MARKERS_FROM
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.cases import audit
from tests.spark.compacted import AT_ONCE, LATER, Put, history, written
from tests.spark.test_compacted import COUNT, DELETED, LAST_LIVE, ROLLS, found, without

if TYPE_CHECKING:
    from pyspark import SparkContext

KEPT = 46  # of the key that DELETED deletes
IN_STEP = history(COUNT), AT_ONCE
AWAY = without(DELETED), LATER
Replica = tuple[Sequence[Put], object]


def region(folder: Path, *replicas: Replica) -> AuditedRegion:
    """Nodes from 1 on, each with its history, cleaned below 55."""
    folder.mkdir()
    paths = []
    for number, (records, config) in enumerate(replicas, 1):
        path = folder / str(number)
        written(path, records, rolls=ROLLS, cleanings={59: config})  # type: ignore[dict-item]
        (path / META).write_text(f"version=1\nnode.id={number}\ncluster.id={folder.name}\n")
        paths.append(str(path))
    return facts.region(folder.name, *paths)


def judged(source: AuditedRegion, mirror: AuditedRegion, engine: str = "local") -> AuditResult:
    return audit(Options(source=source, mirror=mirror, engine=engine, master="local[1]"))


def say(side: AuditedRegion, number: int, markers_from: Mapping[tuple[str, int], int]) -> None:
    """What a replica says of its markers."""
    generate.write_checkpoint(side.data_dirs[number - 1], MARKERS_FROM, dict(markers_from))


@pytest.mark.parametrize("away", [1, 2, 3])
@pytest.mark.parametrize("side", ["source", "mirror"])
def test_the_replica_and_the_key_are_named(tmp_path: Path, away: int, side: str) -> None:
    replicas = [AWAY if number == away else IN_STEP for number in (1, 2, 3)]
    here = region(tmp_path / "here", *replicas)
    there = region(tmp_path / "there", IN_STEP, IN_STEP)
    result = judged(here, there) if side == "source" else judged(there, here)
    (finding,) = result.findings
    assert (finding.kind, finding.from_offset, finding.records) == ("marker_missed", KEPT, 1)
    assert (finding.replica, finding.severity) == (f"{side} node {away}", "note")
    assert result.verdict is Verdict.KEPT
    (row,) = result.partitions
    assert row.source_digest == row.mirror_digest and row.classes == "marker_missed"


def test_only_the_checkpoints_can_explain_it(tmp_path: Path) -> None:
    here = region(tmp_path / "here", AWAY, IN_STEP, IN_STEP)
    there = region(tmp_path / "there", IN_STEP)
    for number, offset in ((1, KEPT + 1), (1, 0), (2, KEPT)):
        before = Path(here.data_dirs[number - 1], MARKERS_FROM).read_bytes()
        say(here, number, {("flights", 0): offset})
        result = judged(here, there)
        assert result.verdict is Verdict.BROKEN and "marker_missed" not in dict(found(result))
        Path(here.data_dirs[number - 1], MARKERS_FROM).write_bytes(before)
    assert judged(here, there).verdict is Verdict.KEPT


@pytest.mark.parametrize("others", [[IN_STEP], [IN_STEP, IN_STEP]])
def test_a_live_key_that_one_replica_lost_is_a_fault(tmp_path: Path, others: list[Replica]) -> None:
    lost = without(LAST_LIVE), AT_ONCE
    here = region(tmp_path / "here", lost, *others)
    result = judged(here, region(tmp_path / "there", IN_STEP))
    assert result.verdict is Verdict.BROKEN and "marker_missed" not in dict(found(result))


def test_what_a_whole_region_keeps_is_for_the_hole_ledger_to_say(tmp_path: Path) -> None:
    there = region(tmp_path / "there", AWAY, AWAY)
    result = judged(region(tmp_path / "here", IN_STEP, IN_STEP), there)
    assert ("extra_on_mirror", KEPT) in found(result) and result.verdict is Verdict.BROKEN


@pytest.mark.spark
def test_spark_comes_to_the_same(tmp_path: Path, spark: "SparkContext") -> None:
    assert spark.version
    here = region(tmp_path / "here", AWAY, IN_STEP, IN_STEP)
    there = region(tmp_path / "there", IN_STEP)
    for verdict in (Verdict.KEPT, Verdict.BROKEN):
        local, on_spark = judged(here, there), judged(here, there, "spark")
        assert local.verdict is verdict
        assert on_spark.findings == local.findings
        assert on_spark.partitions == local.partitions
        say(here, 1, {})
