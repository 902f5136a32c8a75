"""Compacted topics of which no directory is at hand: brokers say up to where their logs were compacted."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from brokers.records.batch import iter_headers
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.segments.compaction import Compaction, Compactions
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts
from tests.spark.cases import NOW_MS, audit
from tests.spark.compacted import AT_ONCE, LATER, Put, history, written
from tests.spark.test_compacted import (
    COUNT,
    DELETED,
    LAST_LIVE,
    ROLLS,
    changed,
    cleaning_between,
    found,
    missed_by_the_winner,
    regions,
    without,
)
from tests.unit.federation.audit.fetch.broker import Broker

if TYPE_CHECKING:
    from pyspark import SparkContext

KEY = ("flights", 0)
Sides = tuple[AuditedRegion, AuditedRegion]


class Stored(NamedTuple):
    """A batch out of a file."""

    base_offset: int
    next_offset: int
    data: bytes

    def encoded(self) -> bytes:
        return self.data


def batches(folder: Path) -> list[Stored]:
    whole = b"".join(path.read_bytes() for path in sorted((folder / "flights-0").glob("*.log")))
    return [
        Stored(one.base_offset, one.next_offset, whole[position : position + one.length])
        for position, one in iter_headers(whole)
    ]


class Served:
    """Brokers that serve what directories hold."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.brokers: dict[str, Broker] = {}

    def region(self, folder: Path) -> AuditedRegion:
        broker = self.brokers[folder.name] = Broker(KEY, batches(folder))
        self._stack.callback(broker.close)
        broker.log_start = 0  # whatever compaction has left of it
        broker.compaction = Compactions(str(folder)).of(KEY)
        said = facts.facts(isr={KEY: [1]}, configs={"cleanup.policy": "compact"})
        return AuditedRegion(folder.name, (), broker.address, said)


@pytest.fixture
def served() -> Iterator[Served]:
    with ExitStack() as stack:
        yield Served(stack)


def options(sides: Sides, *, engine: str = "local", **more: object) -> Options:
    source, mirror = sides
    return Options(source=source, mirror=mirror, engine=engine, master="local[1]", **more)  # type: ignore[arg-type]


def judged(
    served: Served, folders: tuple[Path, Path], *, engine: str = "local", **more: object
) -> AuditResult:
    west, east = folders
    return audit(options((served.region(west), served.region(east)), engine=engine, **more))


@pytest.mark.parametrize(
    ("source_cleaned", "mirror_cleaned"), [(59, 59), (41, 59), (59, 41), (59, None)]
)
def test_logs_that_were_cleaned_apart_from_one_another_agree(
    tmp_path: Path, served: Served, source_cleaned: int, mirror_cleaned: int | None
) -> None:
    folders = regions(tmp_path, history(COUNT), mirror_cleaned, source_cleaned)
    result = judged(served, folders)
    assert found(result) == [] and result.verdict is Verdict.KEPT
    (row,) = result.partitions
    assert (row.compared_from, row.compared_to, row.offsets) == (0, COUNT, COUNT)
    one, other = (facts.region(side.name, str(side)) for side in folders)
    (by_file,) = audit(options((one, other))).partitions
    for name in ("records", "batches", "source_digest", "mirror_digest"):
        assert getattr(row, name) == getattr(by_file, name)


@pytest.mark.parametrize("cleaned", [59, None])
@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        (without(LAST_LIVE), [("missing_on_mirror", LAST_LIVE)]),
        (changed(LAST_LIVE, b"other"), [("divergent", LAST_LIVE)]),
        (without(DELETED), [("missing_on_mirror", DELETED)]),
        (changed(57, b"other"), [("divergent", 57)]),  # above what was compacted
        (without(56), [("missing_on_mirror", 56)]),
    ],
)
def test_what_is_damaged_is_found(
    tmp_path: Path,
    served: Served,
    mirror: Sequence[Put],
    expected: list[tuple[str, int]],
    cleaned: int | None,
) -> None:
    result = judged(served, regions(tmp_path, mirror, cleaned))
    assert found(result) == expected and result.verdict is Verdict.BROKEN


def test_a_key_that_came_back_to_life_is_found_unless_the_ledger_knows_of_it(
    tmp_path: Path, served: Served
) -> None:
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: AT_ONCE})
    east = written(tmp_path / "east", without(DELETED), rolls=ROLLS, cleanings={59: LATER})
    result = judged(served, (west, east))
    assert found(result) == [("extra_on_mirror", 46)] and result.verdict is Verdict.BROKEN
    known = KnownHole("flights", 0, 47, 54, "SOURCE_REMOVED_MARKERS")
    assert found(judged(served, (west, east), holes=(known,))) == [("known_stale", 46)]


def test_a_marker_that_the_source_missed_as_a_mirror_is_in_its_own_ledger(
    tmp_path: Path, served: Served
) -> None:
    east, west = missed_by_the_winner(tmp_path)
    assert found(judged(served, (east, west))) == [("missing_on_mirror", 46)]
    known = KnownHole("flights", 0, 47, 54, "SOURCE_REMOVED_MARKERS")
    excused = judged(served, (east, west), source_holes=(known,))
    assert found(excused) == [("known_stale", 46)] and excused.verdict is Verdict.KEPT


def test_a_mirror_that_is_behind_a_source_that_cleaned_beyond_its_end_is_not_accused(
    tmp_path: Path, served: Served
) -> None:
    west = written(tmp_path / "west", history(COUNT), rolls=ROLLS, cleanings={59: LATER})
    east = written(tmp_path / "east", history(30), rolls=ROLLS)
    result = judged(served, (west, east))
    assert found(result) == [("lag", 30)] and result.verdict is Verdict.KEPT


def test_one_side_from_its_directory_and_the_other_by_fetch(tmp_path: Path, served: Served) -> None:
    west, east = regions(tmp_path, without(LAST_LIVE))
    for sides in (
        (facts.region("west", str(west)), served.region(east)),
        (served.region(west), facts.region("east", str(east))),
    ):
        assert found(audit(options(sides))) == [("missing_on_mirror", LAST_LIVE)]


@pytest.mark.parametrize("is_kafka", [False, True])
def test_of_a_broker_that_does_not_say_it_nothing_is_judged(
    tmp_path: Path, served: Served, is_kafka: bool
) -> None:
    west, east = regions(tmp_path, without(LAST_LIVE))
    sides = served.region(west), served.region(east)
    silent = served.brokers["east"]
    silent.compaction = None
    silent.log_dirs_version = 1 if is_kafka else 4
    result = audit(options(sides))
    assert found(result) == [("not_asked", 0)] and result.verdict is Verdict.UNKNOWN
    evidence = result.findings[0].evidence
    assert "mirror node 1" in evidence and "source" not in evidence
    assert "earlier release" in evidence


def test_of_a_topic_that_is_not_compacted_nobody_has_to_say_it(
    tmp_path: Path, served: Served
) -> None:
    west, east = regions(tmp_path, without(LAST_LIVE), None, 0)
    said = facts.facts(isr={KEY: [1]})
    sides = tuple(served.region(one)._replace(facts=said) for one in (west, east))
    for broker in served.brokers.values():
        broker.compaction, broker.log_dirs_version = None, 1
    result = audit(options(sides))  # type: ignore[arg-type]
    assert found(result) == [("missing_on_mirror", LAST_LIVE)]


def test_what_a_cleaning_may_have_changed_meanwhile_is_looked_at_again(
    tmp_path: Path, served: Served
) -> None:
    """West was compacted, and says so only after its log was read."""
    west, east = regions(tmp_path, history(COUNT), None)
    asked = options((served.region(west), served.region(east)))
    broker = served.brokers["west"]
    truth = broker.compaction

    def says(*compaction: int) -> None:
        broker.compaction = Compaction(*compaction)

    says(0, 0)
    assert audit(asked).verdict is Verdict.BROKEN
    once = cleaning_between([lambda: setattr(broker, "compaction", truth)])
    assert run_audit(asked, lambda: NOW_MS, once).verdict is Verdict.KEPT
    for acts in ([(20, 0), (40, 0)], [(0, 9), (0, 12)]):  # of markers alone, too
        says(0, 0)
        twice = cleaning_between([lambda one=one: says(*one) for one in acts])  # type: ignore[misc]
        result = run_audit(asked, lambda: NOW_MS, twice)
        assert result.verdict is Verdict.UNKNOWN
        assert {kind for kind, _ in found(result)} == {"unreadable"}


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_difference_in_a_compacted_topic_is_not_final_once_its_broker_is_silent(
    tmp_path: Path, served: Served, is_compacted: bool
) -> None:
    """The log was never compacted when it was first asked for, and may have been while it was read."""
    west, east = regions(tmp_path, without(LAST_LIVE), None, 0)
    sides = served.region(west), served.region(east)
    if not is_compacted:
        said = facts.facts(isr={KEY: [1]})
        sides = sides[0]._replace(facts=said), sides[1]._replace(facts=said)
    silent = served.brokers["west"]
    once = cleaning_between([lambda: setattr(silent, "log_dirs_version", 0)])
    result = run_audit(options(sides), lambda: NOW_MS, once)
    kinds = {kind for kind, _ in found(result)}
    assert kinds == ({"unreadable"} if is_compacted else {"missing_on_mirror"})
    assert result.verdict is (Verdict.UNKNOWN if is_compacted else Verdict.BROKEN)


@pytest.mark.spark
def test_spark_comes_to_the_same(tmp_path: Path, served: Served, spark: "SparkContext") -> None:
    assert spark.version
    for number, mirror in enumerate((history(COUNT), without(LAST_LIVE, DELETED), history(30))):
        (tmp_path / str(number)).mkdir()
        folders = regions(tmp_path / str(number), mirror)
        local, on_spark = (judged(served, folders, engine=one) for one in ("local", "spark"))
        assert on_spark.findings == local.findings
        assert on_spark.partitions == local.partitions
    known = KnownHole("flights", 0, 47, 54, "SOURCE_REMOVED_MARKERS")
    (tmp_path / "missed").mkdir()
    folders = missed_by_the_winner(tmp_path / "missed")
    excused = judged(served, folders, engine="spark", source_holes=(known,))
    assert found(excused) == [("known_stale", 46)] and excused.verdict is Verdict.KEPT
