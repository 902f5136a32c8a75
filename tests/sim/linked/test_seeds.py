"""Simulated federations of regions of several nodes, and always the seeds that once failed."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.federation import DESTINATION, FIRST_OF
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.scenario import Shape
from tests.sim.seeds import check_all, once_failed

OBSERVER = FIRST_OF[DESTINATION] + 2
CHUNK = 10  # seeds a test, so that workers share them evenly and a failure names few


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: LinkedRun(seed).execute(), "--linked ")


@pytest.mark.parametrize("seed", once_failed(__file__))
def test_a_seed_that_once_failed_keeps_every_promise(seed: int) -> None:
    check([seed])


@pytest.mark.parametrize("first", range(0, 20, CHUNK))
def test_linked_regions_of_several_nodes_under_faults_keep_every_promise(first: int) -> None:
    check(range(first, first + CHUNK))


def calm_with_observers(scenario: LinkedScenario) -> LinkedScenario:
    """Each region has two copies near, and one far away that observes."""
    settled = {"observers": 1, "replication": 2, "min_insync": 2, "groups": 0}
    calm = {"crash_mean_ms": 0, "wipe_mean_ms": 0, "duration_ms": 5_000}
    shape = Shape(1, 3, combined=True)
    return scenario.alone().unlimited().everywhere(shape=shape, **settled, **calm)


def test_readers_of_a_mirror_are_sent_to_its_observer_where_that_is_nearer() -> None:
    lines: list[str] = []
    for seed in (10, 11):
        run = LinkedRun(seed, lines.append, adjust=calm_with_observers)
        run.execute()
        placed = run.federation.destination.newest.topics_by_name[TOPIC].partitions
        assert {observer for each in placed for observer in each.observers} == {OBSERVER}
    assert any(f"is sent to {OBSERVER} for" in line for line in lines)


@pytest.mark.soak
@pytest.mark.parametrize("first", [20, *range(10_000, 13_000, 250)])
def test_thousands_of_linked_regions_keep_every_promise(first: int) -> None:
    check(range(first, first + 250))
