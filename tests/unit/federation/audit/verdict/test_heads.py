"""What is missing at the head of a log is excused by the ledger, by retention that the data bear out, or not at all."""

import random
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from federation.audit.facts.region_facts import RegionFacts
from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.segments.checkpoints import LOG_STARTS
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.cases import NOW_MS, audit

KEY = ("t", 0)
MADE = generate.batches(random.Random(3), 20)
START = MADE[18].base_offset  # nine tenths are missing
NEVER = {"retention.ms": "-1"}


class Heads:
    """A source, and a mirror that starts later."""

    def __init__(self, folder: Path) -> None:
        self.west, self.east = str(folder / "west"), str(folder / "east")
        generate.write_partition(self.west, *KEY, {0: generate.stored(MADE)})
        late = {START: generate.stored(MADE[18:])}
        self.folder = generate.write_partition(self.east, *KEY, late)

    def audit(self, said: RegionFacts | None) -> AuditResult:
        mirror = facts.region("east", self.east)._replace(facts=said)
        source = facts.region("west", self.west)
        return audit(Options(source=source, mirror=mirror, engine="local", master="local[1]"))

    def said(self, configs: dict[str, str], **said: Any) -> AuditResult:
        return self.audit(facts.facts(self.east, configs=configs, **said))


@pytest.fixture
def regions(tmp_path: Path) -> Heads:
    return Heads(tmp_path)


def found(result: AuditResult) -> list[tuple[str, str, int, int]]:
    return [(one.kind.value, one.side.value, *one[2:4]) for one in result.findings]


def hole(start: int, stop: int, cause: str = "SOURCE_LOG_START") -> dict[str, Any]:
    return {"topic": "t", "partition": 0, "from_offset": start, "to_offset": stop, "cause": cause}


def test_a_head_that_nothing_explains_is_missing(regions: Heads) -> None:
    result = regions.said(NEVER)
    assert (result.verdict, found(result)) == (
        Verdict.BROKEN,
        [("missing_on_mirror", "", 0, START)],
    )


def test_a_raised_log_start_is_no_excuse(tmp_path: Path) -> None:
    """Both hold everything; the mirror's checkpoint says that nine tenths are not there."""
    west, east = str(tmp_path / "west"), str(tmp_path / "east")
    for side in (west, east):
        generate.write_partition(side, *KEY, {0: generate.stored(MADE)})
    generate.write_checkpoint(east, LOG_STARTS, {KEY: START})
    source, mirror = facts.region("west", west), facts.region("east", east, configs=NEVER)
    result = audit(Options(source=source, mirror=mirror, engine="local", master="local[1]"))
    assert found(result) == [("missing_on_mirror", "", 0, START)]


def test_a_region_that_cannot_be_asked_is_neither_kept_nor_accused(regions: Heads) -> None:
    result = regions.audit(None)
    assert result.verdict is Verdict.UNKNOWN
    assert found(result) == [("not_asked", "mirror", 0, MADE[-1].next_offset)]


def test_the_mirror_s_own_retention_explains_what_is_old_enough(regions: Heads) -> None:
    newest = max(one.first_timestamp + row.timestamp_delta for one in MADE for row in one.rows)
    enough = regions.said({"retention.ms": str(NOW_MS - newest - 1)})
    assert (enough.verdict, found(enough)) == (
        Verdict.KEPT,
        [("expired_on_one_side", "mirror", 0, START)],
    )


def test_what_is_younger_than_retention_is_missing_from_there_on(regions: Heads) -> None:
    newest = list(accumulate((one.max_timestamp for one in MADE), max))
    young = next(one for one, t in zip(MADE[6:], newest[5:], strict=False) if one.max_timestamp > t)
    edge = max(young.first_timestamp + row.timestamp_delta for row in young.rows)
    result = regions.said({"retention.ms": str(NOW_MS - edge)})
    assert found(result) == [
        ("expired_on_one_side", "mirror", 0, young.base_offset),
        ("missing_on_mirror", "", young.base_offset, START),
    ]


def test_retention_by_size_explains_only_what_leaves_that_much(regions: Heads) -> None:
    left = sum(len(one.encoded()) for one in MADE[18:])
    assert regions.said({**NEVER, "retention.bytes": str(left)}).verdict is Verdict.KEPT
    assert regions.said({**NEVER, "retention.bytes": str(left + 1)}).verdict is Verdict.BROKEN


def test_compaction_alone_deletes_no_head(regions: Heads) -> None:
    assert (
        regions.said({"cleanup.policy": "compact", "retention.ms": "1"}).verdict is Verdict.BROKEN
    )


@pytest.mark.parametrize("start", [0, START])
def test_a_start_at_latest_needs_no_file(regions: Heads, start: int) -> None:
    """The ledger holds it, as a skipped range or, where the log was empty then, as the offset alone."""
    result = regions.said(NEVER, holes=[hole(start, START, "START_OFFSET_LATEST")])
    assert (result.verdict, found(result)) == (
        Verdict.KEPT,
        [("known_hole", "mirror", 0, START)],
    )


def test_a_mirror_of_which_everything_is_in_the_ledger_owes_nothing(tmp_path: Path) -> None:
    """It started at latest, and was failed over before another record came."""
    regions = Heads(tmp_path)
    end = MADE[-1].next_offset
    generate.write_partition(regions.east, "u", 0, {end: []})
    generate.write_partition(regions.west, "u", 0, {0: generate.stored(MADE)})
    for known, verdict in ((end, Verdict.KEPT), (end - 1, Verdict.BROKEN)):
        holes = [{**hole(known, known, "START_OFFSET_LATEST"), "topic": "u"}]
        result = regions.said(NEVER, holes=holes)
        assert [one.verdict for one in result.partitions if one.topic == "u"] == [verdict]


def test_a_partition_made_after_the_cut_owes_nothing(tmp_path: Path) -> None:
    regions = Heads(tmp_path)
    for folder, count in ((regions.west, 20), (regions.east, 7)):
        made = generate.batches(random.Random(count), count)
        generate.write_partition(folder, "t", 1, {0: generate.stored(made)})
    cut = [{"partition": 0, "offset": MADE[-1].next_offset}]
    mirrors = [{"mirror_topic": "t", "state": "STOPPED", "cut": cut}]
    holes = [hole(0, START)]
    rows = regions.said(NEVER, mirrors=mirrors, holes=holes).partitions
    assert [(one.verdict, one.compared_to) for one in rows] == [
        (Verdict.KEPT, MADE[-1].next_offset),
        (Verdict.KEPT, 0),
    ]
    assert rows[1].orphan_offsets > 0


def test_the_ledger_excuses_its_own_range_and_nothing_beside_it(regions: Heads) -> None:
    first, second = MADE[4].base_offset, MADE[9].base_offset
    result = regions.said(NEVER, holes=[hole(first, second)])
    assert found(result) == [
        ("missing_on_mirror", "", 0, first),
        ("known_hole", "mirror", first, second),
        ("missing_on_mirror", "", second, START),
    ]


def test_a_ledger_of_another_topic_excuses_nothing(regions: Heads) -> None:
    other = {**hole(0, START), "topic": "u"}
    assert regions.said(NEVER, holes=[other]).verdict is Verdict.BROKEN


def test_what_the_source_has_dropped_is_no_fault_of_the_mirror(regions: Heads) -> None:
    source = facts.region("east", regions.east, configs=NEVER)
    mirror = facts.region("west", regions.west, configs=NEVER)
    result = audit(Options(source=source, mirror=mirror, engine="local", master="local[1]"))
    assert (result.verdict, found(result)) == (
        Verdict.KEPT,
        [("expired_on_one_side", "source", 0, START)],
    )


@pytest.mark.parametrize(
    ("configs", "verdict", "kind"),
    [
        (NEVER, Verdict.BROKEN, "replica_divergent"),
        ({"retention.ms": "1"}, Verdict.KEPT, "expired_on_one_side"),
    ],
)
def test_a_replica_that_starts_later_than_the_others_is_judged_alike(
    tmp_path: Path, configs: dict[str, str], verdict: Verdict, kind: str
) -> None:
    nodes = []
    for node in range(2):
        path = tmp_path / f"west{node}"
        path.mkdir()
        (path / "meta.properties").write_text(f"version=1\nnode.id={node}\n")
        nodes.append(str(path))
    for path, first in zip(nodes, (0, 18), strict=True):
        log = {MADE[first].base_offset: generate.stored(MADE[first:])}
        generate.write_partition(path, *KEY, log)
    east = str(tmp_path / "east")
    generate.write_partition(east, *KEY, {0: generate.stored(MADE)})
    source = facts.region("west", *nodes, isr={KEY: [0, 1]}, configs=configs)
    mirror = facts.region("east", east)
    result = audit(Options(source=source, mirror=mirror, engine="local", master="local[1]"))
    (finding,) = result.findings
    assert (result.verdict, finding.kind, finding.replica) == (verdict, kind, "source node 1")
    assert (finding.from_offset, finding.to_offset) == (0, START)


@pytest.mark.parametrize(
    ("existing", "holes", "verdict"),
    [
        ("a", [{"topic_id": "a"}], Verdict.KEPT),
        ("a", [{}], Verdict.KEPT),
        ("a", [{"topic_id": "b"}], Verdict.BROKEN),
        ("a", [{"topic_id": "b", "deleted_at_ms": 7}], Verdict.BROKEN),
        (None, [{"topic_id": "b", "deleted_at_ms": 7}], Verdict.KEPT),
        (None, [{"topic_id": one, "deleted_at_ms": 7} for one in "bc"], Verdict.UNKNOWN),
    ],
)
def test_the_ledger_of_another_topic_of_that_name_excuses_nothing(
    regions: Heads, existing: str | None, holes: list[dict[str, Any]], verdict: Verdict
) -> None:
    """A topic may be deleted and made anew; of one that is gone, its own ledger speaks for a copy of its data."""
    said = facts.facts(regions.east, configs=NEVER).model_dump(by_alias=True)
    (topic,) = said["topics"]
    said["topics"] = [{**topic, "topic_id": existing}] if existing else []
    said["holes"] = [{**hole(0, START), **one} for one in holes]
    mirror = facts.region("east", regions.east)._replace(facts=RegionFacts.model_validate(said))
    source = facts.region("west", regions.west)
    result = audit(
        Options(
            source=source,
            mirror=mirror,
            engine="local",
            master="local[1]",
            replicas=ReplicaSelection.ALL,
        )
    )
    assert result.verdict is verdict
