"""Files that are lost, overlap or lead astray are classes of their own, with their offsets."""

import random
from pathlib import Path

import pytest

from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments.checkpoints import CLEAN_SHUTDOWN, HIGH_WATERMARKS, RECOVERY_POINTS
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import KEY, SIDES, Sides


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("name", sorted(FILE_PLANTS))
@pytest.mark.parametrize("where", SIDES)
def test_each_is_found_as_what_it_is(tmp_path: Path, where: str, name: str, number: int) -> None:
    seed = random.Random(f"{where}{name}{number}")
    sides = Sides(tmp_path, seed)
    kind, start, stop = FILE_PLANTS[name](sides.folders[where], sides.made, seed)
    result = sides.audit()
    (found,) = result.findings
    assert (found.kind, found.side) == (kind, SIDES[where])
    assert start <= found.from_offset <= found.to_offset <= max(stop, start + 1)
    is_lost_at_the_source = (name, where) == ("lost_segment", "west")
    assert result.verdict is (Verdict.UNKNOWN if is_lost_at_the_source else Verdict.BROKEN)


def test_segments_without_indexes_are_legal(tmp_path: Path) -> None:
    sides = Sides(tmp_path, random.Random(1))
    for path in sides.folders["east"].glob("*index"):
        path.unlink()
    assert sides.audit().verdict is Verdict.KEPT


@pytest.mark.parametrize("promised", ["some", "none"])
def test_a_source_whose_files_are_gone_accuses_nobody(tmp_path: Path, promised: str) -> None:
    """Beside a stale checkpoint the mirror looked "ahead"."""
    sides = Sides(tmp_path, random.Random(2))
    west = sides.folders["west"]
    source = facts.region("west", str(west.parent))
    for path in west.iterdir():
        path.unlink()
    if promised == "some":
        generate.write_checkpoint(
            str(west.parent), HIGH_WATERMARKS, {KEY: sides.made[9].base_offset}
        )
    for is_folder_there in (True, False):
        if not is_folder_there:
            west.rmdir()
        result = sides.audit(source=source)
        assert (result.verdict, result.exit_code) == (Verdict.UNKNOWN, 5)
        assert {(one.kind.value, one.side.value) for one in result.findings} == {
            ("unreadable", "source")
        }


def test_a_source_cut_short_below_its_high_watermark_accuses_nobody(tmp_path: Path) -> None:
    sides = Sides(tmp_path, random.Random(3))
    west = sides.folders["west"]
    end = sides.made[-1].next_offset
    generate.write_checkpoint(str(west.parent), HIGH_WATERMARKS, {KEY: end - 1})
    last = sorted(west.glob("*.log"))[-1]
    for path in west.glob(f"{last.stem}.*"):
        path.unlink()
    result = sides.audit()
    assert result.verdict is Verdict.UNKNOWN
    (found,) = result.findings
    assert (found.kind, found.from_offset, found.to_offset) == ("unreadable", int(last.stem), end)


@pytest.mark.parametrize(
    ("is_clean", "recovery_point", "is_found"),
    [(True, 0, True), (False, 0, False), (False, 1 << 40, True), (False, None, False)],
)
def test_an_index_that_a_crashed_node_builds_anew_is_not_judged(
    tmp_path: Path, is_clean: bool, recovery_point: int | None, is_found: bool
) -> None:
    """Kafka recovers what lies above the recovery point unless the node stopped in good order."""
    seed = random.Random(4)
    sides = Sides(tmp_path, seed)
    east = sides.folders["east"]
    FILE_PLANTS["index_position"](east, sides.made, seed)
    (east.parent / META).write_text("node.id=1\ncluster.id=east\n")
    if is_clean:
        (east.parent / CLEAN_SHUTDOWN).touch()
    if recovery_point is not None:
        generate.write_checkpoint(str(east.parent), RECOVERY_POINTS, {KEY: recovery_point})
    found = [one.kind.value for one in sides.audit(replicas=ReplicaSelection.ALL).findings]
    assert found == (["index_damaged"] if is_found else [])
