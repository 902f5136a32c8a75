"""A compacted mirror is judged by key below what either side has cleaned, and byte for byte above."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from federation.audit.engines import AuditProgress
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.verdict.holes import MISSED_MARKERS, KnownHole
from federation.audit.verdict.verdicts import Verdict
from federation.commands.audit.command import audit as command
from tests.spark import facts
from tests.spark.cases import NOW_MS, audit
from tests.spark.compacted import AT_ONCE, LATER, Put, history, written

if TYPE_CHECKING:
    from pyspark import SparkContext

COUNT, ROLLS = 60, (20, 40, 55)
Sides = tuple[Path, Path]


def audit_options(source: Path, mirror: Path, *, engine: str = "local", **more: object) -> Options:
    return Options(
        source=facts.region("west", str(source)),
        mirror=facts.region("east", str(mirror)),
        engine=engine,
        master="local[1]",
        **more,  # type: ignore[arg-type]
    )


def judged(source: Path, mirror: Path, *, engine: str = "local", **more: object) -> AuditResult:
    return audit(audit_options(source, mirror, engine=engine, **more))


def found(result: AuditResult) -> list[tuple[str, int]]:
    return [(one.kind.value, one.from_offset) for one in result.findings]


def regions(
    tmp_path: Path, mirror: Sequence[Put], cleaned: int | None = 59, source_cleaned: int = 59
) -> tuple[Path, Path]:
    """The source has it all; the mirror's history is given, each cleaned below the segment of that offset."""
    west = written(
        tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={source_cleaned: LATER}
    )
    cleanings = {} if cleaned is None else {cleaned: LATER}
    return west, written(tmp_path / "east", mirror, rolls=ROLLS, cleanings=cleanings)


def without(*offsets: int) -> list[Put]:
    return [one for one in history(COUNT) if one.offset not in offsets]


def changed(offset: int, value: bytes | None) -> list[Put]:
    return [one._replace(value=value) if one.offset == offset else one for one in history(COUNT)]


LAST_LIVE = 49  # of key-0, below what is clean (55); 56 is its next
DELETED = 53  # a marker of key-4, whose record before it is 46


@pytest.mark.parametrize(
    ("source_cleaned", "mirror_cleaned"), [(59, 59), (41, 59), (59, 41), (59, None)]
)
def test_logs_that_were_cleaned_apart_from_one_another_agree(
    tmp_path: Path, source_cleaned: int, mirror_cleaned: int | None
) -> None:
    west, east = regions(tmp_path, history(COUNT), mirror_cleaned, source_cleaned)
    result = judged(west, east)
    assert found(result) == [] and result.verdict is Verdict.KEPT
    (row,) = result.partitions
    assert (row.compared_from, row.compared_to, row.offsets) == (0, COUNT, COUNT)


def test_a_region_may_have_removed_markers_that_the_other_has(tmp_path: Path) -> None:
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: AT_ONCE})
    for name, cleanings in (("late", {59: LATER}), ("not", {})):
        east = written(tmp_path / name, history(COUNT), rolls=ROLLS, cleanings=cleanings)
        assert found(judged(west, east)) == [] == found(judged(east, west))


@pytest.mark.parametrize("cleaned", [59, None])
@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        (without(LAST_LIVE), [("missing_on_mirror", LAST_LIVE)]),  # an older value, or none
        (changed(LAST_LIVE, b"other"), [("divergent", LAST_LIVE)]),
        (without(DELETED), [("missing_on_mirror", DELETED)]),  # what it deleted is there again
    ],
)
def test_what_is_damaged_below_the_clean_point_is_found(
    tmp_path: Path,
    mirror: Sequence[Put],
    expected: list[tuple[str, int]],
    cleaned: int | None,
) -> None:
    result = judged(*regions(tmp_path, mirror, cleaned))
    assert found(result) == expected and result.verdict is Verdict.BROKEN


def test_a_marker_that_only_the_mirror_missed_is_found_after_the_source_removed_it(
    tmp_path: Path,
) -> None:
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: AT_ONCE})
    east = written(tmp_path / "east", without(DELETED), rolls=ROLLS, cleanings={59: LATER})
    result = judged(west, east)
    assert found(result) == [("extra_on_mirror", 46)] and result.verdict is Verdict.BROKEN
    known = KnownHole("flights", 0, 47, 54, "SOURCE_REMOVED_MARKERS")
    excused = judged(west, east, holes=(known,))
    assert found(excused) == [("known_stale", 46)] and excused.verdict is Verdict.KEPT
    # It explains nothing else.
    lost = written(tmp_path / "lost", without(LAST_LIVE), rolls=ROLLS, cleanings={59: LATER})
    assert judged(west, lost, holes=(known,)).verdict is Verdict.BROKEN


def missed_by_the_winner(tmp_path: Path, old_primary: Sequence[Put] | None = None) -> Sides:
    """East missed a deletion marker, was failed over to, and is the source; west, the old primary, is its mirror."""
    east = written(tmp_path / "east", without(DELETED), rolls=ROLLS, cleanings={59: LATER})
    before = history(COUNT) if old_primary is None else old_primary
    return east, written(tmp_path / "west", before, rolls=ROLLS, cleanings={59: AT_ONCE})


def test_a_marker_that_the_source_missed_as_a_mirror_is_in_its_own_ledger(tmp_path: Path) -> None:
    east, west = missed_by_the_winner(tmp_path)
    assert found(judged(east, west)) == [("missing_on_mirror", 46)]
    known = KnownHole("flights", 0, 47, 54, MISSED_MARKERS)
    excused = judged(east, west, source_holes=(known,))
    assert found(excused) == [("known_stale", 46)] and excused.verdict is Verdict.KEPT
    # A doubt that comes later, of a range within, is not recorded again: the record may lie in it.
    again = known._replace(from_offset=40)
    assert judged(east, west, source_holes=(again,)).verdict is Verdict.KEPT
    # West never missed anything, and a range that ends before the marker may lie explains nothing.
    assert judged(east, west, holes=(known,)).verdict is Verdict.BROKEN
    before = known._replace(from_offset=40, to_offset=47)
    assert judged(east, west, source_holes=(before,)).verdict is Verdict.BROKEN
    (tmp_path / "lost").mkdir()
    lost = missed_by_the_winner(tmp_path / "lost", without(LAST_LIVE, 56))
    result = judged(*lost, source_holes=(known._replace(to_offset=LAST_LIVE),))
    assert ("missing_on_mirror", 56) in found(result) and result.verdict is Verdict.BROKEN


def test_the_ledger_comes_with_the_facts_of_the_source(tmp_path: Path) -> None:
    east, west = missed_by_the_winner(tmp_path)
    hole = {"topic": "flights", "partition": 0, "from_offset": 47, "to_offset": 54}
    ledger = [{**hole, "cause": MISSED_MARKERS}]
    asked = audit_options(east, west)
    told = facts.region("east", str(east), holes=ledger)
    assert found(audit(replace(asked, source=told))) == [("known_stale", 46)]
    elsewhere = facts.region("east", str(east), holes=[{**ledger[0], "partition": 1}])
    assert found(audit(replace(asked, source=elsewhere))) == [("missing_on_mirror", 46)]


def test_the_ledger_of_a_source_that_can_t_be_asked_is_given_in_a_file(tmp_path: Path) -> None:
    east, west = missed_by_the_winner(tmp_path)
    hole = {"topic": "flights", "partition": 0, "from": 47, "to": 54, "cause": MISSED_MARKERS}
    (tmp_path / "holes").write_text(json.dumps([hole]))
    sides = {}
    for name, folder in (("source", east), ("mirror", west)):
        said = facts.region(name, str(folder)).facts
        assert said is not None
        (tmp_path / name).write_text(said.model_dump_json(by_alias=True))
        sides[name] = [f"--{name}-dir", str(folder), f"--{name}-facts", str(tmp_path / name)]
    given = ["run", *sides["source"], *sides["mirror"], "--engine", "local", "--json"]
    for more, code in (([], 1), (["--source-holes", str(tmp_path / "holes")], 0)):
        output = ["--out", str(tmp_path / f"out{code}")]
        assert CliRunner().invoke(command, [*given, *output, *more]).exit_code == code


@pytest.mark.parametrize(("missed", "verdict"), [((50, 54), "KEPT"), ((54, 59), "BROKEN")])
def test_a_marker_that_only_one_side_missed_and_the_other_still_has(
    tmp_path: Path, missed: tuple[int, int], verdict: str
) -> None:
    """Another replica of west removed it, of which east was a mirror then."""
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: LATER})
    east = written(tmp_path / "east", without(DELETED), rolls=ROLLS, cleanings={59: LATER})
    known = KnownHole("flights", 0, *missed, MISSED_MARKERS)
    for result in (judged(west, east, holes=(known,)), judged(east, west, source_holes=(known,))):
        assert result.verdict is Verdict[verdict]
        assert [offset for _, offset in found(result)] == [DELETED]
    for result in (judged(west, east, source_holes=(known,)), judged(east, west, holes=(known,))):
        assert result.verdict is Verdict.BROKEN


def test_above_the_clean_points_every_byte_counts(tmp_path: Path) -> None:
    for name, mirror, expected in (
        ("value", changed(57, b"other"), ("divergent", 57)),
        ("gone", without(56), ("missing_on_mirror", 56)),
    ):
        (tmp_path / name).mkdir()
        result = judged(*regions(tmp_path / name, mirror))
        assert found(result) == [expected] and result.verdict is Verdict.BROKEN


def test_a_superseded_record_that_both_have_is_compared_too(tmp_path: Path) -> None:
    result = judged(*regions(tmp_path, changed(50, b"other"), None, 41))
    assert ("divergent", 50) in found(result)


def test_a_mirror_that_is_behind_a_source_that_cleaned_beyond_its_end_is_not_accused(
    tmp_path: Path,
) -> None:
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: LATER})
    east = written(tmp_path / "east", history(30), rolls=ROLLS)
    result = judged(west, east)
    assert found(result) == [("lag", 30)] and result.verdict is Verdict.KEPT
    damaged = written(tmp_path / "damaged", [*history(20), Put(25, b"invented", b"x")], rolls=ROLLS)
    found_there = found(judged(west, damaged))
    assert ("not_asked", 25) in found_there  # it may have been deleted in what the mirror lacks


def test_damaged_bytes_below_the_clean_point_are_damage(tmp_path: Path) -> None:
    west, east = regions(tmp_path, history(COUNT))
    (log,) = [
        one for one in sorted((east / "flights-0").glob("*.log")) if one.name.startswith("0" * 20)
    ]
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    result = judged(west, east)
    assert result.verdict is Verdict.BROKEN
    assert "damaged" in {kind for kind, _ in found(result)}


def bare(folder: Path) -> Path:
    """A copy of the partition's folder alone."""
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder / "flights-0", copy / "flights-0")
    return copy


def test_a_copy_without_checkpoint_files_is_judged_by_the_facts_that_were_kept_with_it(
    tmp_path: Path,
) -> None:
    west, east = (bare(one) for one in regions(tmp_path, history(COUNT), None))
    compacted = {"cleanup.policy": "compact"}
    silent = [facts.region(one.name, str(one), configs=compacted) for one in (west, east)]
    result = audit(Options(source=silent[0], mirror=silent[1], engine="local"))
    assert found(result) == [("not_asked", 0)] and result.verdict is Verdict.UNKNOWN
    assert "facts that were taken with the copy" in result.findings[0].evidence
    told = [
        facts.region(
            one.name,
            str(one),
            configs=compacted,
            partition={"complete_from": [{"replica": 0, "offset": offset}]},
        )
        for one, offset in ((west, 55), (east, 0))
    ]
    result = audit(Options(source=told[0], mirror=told[1], engine="local"))
    assert found(result) == [] and result.verdict is Verdict.KEPT


@pytest.mark.spark
def test_spark_comes_to_the_same(tmp_path: Path, spark: "SparkContext") -> None:
    assert spark.version
    for number, mirror in enumerate((history(COUNT), without(LAST_LIVE, DELETED), history(30))):
        (tmp_path / str(number)).mkdir()
        west, east = regions(tmp_path / str(number), mirror)
        local, on_spark = judged(west, east), judged(west, east, engine="spark")
        assert on_spark.findings == local.findings
        assert on_spark.partitions == local.partitions


def cleaning_between(acts: list[Callable[[], None]]) -> AuditProgress:
    """One of the acts in each round, while its units are compared."""
    due: list[Callable[[], None]] = []

    def planned(size: int) -> None:
        due[:] = acts[:1]
        del acts[:1]

    def compared(size: int) -> None:
        while due:
            due.pop()()

    return AuditProgress(planned, compared)


def clean_point(folder: Path, offset: int) -> None:
    (folder / "complete-from-offset-checkpoint").write_text(f"0\n1\nflights 0 {offset}\n")


def test_what_a_cleaning_may_have_changed_meanwhile_is_looked_at_again(tmp_path: Path) -> None:
    west, east = regions(tmp_path, history(COUNT))
    clean_point(west, 0)
    clean_point(east, 0)
    for folder in (west, east):
        (folder / "cleaner-offset-checkpoint").unlink()
    assert judged(west, east).verdict is Verdict.KEPT  # they were cleaned alike
    (tmp_path / "other").mkdir()
    west, east = regions(tmp_path / "other", history(COUNT), None)
    (west / "cleaner-offset-checkpoint").unlink()
    clean_point(west, 0)
    assert judged(west, east).verdict is Verdict.BROKEN
    options = audit_options(west, east)
    once = cleaning_between([lambda: clean_point(west, 55)])
    assert run_audit(options, lambda: NOW_MS, once).verdict is Verdict.KEPT
    clean_point(west, 0)
    twice = cleaning_between([lambda: clean_point(west, 20), lambda: clean_point(west, 40)])
    result = run_audit(options, lambda: NOW_MS, twice)
    assert result.verdict is Verdict.UNKNOWN and {kind for kind, _ in found(result)} == {
        "unreadable"
    }
