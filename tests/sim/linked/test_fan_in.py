"""Two regions with a topic of one name under faults: their mirrors in a third one are not confused."""

from collections.abc import Iterable

import pytest

from brokers.ids import TopicPartition
from tests.sim.linked import checks
from tests.sim.linked.fan_in import FanInRun
from tests.sim.linked.scenario import compacting_everywhere
from tests.sim.regions.inspection import Inspector
from tests.sim.seeds import check_all

ORDERS = TopicPartition("orders", 1)


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: FanInRun(seed).execute(), "--fan-in ")


def test_topics_of_one_name_are_mirrored_apart() -> None:
    check((1, 2, 3, 6))


def check_compacted(seeds: Iterable[int]) -> None:
    run = lambda seed: FanInRun(seed, adjust=compacting_everywhere(seed)).execute()  # noqa: E731
    check_all(seeds, run, "--fan-in --compacted ")


def test_compacted_topics_of_one_name_are_mirrored_apart() -> None:
    """3 has one of the same name, 6 has prefixes of both, and groups.

    10246: a mirror is failed over before it has come to where its source was cleaned up to. 10295: its source was
    trimmed to 4, and the next batch that cleaning had left there begins at 6; and a record came to a log of which a
    cleaned segment had not got its name yet: a fault of the check. 10121: a new link coordinator heard of a topic that
    filters admit before it heard of its mirror, and never again.
    """
    check_compacted((3, 6, 10121, 10246, 10295))


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


def test_a_region_is_compared_as_its_leaders_serve_it() -> None:
    """`--fan-in --compacted` 43: a leader died before another replica had heard of a DeleteRecords; that one led then,
    with the records, and so had the mirror."""
    run = FanInRun(43, adjust=compacting_everywhere(43))
    region, inspector, partition = run.others.source, Inspector(run.others.source), ORDERS
    first, second = region.brokers[:2]
    for leader, expected in ((first, first), (second, second), (-1, first)):
        inspector.views = {first: {partition: (leader, 1, (first, second), (first, second))}}
        found = checks.leading_disk(region, inspector, partition)
        assert found is region.node(expected).disk


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 11_000, 250))
def test_a_thousand_regions_are_mirrored_beside_others(first: int) -> None:
    check(range(first, first + 250))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 10_400, 100))
def test_hundreds_of_regions_mirror_compacted_topics_beside_others(first: int) -> None:
    check_compacted(range(first, first + 100))
