"""Retention holds under faults: no mirror skips anything, and no source keeps anything that its mirror has."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.holds import HoldRun
from tests.sim.seeds import check_all

CHUNK = 10


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: HoldRun(seed).execute(), "--hold ")


@pytest.mark.parametrize("first", range(0, 10, CHUNK))
def test_what_a_mirror_lacks_is_held_whoever_leads(first: int) -> None:
    check(range(first, first + CHUNK))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 11_000, 250))
def test_thousands_of_sources_hold(first: int) -> None:
    check(range(first, first + 250))
