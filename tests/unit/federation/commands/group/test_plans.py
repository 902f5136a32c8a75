"""Resets as CSV."""

from pathlib import Path

import pytest

from brokers.ids import TopicPartition
from federation.commands.answers import Failure
from federation.commands.group import plans

HERE, THERE = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.mark.parametrize("groups", [["billing"], ["billing", "mail"]])
def test_what_is_exported_is_read_again(tmp_path: Path, groups: list[str]) -> None:
    plan = {group: {HERE: 5, THERE: 0} for group in groups}
    path = tmp_path / "plan.csv"
    path.write_text(plans.export(plan))
    assert plans.read(path, groups) == plan


def test_the_columns_are_those_of_kafkas_tool(tmp_path: Path) -> None:
    assert plans.export({"billing": {THERE: 7, HERE: 5}}) == "orders,0,5\norders,1,7\n"
    assert plans.export({"a": {HERE: 5}, "b": {HERE: 6}}) == "a,orders,0,5\nb,orders,0,6\n"
    path = tmp_path / "plan.csv"
    path.write_text('"orders",0,5\n\nmail,orders,1,6\n')
    with pytest.raises(Failure, match="the group mail is not among"):
        plans.read(path, ["billing"])


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("orders,0\n", "line 1: 2 columns"),
        ("orders,0,5\norders,x,5\n", "line 2: invalid literal"),
        ("orders,0,-5\n", "line 1: 0,-5 is no partition and offset"),
        ("orders,0,5\norders,0,6\n", "line 2: orders-0 is there twice"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, text: str, because: str) -> None:
    path = tmp_path / "plan.csv"
    path.write_text(text)
    with pytest.raises(Failure, match=because) as failed:
        plans.read(path, ["billing"])
    assert failed.value.hint == "each line is topic,partition,offset"
