"""Simulated regions, and always the seeds that once failed."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tests.sim.regions.runs import RegionRun
from tests.sim.regions.scenario import RegionScenario, Shape
from tests.sim.seeds import check_all, once_failed

LONE = Shape(1, 1, combined=True)
# One that once failed: a topic was made on a broker that had just lost its disk, and nobody may lead it by himself.
ORDERLY_THAT_FAILED = [13598]
CHUNK = 5  # seeds a test, so that workers share them evenly and a failure names few

Adjust = Callable[[RegionScenario], RegionScenario]


def check(seeds: Iterable[int], adjust: Adjust = lambda scenario: scenario) -> None:
    check_all(seeds, lambda seed: RegionRun(seed, adjust=adjust).execute(), "--region ")


def alone(scenario: RegionScenario) -> RegionScenario:
    return replace(scenario, shape=LONE, replication=1, min_insync=1, racks=0, observers=0)


def orderly(scenario: RegionScenario) -> RegionScenario:
    """Nodes are stopped, and hand over what they lead; everything else is as bad as ever."""
    return replace(scenario, clean_stops=0.8, crash_mean_ms=scenario.crash_mean_ms or 3_000)


@pytest.mark.parametrize("first", range(0, 20, CHUNK))
def test_a_region_of_one_node_keeps_every_invariant(first: int) -> None:
    check(range(first, first + CHUNK), alone)


@pytest.mark.parametrize("seed", once_failed(__file__))
def test_a_seed_that_once_failed_keeps_every_invariant(seed: int) -> None:
    check([seed])


@pytest.mark.parametrize("seed", ORDERLY_THAT_FAILED)
def test_a_restarted_region_that_once_failed_keeps_every_invariant(seed: int) -> None:
    check([seed], orderly)


@pytest.mark.parametrize("first", range(0, 120, CHUNK))
def test_regions_under_faults_keep_every_invariant(first: int) -> None:
    check(range(first, first + CHUNK))


@pytest.mark.parametrize("first", range(300, 340, CHUNK))
def test_regions_that_are_restarted_all_the_time_keep_every_invariant(first: int) -> None:
    check(range(first, first + CHUNK), orderly)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(13_000, 14_000, 250))
def test_a_thousand_restarted_regions_keep_every_invariant(first: int) -> None:
    check(range(first, first + 250), orderly)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 13_000, 250))
def test_thousands_of_regions_keep_every_invariant(first: int) -> None:
    check(range(first, first + 250))
