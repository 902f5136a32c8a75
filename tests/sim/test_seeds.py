"""Hundreds of simulated federations, and always the seeds that once failed."""

from pathlib import Path

import pytest

from tests.sim.runs import Run

ONCE_FAILED = [
    int(line.split()[0])
    for line in Path(__file__).with_name("seeds.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
CHUNK = 20  # seeds a test, so that workers share them evenly and a failure names few


def run_all(seeds: list[int]) -> list[str]:
    """One line for each that failed: what, and how to see it again."""
    return [line for seed in seeds if (line := _run(seed))]


def _run(seed: int) -> str:
    try:
        Run(seed).execute()
    except Exception as error:
        return f"seed {seed}: {error}\n  again: python -m tests.sim --seed {seed} --trace"
    return ""


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_a_seed_that_once_failed_keeps_every_promise(seed: int) -> None:
    assert run_all([seed]) == []


@pytest.mark.parametrize("first", range(0, 300, CHUNK))
def test_federations_in_bad_weather_keep_every_promise(first: int) -> None:
    failed = run_all(list(range(first, first + CHUNK)))
    assert not failed, "\n".join(failed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 16_000, 250))
def test_thousands_of_federations_keep_every_promise(first: int) -> None:
    failed = run_all(list(range(first, first + 250)))
    assert not failed, "\n".join(failed)
