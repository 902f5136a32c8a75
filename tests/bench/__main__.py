"""`python -m tests.bench`: every measure on ours and on the peer in turn, medians, ratios, targets.

Exits 0 when everything ran (targets are shown, never asserted: machines differ), 1 when a measure failed or lost data.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.bench import report, work
from tests.bench.client import Figures
from tests.bench.ours import Ours
from tests.bench.peer import jars
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import System
from tests.bench.targets import MEASURES, Measure

progress = Console(stderr=True, soft_wrap=True, highlight=False)
BUSY_LOAD = 0.5
TABLE_COLUMNS = 118  # of characters, where nothing says how wide the terminal is


def main() -> int:
    options = _options()
    size = work.QUICK if options.quick else work.FULL
    wanted = {
        name: measure for name, measure in MEASURES.items() if name in (options.only or MEASURES)
    }
    runs: dict[str, dict[str, list[Figures]]] = {}
    failures: list[str] = []
    began_load = os.getloadavg()[0]
    if began_load > BUSY_LOAD:
        progress.print(
            f"[yellow]this machine is busy[/] (load average {began_load}): figures will be noisy"
        )
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="causeway-bench-")))
        systems = _systems(options, directory)
        for system in systems:
            stack.callback(system.down)
            progress.print(f"starting {system.name}")
            system.up()
        for cold in (True, False):
            part = {name: measure for name, measure in wanted.items() if measure.cold is cold}
            if part and not cold:
                _warm(systems)
            for name, measure in part.items():
                runs[name] = _measure(name, measure, systems, size, options.repeat, failures)
    found = list(report.rows(runs))
    report.show(found, Console(width=None if sys.stdout.isatty() else TABLE_COLUMNS))
    about = _about(options) | {
        "load_average": [began_load, os.getloadavg()[0]],
        "failures": failures,
    }
    report.write(options.out, runs, found, about)
    progress.print(f"written: {options.out / 'bench.json'}, {options.out / 'bench.png'}")
    for failure in failures:
        progress.print(f"[red]failed[/] {failure}")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=list(MEASURES), help=" ".join(MEASURES)
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument(
        "--quick", action="store_true", help="a seventh of the work, for trying things"
    )
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR")
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument(
        "--no-ours", action="store_true", help="the peer alone, to check the yardstick"
    )
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat: at least 1")
    return options


def _systems(options: argparse.Namespace, directory: Path) -> list[System]:
    systems: list[System] = [] if options.no_ours else [Ours(directory / "causeway")]
    if options.no_peer:
        return systems
    try:
        jars.fetch()
    except jars.Unavailable as reason:
        progress.print(f"[yellow]Apache Kafka is left out:[/] {reason}")
        return systems
    return [*systems, Kafka(directory / "kafka")]


def _warm(systems: Sequence[System]) -> None:
    for system in systems:
        progress.print(f"warming {system.name}")
        work.warm(system, work.FULL)  # a quick run is not a run on a cold JVM


def _measure(
    name: str,
    measure: Measure,
    systems: Sequence[System],
    size: work.Size,
    repeat: int,
    failures: list[str],
) -> dict[str, list[Figures]]:
    """Runs a measure on each system in turn, `repeat` times; who goes first alternates."""
    figures: dict[str, list[Figures]] = {}
    for repetition in range(repeat):
        for system in systems if repetition % 2 == 0 else reversed(systems):
            began = time.monotonic()
            try:
                one = measure.run(system, size)
            except Exception as error:  # one measure's failure must not cost the others' figures
                failures.append(f"{name} on {system.name}: {type(error).__name__}: {error}")
                progress.print(f"[red]{failures[-1]}[/]")
                continue
            figures.setdefault(system.name, []).append(one)
            shown = "  ".join(f"{figure} {value:.3g}" for figure, value in one.items())
            progress.print(f"{name} {system.name} ({time.monotonic() - began:.0f} s): {shown}")
    return figures


def _about(options: argparse.Namespace) -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "repeat": options.repeat,
        "quick": options.quick,
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "free_disk_gb": round(shutil.disk_usage(tempfile.gettempdir()).free / 1e9, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
