"""`causeway group reset-offsets`: which offsets it moves, and when it moves none."""

from pathlib import Path

import pytest

from brokers.ids import TopicPartition
from tests.unit.federation.commands.group.region_of_groups import Region

HERE, THERE = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_offsets_are_shown_first_and_moved_when_told_so() -> None:
    region = Region()
    wanted = ("reset-offsets", "billing", "--all-topics", "--shift-by", "-30")
    told = region.told(*wanted)
    assert not told["executed"]
    assert told["offsets"] == [
        {"group": "billing", "topic": "orders", "partition": 0, "old_offset": 90, "new_offset": 60, "error": None}
    ]  # fmt: skip
    assert "--execute moves them" in region.run(*wanted, "--dry-run").output
    assert region.changes == []
    assert region.told(*wanted, "--execute")["executed"]
    assert region.changes == [{HERE: 60}]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--to-earliest",), {HERE: 20, THERE: 0}),
        (("--to-latest",), {HERE: 100, THERE: 40}),
        (("--to-offset", "0"), {HERE: 20, THERE: 0}),
        (("--to-current",), {HERE: 90, THERE: 40}),
        (("--to-datetime", "2026-01-31T08:30:00.000"), {HERE: 60, THERE: 40}),
        (("--by-duration", "PT5M"), {HERE: 60, THERE: 40}),
    ],
)
def test_offsets_are_moved_as_the_option_says(
    options: tuple[str, ...], wanted: dict[TopicPartition, int]
) -> None:
    region = Region()
    region.told("reset-offsets", "billing", "--topic", "orders", *options, "--execute")
    assert region.changes == [wanted]


def test_some_partitions_of_a_topic_may_be_named() -> None:
    region = Region()
    region.told("reset-offsets", "new", "--topic", "orders:1", "--to-earliest", "--execute")
    assert region.changes == [{THERE: 0}], "a group that is none is made, as in Kafka"
    ran = region.run("reset-offsets", "billing", "--topic", "orders:2", "--to-earliest")
    assert "there is no partition orders-2" in ran.output
    assert "orders has the partitions 0 to 1" in ran.output
    ran = region.run("reset-offsets", "billing", "--topic", "nope", "--to-earliest")
    assert (ran.exit_code, "there is no topic nope" in ran.output) == (1, True)


def test_a_plan_is_exported_and_executed(tmp_path: Path) -> None:
    region = Region()
    ran = region.run("reset-offsets", "billing", "--topic", "orders", "--to-latest", "--export")
    assert ran.stdout == "orders,0,100\norders,1,40\n"
    path = tmp_path / "plan.csv"
    path.write_text("orders,1,7\norders,0,5\n")
    region.told("reset-offsets", "billing", "--from-file", str(path), "--execute")
    assert region.changes == [{HERE: 20, THERE: 7}]


def test_nothing_is_moved_while_a_group_has_members() -> None:
    region = Region()
    ran = region.run(
        "reset-offsets", "billing", "live", "--all-topics", "--to-earliest", "--execute"
    )
    assert ran.exit_code == 1
    assert "live is Stable" in ran.output
    assert region.changes == []
    ran = region.run(
        "reset-offsets", "billing", "--topic", "orders", "--shift-by", "1", "--execute"
    )
    assert ran.exit_code == 1
    assert "orders-1 has no committed offset to shift" in ran.output
    assert region.changes == []


def test_a_member_that_joins_meanwhile_is_told_by_partition() -> None:
    told = Region().told(
        "reset-offsets", "raced", "--topic", "orders:0", "--to-latest", "--execute", exit_code=1
    )
    assert told["offsets"][0]["error"] == "UNKNOWN_MEMBER_ID"
