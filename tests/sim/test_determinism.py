"""A run is its seed: nothing else may have a say, least of all the order of a set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sim.regions.runs import RegionRun
from tests.sim.runs import Run

ROOT = Path(__file__).parents[2]
SEEDS = {Run: (3, 17, 30, 60), RegionRun: (1, 2, 4)}


def hashes(kind: type[Run | RegionRun], hash_seed: str) -> str:
    """Trace hashes of the same seeds in a process of its own."""
    program = f"import sys; from {kind.__module__} import {kind.__name__} as Run; " + (
        "print(*(Run(int(seed)).execute().trace_hash for seed in sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, SEEDS[kind])],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("kind", SEEDS)
def test_a_seed_gives_the_same_trace_in_processes_that_hash_differently(
    kind: type[Run | RegionRun],
) -> None:
    first = hashes(kind, "1")
    assert len(set(first.split())) == len(SEEDS[kind])
    assert hashes(kind, "2") == first


@pytest.mark.parametrize(
    ("kind", "seed"), [*((Run, seed) for seed in SEEDS[Run]), (RegionRun, SEEDS[RegionRun][0])]
)
def test_showing_the_trace_does_not_change_it(kind: type[Run | RegionRun], seed: int) -> None:
    lines: list[str] = []
    assert kind(seed, lines.append).execute().trace_hash == kind(seed).execute().trace_hash
    assert len(lines) > 100
