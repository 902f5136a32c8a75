"""Hundreds of simulated federations, and always the seeds that once failed."""

from collections.abc import Iterable

import pytest

from tests.sim.runs import Run
from tests.sim.seeds import check_all, once_failed

CHUNK = 20  # seeds a test, so that workers share them evenly and a failure names few


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: Run(seed).execute())


@pytest.mark.parametrize("seed", once_failed(__file__))
def test_a_seed_that_once_failed_keeps_every_promise(seed: int) -> None:
    check([seed])


@pytest.mark.parametrize("first", range(0, 120, CHUNK))
def test_federations_under_faults_keep_every_promise(first: int) -> None:
    check(range(first, first + CHUNK))


@pytest.mark.soak
@pytest.mark.parametrize("first", [120, *range(10_000, 16_000, 250)])
def test_thousands_of_federations_keep_every_promise(first: int) -> None:
    check(range(first, first + 250))
