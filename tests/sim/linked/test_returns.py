"""Old primaries that come back with their link there acknowledge nothing more."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.returns import ReturnRun
from tests.sim.seeds import check_all


def check(seeds: Iterable[int]) -> None:
    runs = {seed: ReturnRun(seed) for seed in seeds}
    check_all(runs, lambda seed: runs[seed].execute(), "--return ")
    judged = sum(run.is_judged for run in runs.values())
    assert judged > len(runs) // 2, "most links reach their source in time"


def test_a_region_that_comes_back_acknowledges_nothing_that_was_taken_over() -> None:
    check((2, 5, 6))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 11_000, 250))
def test_thousands_of_regions_come_back(first: int) -> None:
    check(range(first, first + 250))
