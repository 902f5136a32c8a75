"""An audit from end to end on the local engine: ranges, lag, holes, budgets, what is chosen, what is refused."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.engines import AuditProgress
from federation.audit.options import Options
from federation.audit.result import AuditResult, CannotRun, ExitCode
from federation.audit.run import run_audit
from federation.audit.segments.checkpoints import HIGH_WATERMARKS, LOG_STARTS
from federation.audit.verdict.holes import KnownHole
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict
from tests.spark import facts, generate
from tests.spark.cases import NOW_MS, audit

AN_HOUR = {"retention.ms": "3600000"}  # what the generator writes is years old


class Pair:
    """Two regions in a folder; `write` puts a log into one of them."""

    def __init__(self, folder: Path) -> None:
        self.west, self.east = str(folder / "west"), str(folder / "east")
        for side in (self.west, self.east):
            Path(side).mkdir()

    def write(
        self, side: str, made: list[generate.Made], topic: str = "t", partition: int = 0
    ) -> None:
        log = {made[0].base_offset: generate.stored(made)} if made else {}
        generate.write_partition(side, topic, partition, log)

    def both(self, made: list[generate.Made], topic: str = "t", partition: int = 0) -> None:
        for side in (self.west, self.east):
            self.write(side, made, topic, partition)

    def options(self, **changed: object) -> Options:
        options = Options(
            source=facts.region("west", self.west),
            mirror=facts.region("east", self.east),
            engine="local",
            master="local[1]",
        )
        return replace(options, **changed)  # type: ignore[arg-type]

    def audit(self, **changed: object) -> AuditResult:
        return audit(self.options(**changed))

    def only(self, **changed: object) -> tuple[AuditResult, PartitionVerdict]:
        result = self.audit(**changed)
        (row,) = result.partitions
        return result, row


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def made(count: int = 20, start: int = 0, number: int = 1) -> list[generate.Made]:
    return generate.batches(random.Random(number), count, start=start)


def classes(result: AuditResult) -> list[tuple[str, str, int, int]]:
    return [(one.kind.value, one.side.value, *one[2:4]) for one in result.findings]


def test_equal_regions_are_kept_and_every_byte_was_read(pair: Pair) -> None:
    batches = made()
    pair.both(batches)
    result, row = pair.only()
    bytes_ = sum(len(one.encoded()) for one in batches)
    assert (result.verdict, result.exit_code) == (Verdict.KEPT, ExitCode.KEPT)
    assert (row.offsets, row.source_bytes, row.mirror_bytes) == (
        batches[-1].next_offset,
        bytes_,
        bytes_,
    )
    assert (row.batches, row.records) == (20, sum(len(one.rows) for one in batches))
    assert (row.source_coverage, row.mirror_coverage, row.absent_offsets) == (1, 1, 0)
    assert row.source_digest == row.mirror_digest
    assert row.first_differing_offset == -1


def test_lag_is_exact_in_offsets_bytes_and_time_and_no_fault(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[:15])
    result, row = pair.only()
    assert (result.verdict, result.exit_code) == (Verdict.KEPT, ExitCode.KEPT)
    assert row.lag_offsets == batches[-1].next_offset - batches[15].base_offset
    assert row.lag_bytes == sum(len(one.encoded()) for one in batches[15:])
    latest = max(one.first_timestamp + row_.timestamp_delta for one in batches for row_ in one.rows)
    # The source is dead as far as its files say: it took nothing after its newest record.
    assert row.lag_ms == latest - batches[15].first_timestamp
    assert classes(result) == [("lag", "mirror", batches[15].base_offset, batches[-1].next_offset)]


def test_lag_over_a_budget_exits_3_and_says_by_how_much(pair: Pair) -> None:
    pair.write(pair.west, made())
    pair.write(pair.east, made()[:15])
    _, row = pair.only()
    for name, value in (("budget_lag_records", row.lag_offsets), ("budget_lag_ms", row.lag_ms)):
        assert pair.audit(**{name: value}).exit_code is ExitCode.KEPT
        over = pair.audit(**{name: value - 1})
        assert over.exit_code is ExitCode.OVER_BUDGET
        assert over.verdict is Verdict.KEPT
        assert over.over_budget[0].startswith(f"t-0: {value} ")


def test_a_fault_outranks_a_budget_and_an_unknown(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    log = generate.stored(batches[:15])
    log[3] = batches[3], generate.flipped(batches[3].encoded(), 9)
    log[9] = batches[9], generate.flipped(batches[9].encoded(), 70)
    generate.write_partition(pair.east, "t", 0, {0: log})
    result, row = pair.only(budget_lag_records=0)
    assert result.exit_code is ExitCode.BROKEN
    assert row.classes == "damaged lag unreadable"
    assert row.unread_offsets == len(batches[3].rows)
    assert row.offsets == row.compared_to - row.unread_offsets


def test_a_mirror_beyond_its_source_is_broken(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches[:15])
    pair.write(pair.east, batches)
    result = pair.audit()
    assert result.exit_code is ExitCode.BROKEN
    assert classes(result) == [
        ("mirror_ahead", "mirror", batches[15].base_offset, batches[-1].next_offset)
    ]


def test_what_one_side_has_expired_is_not_compared_and_no_fault(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[5:])
    result, row = pair.only(mirror=facts.region("east", pair.east, configs=AN_HOUR))
    assert result.exit_code is ExitCode.KEPT
    assert (row.compared_from, row.compared_to) == (batches[5].base_offset, batches[-1].next_offset)
    assert classes(result) == [("expired_on_one_side", "mirror", 0, batches[5].base_offset)]


def test_a_log_start_within_a_batch_counts_offsets_from_there(pair: Pair) -> None:
    batches = [one for one in made(40) if len(one.rows) > 2]
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[4:])
    start = batches[4].base_offset + 2
    generate.write_checkpoint(pair.east, LOG_STARTS, {("t", 0): start})
    result, row = pair.only(mirror=facts.region("east", pair.east, configs=AN_HOUR))
    assert result.exit_code is ExitCode.KEPT
    assert (row.compared_from, row.offsets) == (start, row.compared_to - start)


def test_offsets_that_the_source_never_held_are_counted_apart(pair: Pair) -> None:
    batches = made()
    pair.both(batches[:5] + batches[6:9] + batches[10:])
    result, row = pair.only()
    assert result.exit_code is ExitCode.KEPT
    assert row.absent_offsets == len(batches[5].rows) + len(batches[9].rows)


def test_a_torn_tail_beyond_the_high_watermark_is_no_fault(pair: Pair) -> None:
    batches = made()[:-1]
    pair.both(batches[:-1])
    for side in (pair.west, pair.east):
        path = Path(side) / "t-0" / f"{0:020}.log"
        path.write_bytes(
            path.read_bytes() + batches[-1].encoded()[: 40 if side == pair.west else 90]
        )
        generate.write_checkpoint(side, HIGH_WATERMARKS, {("t", 0): batches[-1].base_offset})
    result, row = pair.only()
    assert (result.exit_code, classes(result)) == (ExitCode.KEPT, [])
    assert row.compared_to == batches[-1].base_offset


def test_a_log_cut_short_below_its_high_watermark_is_missing_on_the_mirror(pair: Pair) -> None:
    batches = made()
    pair.both(batches)
    path = Path(pair.east) / "t-0" / f"{0:020}.log"
    path.write_bytes(path.read_bytes()[:-1])
    generate.write_checkpoint(pair.east, HIGH_WATERMARKS, {("t", 0): batches[-1].next_offset})
    result = pair.audit()
    assert result.exit_code is ExitCode.UNKNOWN
    assert classes(result) == [
        ("unreadable", "mirror", batches[-1].base_offset, batches[-1].next_offset)
    ]
    path.write_bytes(path.read_bytes()[: -len(batches[-1].encoded()) + 1])
    result = pair.audit()
    assert result.exit_code is ExitCode.BROKEN
    assert classes(result) == [
        ("missing_on_mirror", "", batches[-1].base_offset, batches[-1].next_offset)
    ]


def test_a_source_shorter_than_it_promised_leaves_the_rest_unknown(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches[:15])
    pair.write(pair.east, batches)
    end = batches[-1].next_offset
    generate.write_checkpoint(pair.west, HIGH_WATERMARKS, {("t", 0): end})
    result = pair.audit()
    assert result.exit_code is ExitCode.UNKNOWN
    assert classes(result) == [("unreadable", "source", batches[15].base_offset, end)]


def test_holes_that_the_link_owned_up_to_are_kept_and_named(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[:5] + batches[8:])
    start, stop = batches[5].base_offset, batches[8].base_offset
    assert pair.audit().exit_code is ExitCode.BROKEN
    told = pair.audit(holes=(KnownHole("t", 0, start, stop, "expired at the source"),))
    assert told.exit_code is ExitCode.KEPT
    assert classes(told) == [("known_hole", "", start, stop)]
    assert json.loads(told.findings[0].evidence)["cause"] == "expired at the source"
    elsewhere = pair.audit(holes=(KnownHole("t", 1, start, stop, "another partition"),))
    assert elsewhere.exit_code is ExitCode.BROKEN


def test_a_hole_at_the_mirror_s_start_is_known_too(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[8:])
    start = batches[8].base_offset
    told = pair.audit(holes=(KnownHole("t", 0, 0, start, "START_OFFSET_LATEST"),))
    assert classes(told) == [("known_hole", "mirror", 0, start)]


def test_beyond_the_cut_of_a_failover_the_sides_owe_each_other_nothing(pair: Pair) -> None:
    batches = made()
    other = generate.batches(random.Random(9), 10, start=batches[15].base_offset)
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[:15] + other)
    assert pair.audit().exit_code is ExitCode.BROKEN
    stop = batches[15].base_offset
    result, row = pair.only(cuts={("t", 0): stop}, budget_lag_records=0)
    assert result.exit_code is ExitCode.KEPT
    assert (row.compared_to, row.lag_offsets) == (stop, 0)
    assert row.orphan_offsets == batches[-1].next_offset - stop
    assert classes(result) == [("orphan_tail", "source", stop, batches[-1].next_offset)]
    lost = sum(len(one.encoded()) for one in batches[15:])
    assert json.loads(result.findings[0].evidence)["bytes"] == lost


def test_below_a_cut_faults_stay_faults(pair: Pair) -> None:
    batches = made()
    pair.write(pair.west, batches)
    pair.write(pair.east, batches[:4] + batches[5:])
    result = pair.audit(cuts={("t", 0): batches[10].base_offset})
    assert result.exit_code is ExitCode.BROKEN
    pair.write(pair.east, batches[:8])
    short, row = pair.only(cuts={("t", 0): batches[10].base_offset})
    assert short.exit_code is ExitCode.KEPT
    assert row.lag_offsets == batches[10].base_offset - batches[8].base_offset


def test_a_mirror_under_a_prefix_is_compared_with_its_source(pair: Pair) -> None:
    pair.write(pair.west, made())
    pair.write(pair.east, made()[:9], "west.t")
    pair.write(pair.east, made(number=2), "t")
    result, row = pair.only(mirror_prefix="west.")
    assert (result.exit_code, row.topic) == (ExitCode.KEPT, "t")
    stop = made()[5].base_offset
    _, row = pair.only(mirror_prefix="west.", cuts={("west.t", 0): stop})
    assert row.compared_to == stop


def test_two_empty_partitions_are_kept(pair: Pair) -> None:
    pair.both([])
    result, row = pair.only()
    assert (result.exit_code, row.offsets) == (ExitCode.KEPT, 0)


def test_no_difference_found_in_nothing_compared_is_unknown(pair: Pair) -> None:
    pair.write(pair.west, made())
    pair.write(pair.east, [])
    assert pair.audit().exit_code is ExitCode.UNKNOWN
    pair.write(pair.east, made(), partition=1)
    result = pair.audit()
    assert [(row.partition, row.verdict) for row in result.partitions] == [
        (0, Verdict.UNKNOWN),
        (1, Verdict.BROKEN),
    ]


def test_a_partition_that_the_mirror_lacks_is_unknown(pair: Pair) -> None:
    pair.both(made())
    pair.write(pair.west, made(), partition=1)
    result = pair.audit()
    assert [row.verdict for row in result.partitions] == [Verdict.KEPT, Verdict.UNKNOWN]
    assert result.partitions[1].lag_offsets == made()[-1].next_offset


def test_topics_in_common_are_audited_and_internal_ones_never(pair: Pair) -> None:
    for topic in ("a", "b", "__consumer_offsets"):
        pair.both(made(), topic)
    pair.write(pair.west, made(), "only-west")
    pair.write(pair.east, made(), "only-east")
    assert [row.topic for row in pair.audit().partitions] == ["a", "b"]
    assert [row.topic for row in pair.audit(topics=("b",)).partitions] == ["b"]
    assert [row.topic for row in pair.audit(topics=("only*", "a")).partitions] == [
        "a",
        "only-east",
        "only-west",
    ]


@pytest.mark.parametrize("topics", [("nosuch",), ("a", "nosuch*"), ("__consumer_offsets",)])
def test_a_topic_that_is_not_there_is_refused_and_those_that_are_named(
    pair: Pair, topics: tuple[str, ...]
) -> None:
    for topic in ("a", "__consumer_offsets"):
        pair.both(made(), topic)
    with pytest.raises(CannotRun, match=r"no such topic: .*; there are: a$"):
        pair.audit(topics=topics)


def test_regions_with_nothing_in_common_are_refused(pair: Pair) -> None:
    pair.write(pair.west, made(), "one")
    pair.write(pair.east, made(), "two")
    with pytest.raises(CannotRun, match=r"source: one; mirror: two"):
        pair.audit()


def test_a_directory_that_is_not_there_is_refused(pair: Pair) -> None:
    options = pair.options(mirror=AuditedRegion("east", (pair.east + "/nowhere",)))
    with pytest.raises(CannotRun, match=r"nowhere: No such file"):
        audit(options)


def test_a_damaged_checkpoint_is_refused(pair: Pair) -> None:
    pair.both(made())
    (Path(pair.west) / HIGH_WATERMARKS).write_text("??")
    with pytest.raises(CannotRun, match=HIGH_WATERMARKS):
        pair.audit()


def test_a_master_that_the_local_engine_does_not_know_is_refused(pair: Pair) -> None:
    pair.both(made())
    with pytest.raises(CannotRun, match="spark://there:7077"):
        pair.audit(master="spark://there:7077")


def retaining(pair: Pair, times: int) -> AuditProgress:
    """Retention at work: whenever an audit has planned, the source's first file goes."""
    left = [times]

    def planned(size: int) -> None:
        if left[0] > 0:
            left[0] -= 1
            sorted(Path(pair.west, "t-0").glob("*.log"))[0].unlink()

    return AuditProgress(planned, lambda size: None)


def segmented(pair: Pair) -> list[generate.Made]:
    batches = made()
    cuts = {batches[5].base_offset, batches[10].base_offset}
    log = generate.cut_in_segments(generate.stored(batches), cuts)
    for side in (pair.west, pair.east):
        generate.write_partition(side, "t", 0, log)
    return batches


def test_a_file_that_expired_meanwhile_is_found_expired_by_a_second_look(pair: Pair) -> None:
    batches = segmented(pair)
    result = run_audit(pair.options(), lambda: NOW_MS, retaining(pair, 1))
    assert result.exit_code is ExitCode.KEPT
    assert classes(result) == [("expired_on_one_side", "source", 0, batches[5].base_offset)]
    assert result.partitions[0].compared_from == batches[5].base_offset


def test_what_is_gone_at_the_second_look_too_is_unreadable(pair: Pair) -> None:
    batches = segmented(pair)
    result = run_audit(pair.options(), lambda: NOW_MS, retaining(pair, 2))
    assert result.exit_code is ExitCode.UNKNOWN
    start, stop = batches[5].base_offset, batches[10].base_offset
    assert ("unreadable", "source", start, stop) in classes(result)
    assert result.partitions[0].offsets == batches[-1].next_offset - stop
    assert result.partitions[0].source_coverage < 1


def test_the_result_does_not_depend_on_the_time_nor_on_the_run(pair: Pair) -> None:
    pair.write(pair.west, made())
    pair.write(pair.east, made()[:7] + made()[8:])
    assert pair.audit() == pair.audit()
    assert pair.audit().cut.at_ms == NOW_MS
