"""Retention in a source whose mirror is behind: what a link has asked to keep is kept, within its bounds."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.retention import RetentionRun
from tests.sim.seeds import check_all

CHUNK = 6


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: RetentionRun(seed).execute(), "--retention ")


@pytest.mark.parametrize("first", range(0, 6, CHUNK))
def test_retention_goes_by_what_mirrors_lack(first: int) -> None:
    check(range(first, first + CHUNK))


def test_a_follower_begins_where_its_leader_does_in_the_middle_of_a_segment() -> None:
    """Its segments begin elsewhere. What it has there is not kept too long."""
    check([10_008])


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 12_000, 250))
def test_thousands_of_sources_with_retention(first: int) -> None:
    check(range(first, first + 250))
