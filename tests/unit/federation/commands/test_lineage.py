"""The tree of a partition's histories, and the command that draws it."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.commands.lineage.histories import History, RegionHistory
from federation.commands.lineage.tree import Branch, Writers, tree_of
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double

CUT_1, CUT_2 = 1 << 16, 2 << 16


def history(region: str, end: int, *epochs: tuple[int, int]) -> History:
    return History(region, 0, 0, end, epochs)


def region(
    name: str, *decisions: pb.Decision, origins: tuple[str, ...] = (), status: str = ""
) -> RegionHistory:
    return RegionHistory(name, status, origins, (), decisions, {})


def decision(epoch: int, kind: str, generation: int, *origins: str) -> pb.Decision:
    cut = pb.Cut(kind=kind, at_ms=epoch)
    cut.partitions.add(partition=0, leader_epoch=epoch)
    return pb.Decision(kind=kind, generation=generation, cut=cut, origins=origins)


def spans(branch: Branch) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.writer) for one in branch.ranges]


def test_a_mirror_that_is_behind_holds_a_part_of_its_source() -> None:
    histories = [history("west", 100, (0, 0), (3, 60)), history("east", 70, (0, 0), (3, 60))]
    regions = [region("west"), region("east", origins=("west",), status="ACTIVE")]
    root = tree_of(histories, Writers(regions))
    assert (root.regions, spans(root)) == (("east", "west"), [(0, 70, "west")])
    (rest,) = root.children
    assert (rest.regions, spans(rest)) == (("west",), [(70, 100, "west")])


def test_a_failover_parts_the_histories_and_names_both_writers() -> None:
    histories = [history("west", 120, (0, 0), (4, 110)), history("east", 250, (0, 0), (CUT_1, 100))]
    failover = decision(CUT_1, "FAILOVER", 2, "west")
    root = tree_of(histories, Writers([region("west"), region("east", failover, status="STOPPED")]))
    assert spans(root) == [(0, 100, "west")]
    branches = {each.regions: each for each in root.children}
    assert spans(branches["west",]) == [(100, 120, "west")]
    assert spans(branches["east",]) == [(100, 250, "east")]
    assert branches["east",].ranges[0].decision is failover


def test_reversals_are_ranges_of_one_branch() -> None:
    epochs = ((0, 0), (CUT_1, 10), (CUT_1 + 1, 15), (CUT_2, 20))
    there = decision(CUT_1, "REVERSE_AND_START", 2, "west")
    back = decision(CUT_2, "REVERSE_AND_START", 3, "east")
    histories = [history("west", 30, *epochs), history("east", 30, *epochs)]
    root = tree_of(histories, Writers([region("west", back), region("east", there)]))
    assert not root.children
    assert spans(root) == [(0, 10, "west"), (10, 20, "east"), (20, 30, "west")]
    assert [one.last_epoch for one in root.ranges] == [0, CUT_1 + 1, CUT_2]


def test_what_no_region_knows_is_not_guessed() -> None:
    root = tree_of([history("east", 9, (CUT_1, 0))], Writers([region("east")]))
    assert spans(root) == [(0, 9, "")]


EPOCHS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 40)),
    min_size=1,
    max_size=5,
    unique_by=lambda e: e[0],
)


def _history(name: str, epochs: list[tuple[int, int]], more: int) -> History:
    numbers = sorted(epoch for epoch, _ in epochs)
    starts = [0, *sorted(start for _, start in epochs)[1:]]
    return history(name, starts[-1] + more, *zip(numbers, starts, strict=True))


@given(
    st.lists(st.tuples(EPOCHS, st.integers(1, 9)), min_size=1, max_size=3),
)
def test_every_history_is_a_path_of_the_tree(drawn: list[tuple[Any, int]]) -> None:
    """Whatever the histories are, each region's branches follow one another, and end where its log does."""
    histories = [_history(f"r{index}", *one) for index, one in enumerate(drawn)]
    root = tree_of(histories, Writers([region(one.region) for one in histories]))
    for one in histories:
        path = list(_path(root, one.region))
        assert all(low.end == high.start for low, high in pairwise(path))
        assert not path or path[-1].end == one.log_end


def _path(branch: Branch, name: str) -> Any:
    yield from branch.ranges
    for child in branch.children:
        if name in child.regions:
            yield from _path(child, name)


@pytest.mark.parametrize("partition", [0, 1])
def test_partitions_have_trees_of_their_own(partition: int) -> None:
    one = History("west", partition, 0, 5, ((0, 0),))
    assert spans(tree_of([one], Writers([region("west")]))) == [(0, 5, "west")]


@pytest.fixture
def double(tmp_path: Path) -> Iterator[RegionDouble]:
    """A region of broker 2, which leads partition 0."""
    with region_double(tmp_path) as found:
        reply = pb.LineageReply(cluster_id="east-id")
        led = reply.partitions.add(partition=0, log_end_offset=5)
        led.leader_epochs.add(leader_epoch=0, start_offset=0)
        found.replies["DescribeLineage"] = [reply]
        yield found


def test_a_tree_of_all_brokers_exits_0(double: RegionDouble) -> None:
    ran = double.run("lineage", "orders")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "[0, 5) written in east" in ran.stdout


@pytest.mark.parametrize("as_json", [False, True])
def test_brokers_that_do_not_answer_are_named_and_it_exits_3(
    double: RegionDouble, as_json: bool
) -> None:
    double.add_silent_broker(9)
    ran = double.run("lineage", "orders", *(["--json"] if as_json else []))
    assert ran.exit_code == 3, ran.output
    if as_json:
        (region,) = json.loads(ran.stdout)["regions"]
        assert list(region["brokers_without_answer"]) == ["9"]
    else:
        assert "[0, 5) written in east" in ran.stdout
        assert ran.stderr.startswith("east: broker 9 did not answer: "), "its name, as in the tree"


def test_a_partition_whose_leader_is_silent_is_not_called_missing(double: RegionDouble) -> None:
    double.add_silent_broker(9)
    ran = double.run("lineage", "orders", "--partition", "1")
    assert (ran.exit_code, ran.stdout) == (3, "")
    assert "broker 9 did not answer" in ran.stderr


def test_a_region_of_which_no_broker_answers_exits_4(double: RegionDouble) -> None:
    double.unknown.add("DescribeLineage")
    ran = double.run("lineage", "orders")
    assert (ran.exit_code, ran.stdout) == (4, "")
    assert "broker 2 did not answer" in ran.stderr


def test_a_topic_that_a_region_does_not_have_is_refused(double: RegionDouble) -> None:
    code = "UNKNOWN_TOPIC_OR_PARTITION"
    error = pb.Error(code=code, message="this region has no topic 'typo'", hint="check the name")
    double.replies["DescribeLineage"] = [pb.LineageReply(error=error)]
    ran = double.run("lineage", "typo")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert f"no topic 'typo' ({code})" in ran.stderr and "127.0.0.1" in ran.stderr
