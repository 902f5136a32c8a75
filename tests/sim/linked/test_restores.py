"""Failovers and the way back in bad weather: both regions end equal, and what was removed is in the orphan store."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.restores import RestoreRun
from tests.sim.seeds import check_all

CHUNK = 10


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: RestoreRun(seed).execute(), "--restore ")


def test_a_leader_that_was_cut_off_takes_a_record_after_its_topic_was_restored() -> None:
    """It is never acknowledged."""
    check([2207])


@pytest.mark.parametrize("first", range(0, 60, CHUNK))
def test_a_region_that_comes_back_loses_nothing_that_it_had_acknowledged(first: int) -> None:
    check(range(first, first + CHUNK))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 12_000, 250))
def test_thousands_of_regions_come_back(first: int) -> None:
    check(range(first, first + 250))
