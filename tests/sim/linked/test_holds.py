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


FOUND = {
    10226: "a leader that had not followed the log start of the last one had what the mirror had deleted: a hole",
    10142: "the same, behind the beginning of the log",
    10201: "the same: it came into sync before it had followed that log start",
    10136: "a broker that led the mirror no longer subscribed last: what the mirror held was not believed any more",
    60027: "a source's broker had heard of a new partition, and was behind another: its mirror was not copied",
}


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_found_stays_mended(seed: int) -> None:
    check([seed])


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 11_000, 250))
def test_thousands_of_sources_hold(first: int) -> None:
    check(range(first, first + 250))
