"""The tree of a partition's histories, and the command that draws it."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.commands.lineage.histories import History, RegionHistory
from federation.commands.lineage.tree import Branch, Writers, tree_of
from linker.wire.v1 import admin_pb2 as pb

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
