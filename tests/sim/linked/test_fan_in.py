"""Two regions with a topic of one name under faults: their mirrors in a third one are not confused."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.fan_in import FanInRun
from tests.sim.seeds import check_all


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: FanInRun(seed).execute(), "--fan-in ")


def test_topics_of_one_name_are_mirrored_apart() -> None:
    check((1, 2, 3, 6))


def test_prefixes_of_topics_and_groups_and_endings_of_either_mirror_are_drawn() -> None:
    runs = [FanInRun(seed) for seed in range(40)]
    ended = {(run.ending, run.ends.source.region) for run in runs}
    assert ended == {
        (ending, region)
        for ending in ("none", "promote", "failover")
        for region in ("west", "north")
    }
    names = [ends.names for run in runs for ends in (run.ends, run.others)]
    assert {(bool(each.prefix), bool(each.group_prefix)) for each in names} == {
        (False, False),
        (True, False),
        (True, True),
    }


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 11_000, 250))
def test_a_thousand_regions_are_mirrored_beside_others(first: int) -> None:
    check(range(first, first + 250))
