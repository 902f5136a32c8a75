"""Files that are lost, overlap or lead astray are classes of their own, with their offsets."""

import random
import struct
from pathlib import Path

import pytest

from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments.checkpoints import CLEAN_SHUTDOWN, HIGH_WATERMARKS, RECOVERY_POINTS
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import KEY, SIDES, Sides
from tests.spark.plants import Stored

TIME_ENTRY = struct.Struct(">qi")


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


def test_a_time_index_is_judged_without_any_offset_index(tmp_path: Path) -> None:
    """Nothing says where a walk should take note of batches: they are found from the segment's start."""
    sides = Sides(tmp_path, random.Random(1))
    for path in tmp_path.rglob("*.index"):
        path.unlink()
    path = min(sides.folders["east"].glob("*.timeindex"))
    data = bytearray(path.read_bytes())
    timestamp, offset = TIME_ENTRY.unpack_from(data)
    TIME_ENTRY.pack_into(data, 0, timestamp - 1, offset)
    path.write_bytes(data)
    assert kinds_at(sides) == [("index_damaged", "mirror")]


def test_no_batch_is_searched_from_a_negative_position(tmp_path: Path) -> None:
    """The first entry of the mirror's offset indexes, in one after another."""
    for number in range(6):
        sides = Sides(tmp_path / str(number), random.Random(1))
        path = sorted(sides.folders["east"].glob("*.index"))[number]
        data = bytearray(path.read_bytes())
        struct.pack_into(">i", data, 4, -5)
        path.write_bytes(data)
        assert kinds_at(sides) == [("index_damaged", "mirror")]


@pytest.mark.parametrize("byte", [41, 25], ids=["largest timestamp", "last offset delta"])
def test_a_damaged_batch_is_no_fault_of_the_index_that_names_it(tmp_path: Path, byte: int) -> None:
    """The mirror's one file is read by several units, and those behind the batch do not know that it is damaged."""
    for number in range(9, 15):
        sides = Sides(tmp_path / str(number), random.Random(1))
        log = sides.log()
        log[number] = log[number][0], generate.flipped(log[number][1], byte, 5)
        in_one_segment(sides, log)
        assert kinds_at(sides) == [("damaged", "mirror")], number


@pytest.mark.parametrize("falls", [True, False])
def test_a_time_index_whose_offsets_fall_is_damaged(tmp_path: Path, falls: bool) -> None:
    """Though each entry leads to its batch: Kafka refuses such an entry, and truncates by binary search in offsets."""
    sides = Sides(tmp_path, random.Random(1))
    log = sides.log()
    log[12:14] = reversed(log[12:14])
    in_one_segment(sides, log)
    entries = [(one.max_timestamp, one.next_offset - 1) for one, _ in log[12:14]]
    written = entries if falls else entries[:1]
    path = sides.folders["east"] / f"{0:020}.timeindex"
    path.write_bytes(b"".join(TIME_ENTRY.pack(*one) for one in written))
    expected = [("index_damaged", "mirror")] * falls + [("out_of_order", "mirror")]
    assert kinds_at(sides) == expected


def in_one_segment(sides: Sides, log: list[Stored]) -> None:
    """The mirror's log, in place of what it has."""
    for path in sides.folders["east"].iterdir():
        path.unlink()
    generate.write_partition(
        str(sides.folders["east"].parent), *KEY, generate.cut_in_segments(log, set())
    )


def kinds_at(sides: Sides) -> list[tuple[str, str]]:
    return sorted((one.kind.value, one.side.value) for one in sides.audit().findings)


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
