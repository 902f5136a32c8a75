"""A run is its seed: nothing else may have a say, least of all the order of a set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sim.runs import Run

ROOT = Path(__file__).parents[2]
SEEDS = 3, 17, 30, 60


def hashes(hash_seed: str) -> str:
    """Trace hashes of the same seeds in a process of its own."""
    program = "import sys; from tests.sim.runs import Run; " + (
        "print(*(Run(int(seed)).execute().trace_hash for seed in sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, SEEDS)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_seed_gives_the_same_trace_in_processes_that_hash_differently() -> None:
    first = hashes("1")
    assert len(set(first.split())) == len(SEEDS)
    assert hashes("2") == first


@pytest.mark.parametrize("seed", SEEDS)
def test_showing_the_trace_does_not_change_it(seed: int) -> None:
    lines: list[str] = []
    assert Run(seed, lines.append).execute().trace_hash == Run(seed).execute().trace_hash
    assert len(lines) > 100
