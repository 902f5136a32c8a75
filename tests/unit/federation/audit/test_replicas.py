"""Every replica of both sides is read, and what differs in one of them is found there, in whatever order they come."""

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments.checkpoints import HIGH_WATERMARKS
from federation.audit.verdict.verdicts import Verdict
from tests.quick import some
from tests.spark import generate
from tests.spark.plants import Stored
from tests.spark.replicas import KEY, ONE_SIDED, Regions, damaged, rows, stored


@pytest.mark.parametrize("name", some(ONE_SIDED))
@pytest.mark.parametrize("node", [0, 1, 2])
@pytest.mark.parametrize("side", ["west", "east"])
def test_whatever_is_wrong_with_one_replica_is_found_there(
    tmp_path: Path, name: str, node: int, side: str
) -> None:
    seed = random.Random(f"{name}{node}{side}")
    log = stored(seed, seed.choice(generate.CODECS))
    changed, start, stop = damaged(log, name, seed)
    regions = Regions(tmp_path, log)
    getattr(regions, side).write(node, changed)
    result = regions.audit()
    assert result.verdict is Verdict.BROKEN
    region = {"west": "source", "east": "mirror"}[side]
    for kind, where, replica, from_offset, to_offset in rows(result):
        assert (kind, where, replica) == ("replica_divergent", region, f"{region} node {node}")
        assert start <= from_offset <= to_offset <= stop
    assert result.findings


def test_the_order_of_the_directories_decides_nothing(tmp_path: Path) -> None:
    """Two of three replicas of the source are damaged: the verdict was "kept" or "broken" by their order."""
    seed = random.Random(4)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    for node in (0, 2):
        regions.west.write(node, damaged(log, "damaged_mirror", seed)[0])
    found = {
        (result.verdict, result.findings)
        for order in itertools.permutations(range(3))
        for result in (regions.audit(west=order), regions.audit(east=order))
    }
    ((verdict, findings),) = found
    assert verdict is Verdict.BROKEN
    assert {one.replica for one in findings} == {"source node 0", "source node 2"}


def test_equal_replicas_are_kept_and_the_bytes_of_each_were_read(tmp_path: Path) -> None:
    log = stored(random.Random(1))
    regions = Regions(tmp_path, log)
    for node, cuts in enumerate(
        ({5}, {9, 17}, set[int]())
    ):  # each rolls its segments where it pleases
        bases = {log[number][0].base_offset for number in cuts}
        regions.east.write(node, log, bases)
    result = regions.audit()
    (row,) = result.partitions
    assert (row.verdict, result.findings) == (Verdict.KEPT, ())
    size = sum(len(data) for _, data in log)
    assert (row.source_bytes, row.mirror_bytes) == (3 * size, 3 * size)


def test_two_replicas_that_agree_outvote_a_sound_one_that_does_not(tmp_path: Path) -> None:
    """A checksum that holds over other records: all three copies look sound."""
    seed = random.Random(2)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    regions.west.write(0, damaged(log, "other_value", seed)[0])
    assert {one.replica for one in regions.audit().findings} == {"source node 0"}


def test_a_region_that_agrees_on_something_else_diverges_as_a_whole(tmp_path: Path) -> None:
    seed = random.Random(3)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    changed, start, stop = damaged(log, "other_value", seed)
    for node in range(3):
        regions.east.write(node, changed)
    assert rows(regions.audit()) == [("divergent", "", "", start, stop)]


def _cut_short(log: list[Stored]) -> list[Stored]:
    return log[:20]


def _other_tail(log: list[Stored]) -> list[Stored]:
    made = [one for one, _ in log]
    return generate.stored(
        [*made[:20], *generate.batches(random.Random(9), 5, start=made[20].base_offset)]
    )


@pytest.mark.parametrize("stale", [_cut_short, _other_tail])
def test_a_replica_out_of_sync_is_judged_only_where_it_is_asked_for_and_committed(
    tmp_path: Path, stale: Callable[[list[Stored]], list[Stored]]
) -> None:
    log = stored(random.Random(5))
    regions = Regions(tmp_path, log)
    regions.west.write(1, stale(log))
    own = {KEY: log[15][0].base_offset}
    generate.write_checkpoint(str(regions.west.folders[1]), HIGH_WATERMARKS, own)
    in_sync = regions.west.audited([0, 2])
    assert regions.audit(source=in_sync).verdict is Verdict.KEPT
    everything = regions.audit(source=in_sync, replicas=ReplicaSelection.ALL)
    assert (everything.verdict, everything.findings) == (Verdict.KEPT, ())
    (row,) = everything.partitions
    whole = sum(len(data) for _, data in log)
    assert row.source_bytes == 2 * whole + sum(len(data) for _, data in log[:15])
    assert regions.audit().verdict is Verdict.BROKEN


def test_below_its_own_high_watermark_a_replica_out_of_sync_must_equal_the_others(
    tmp_path: Path,
) -> None:
    seed = random.Random(6)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    changed, _, stop = damaged(log, "other_value", seed)
    regions.west.write(1, changed)
    generate.write_checkpoint(str(regions.west.folders[1]), HIGH_WATERMARKS, {KEY: stop})
    in_sync = regions.west.audited([0, 2])
    assert regions.audit(source=in_sync).verdict is Verdict.KEPT
    found = regions.audit(source=in_sync, replicas=ReplicaSelection.ALL)
    assert [one.replica for one in found.findings] == ["source node 1"]


def test_only_the_leader_is_read_where_that_is_asked_for(tmp_path: Path) -> None:
    seed = random.Random(7)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    regions.west.write(1, damaged(log, "zeros", seed)[0])
    kept = regions.audit(replicas=ReplicaSelection.LEADER)
    assert (kept.verdict, kept.partitions[0].source_bytes) == (
        Verdict.KEPT,
        sum(len(data) for _, data in log),
    )
    broken = regions.audit(source=regions.west.audited([1, 0, 2]), replicas=ReplicaSelection.LEADER)
    assert broken.verdict is not Verdict.KEPT


def test_an_in_sync_replica_whose_directory_is_not_named_is_unknown(tmp_path: Path) -> None:
    regions = Regions(tmp_path, stored(random.Random(8)))
    result = regions.audit(west=(0, 2))
    assert result.verdict is Verdict.UNKNOWN
    assert [row[:3] for row in rows(result)] == [("unreadable", "source", "source node 1")]


def test_without_facts_nobody_knows_which_replicas_matter(tmp_path: Path) -> None:
    regions = Regions(tmp_path, stored(random.Random(8)))
    bare = regions.west.audited([0, 1, 2])._replace(facts=None)
    result = regions.audit(source=bare)
    assert (result.verdict, [row[:2] for row in rows(result)]) == (
        Verdict.UNKNOWN,
        [("not_asked", "source")],
    )
    assert regions.audit(source=bare, replicas=ReplicaSelection.ALL).verdict is Verdict.KEPT


@pytest.mark.parametrize("count", [1, 2])
def test_a_dead_source_owes_what_its_mirror_holds_on_each_of_its_replicas(
    tmp_path: Path, count: int
) -> None:
    """The mirror proves that the high watermark was there; without it the tail of one replica is nobody's promise."""
    log = stored(random.Random(9))
    regions = Regions(tmp_path, log)
    for node in range(count):
        regions.west.write(node, log[:25])
    result = regions.audit()
    assert result.verdict is Verdict.BROKEN
    assert {one.replica for one in result.findings} == {
        f"source node {node}" for node in range(count)
    }
    for node in range(3):
        regions.east.write(node, log[:25])
    quiet = regions.audit()
    assert (quiet.verdict, quiet.findings) == (Verdict.KEPT, ())


def test_of_a_stopped_region_the_eligible_leaders_and_the_last_leader_count(tmp_path: Path) -> None:
    """Orderly stops leave no in-sync replica (KIP-966)."""
    seed = random.Random(10)
    log = stored(seed)
    regions = Regions(tmp_path, log)
    regions.west.write(1, damaged(log, "other_value", seed)[0])
    for field in ("elr", "last_known_elr"):
        for complete, verdict in (([0, 2], Verdict.KEPT), ([0, 1, 2], Verdict.BROKEN)):
            west = regions.west.audited([-1], **{field: complete})
            assert regions.audit(source=west).verdict is verdict
    nobody = regions.audit(source=regions.west.audited([-1]))
    assert (nobody.verdict, nobody.findings[0].kind) == (Verdict.BROKEN, "not_asked")
