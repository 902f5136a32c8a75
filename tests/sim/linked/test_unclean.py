"""Unclean elections in a source: its mirror fails and keeps what it has, or is cut back and seals what it had."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.unclean import UncleanRun
from tests.sim.seeds import check_all

CHUNK = 8


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: UncleanRun(seed).execute(), "--unclean ")


@pytest.mark.parametrize("first", range(0, 8, CHUNK))
def test_a_mirror_whose_source_has_lost_records_keeps_them_all(first: int) -> None:
    check(range(first, first + CHUNK))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 13_000, 250))
def test_thousands_of_unclean_elections(first: int) -> None:
    check(range(first, first + 250))
