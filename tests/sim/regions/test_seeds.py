"""Simulated regions, and always the seeds that once failed."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from tests.sim.regions.runs import RegionRun
from tests.sim.regions.weather import RegionWeather, Shape

LONE = Shape(1, 1, combined=True)
CHUNK = 10  # seeds a test, so that workers share them evenly and a failure names few

Adjust = Callable[[RegionWeather], RegionWeather]


def run_all(seeds: Iterable[int], adjust: Adjust = lambda weather: weather) -> list[str]:
    """One line for each that failed: what, and how to see it again."""
    return [line for seed in seeds if (line := _run(seed, adjust))]


def _run(seed: int, adjust: Adjust) -> str:
    try:
        RegionRun(seed, adjust=adjust).execute()
    except Exception as error:
        return f"seed {seed}: {error}\n  again: python -m tests.sim --region --seed {seed} --trace"
    return ""


def alone(weather: RegionWeather) -> RegionWeather:
    return replace(weather, shape=LONE, replication=1, min_insync=1)


@pytest.mark.parametrize("first", range(0, 20, CHUNK))
def test_a_region_of_one_node_keeps_every_law(first: int) -> None:
    failed = run_all(range(first, first + CHUNK), alone)
    assert not failed, "\n".join(failed)
