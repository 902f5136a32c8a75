"""Seeds that are run as tests: those that once failed, and many in a row."""

from collections.abc import Callable, Iterable
from pathlib import Path


def once_failed(test: str) -> list[int]:
    """Those that `seeds.txt` beside a test file lists."""
    lines = Path(test).with_name("seeds.txt").read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def check_all(seeds: Iterable[int], run: Callable[[int], object], again: str = "") -> None:
    """All are run; each that fails has a line: what, and how to see it again."""
    failed = []
    for seed in seeds:
        try:
            run(seed)
        except Exception as error:
            failed.append(
                f"seed {seed}: {error}\n  again: python -m tests.sim {again}--seed {seed} --trace"
            )
    assert not failed, "\n".join(failed)
