"""`python -m tests.bench`: every measure on ours and on the peer in turn, medians, ratios, targets.

Exits 0 when everything ran (targets are shown, never asserted: machines differ), 1 when a measure failed or lost data.
"""

import argparse
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.bench import memory, processes, region, report, work
from tests.bench.client import Figures, Unfinished
from tests.bench.clusters import Cluster
from tests.bench.mirrors import Mirroring
from tests.bench.ours import Ours
from tests.bench.ours_cluster import OurCluster
from tests.bench.ours_regions import OurRegions
from tests.bench.ours_wan import OurWan, OurWanRegions
from tests.bench.peer import jars
from tests.bench.peer.cluster import KafkaCluster
from tests.bench.peer.kafka import Kafka
from tests.bench.peer.regions import KafkaRegions
from tests.bench.peer.wan import KafkaWan
from tests.bench.systems import System
from tests.bench.targets import (
    LINKED_MEASURES,
    MEASURES,
    REGION_MEASURES,
    WIDE_MEASURES,
    WIDE_REGION_MEASURES,
    AnyMeasure,
)
from tests.bench.wan import Wide

progress = Console(stderr=True, soft_wrap=True, highlight=False)
BUSY_LOAD = 0.5
COMPLAINT_MAX = 2_000  # characters: a command may complain about each of a thousand topics
TABLE_COLUMNS = 118  # of characters, where nothing says how wide the terminal is


def main() -> int:
    options = _options()
    processes.end_in_order_on_sigterm()
    size = _size(options)
    runs: dict[str, dict[str, list[Figures]]] = {}
    failures: list[str] = []
    began_load = os.getloadavg()[0]
    if began_load > BUSY_LOAD:
        progress.print(
            f"[yellow]this machine is busy[/] (load average {began_load}): figures will be noisy"
        )
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="causeway-bench-")))
        for measures, systems, warm in (
            (MEASURES, _systems(options, directory), work.warm),
            (REGION_MEASURES, _clusters(options, directory), region.warm),
            (LINKED_MEASURES, _regions(options, directory), None),
            (WIDE_REGION_MEASURES, _wide_regions(options, directory), None),
            (WIDE_MEASURES, _wide(options, directory), None),
        ):
            wanted = {n: measures[n] for n in measures if n in (options.only or measures)}
            if warm:
                runs |= _stage(wanted, systems, warm, size, options.repeat, failures)
            else:
                runs |= _one_by_one(wanted, systems, size, options.repeat, failures)
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
        "--only", nargs="+", metavar="NAME", choices=list(report.ALL), help=" ".join(report.ALL)
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument(
        "--quick", action="store_true", help="a seventh of the work, for trying things"
    )
    parser.add_argument(
        "--round-trips",
        nargs="+",
        type=int,
        metavar="MS",
        choices=work.ROUND_TRIPS_MS,
        default=work.ROUND_TRIPS_MS,
        help="of `wan-3`, `wan`, `wan-line` and `wan-core`: some of 0, 20, 80 and 200",
    )
    parser.add_argument(
        "--wide-gb",
        type=int,
        metavar="GB",
        choices=range(1, 9),
        help="what `wan`, `wan-line` and `wan-core` copy: 1 to 8; 4 unless said otherwise",
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


def _size(options: argparse.Namespace) -> work.Size:
    size = work.QUICK if options.quick else work.FULL
    size = replace(size, round_trips_ms=tuple(options.round_trips))
    return replace(size, wide_batches=1000 * options.wide_gb) if options.wide_gb else size


def _stage(
    wanted: Mapping[str, Any],
    systems: Sequence[Any],
    warm: Callable[[Any, work.Size], None] | None,
    size: work.Size,
    repeat: int,
    failures: list[str],
) -> dict[str, dict[str, list[Figures]]]:
    """All measures of one kind of system; nothing of it runs before or after."""
    runs: dict[str, dict[str, list[Figures]]] = {}
    with ExitStack() as stack:
        running = []
        for system in systems if wanted else ():
            stack.callback(system.down)
            progress.print(f"starting {system.name}")
            try:
                system.up()
                running.append(system)
            except Exception as error:  # one system's failure must not cost the other's figures
                failures.append(f"{system.name} doesn't start: {type(error).__name__}: {error}")
        systems = running
        for cold in (True, False):
            part = {name: measure for name, measure in wanted.items() if measure.cold is cold}
            if part and warm and not cold:
                for system in systems:
                    progress.print(f"warming {system.name}")
                    warm(system, work.FULL)  # a quick run is not a run on a cold JVM
            for name, measure in part.items():
                runs[name] = _measure(name, measure, systems, size, repeat, failures)
    return runs


def _one_by_one(
    wanted: Mapping[str, Any],
    systems: Sequence[Any],
    size: work.Size,
    repeat: int,
    failures: list[str],
) -> dict[str, dict[str, list[Figures]]]:
    """The same, with nothing of one system running while the other is measured: six idle JVMs would weigh."""
    runs: dict[str, dict[str, list[Figures]]] = {name: {} for name in wanted}
    for system in systems:
        fitting = {
            name: measure
            for name, measure in wanted.items()
            if system.name == report.OURS or not getattr(measure, "is_ours_alone", False)
        }
        alone = _stage(fitting, [system], None, size, repeat, failures)
        for name, figures in alone.items():
            runs[name] |= figures
    return runs


def _systems(options: argparse.Namespace, directory: Path) -> list[System]:
    peer = [Kafka(directory / "kafka")] if _has_peer(options) else []
    return [*([] if options.no_ours else [Ours(directory / "causeway")]), *peer]


def _clusters(options: argparse.Namespace, directory: Path) -> list[Cluster]:
    peer = [KafkaCluster(directory / "kafka-3")] if _has_peer(options) else []
    return [*([] if options.no_ours else [OurCluster(directory / "causeway-3")]), *peer]


def _regions(options: argparse.Namespace, directory: Path) -> list[Mirroring]:
    peer = [KafkaRegions(directory / "kafka-3-3")] if _has_peer(options) else []
    return [*([] if options.no_ours else [OurRegions(directory / "causeway-3-3")]), *peer]


def _wide(options: argparse.Namespace, directory: Path) -> list[Wide]:
    peer = [KafkaWan(directory / "kafka-wan")] if _has_peer(options) else []
    return [*([] if options.no_ours else [OurWan(directory / "causeway-wan")]), *peer]


def _wide_regions(options: argparse.Namespace, directory: Path) -> list[Wide]:
    return [] if options.no_ours else [OurWanRegions(directory / "causeway-wan-3")]


def _has_peer(options: argparse.Namespace) -> bool:
    if options.no_peer:
        return False
    try:
        jars.fetch()
    except jars.Unavailable as reason:
        progress.print(f"[yellow]Apache Kafka is left out:[/] {reason}")
        return False
    return True


def _measure(
    name: str,
    measure: AnyMeasure,
    systems: Sequence[Any],
    size: work.Size,
    repeat: int,
    failures: list[str],
) -> dict[str, list[Figures]]:
    """Runs a measure on each system in turn, `repeat` times, over touched memory; who goes first alternates."""
    figures: dict[str, list[Figures]] = {}
    for repetition in range(repeat):
        for system in systems if repetition % 2 == 0 else reversed(systems):
            touched = memory.touch()
            began = time.monotonic()
            try:
                one = measure.run(system, size)
            except Exception as error:  # one measure's failure must not cost the others' figures
                complaint = str(error)[:COMPLAINT_MAX]
                failures.append(f"{name} on {system.name}: {type(error).__name__}: {complaint}")
                progress.print(f"[red]{failures[-1]}[/]")
                one = error.figures if isinstance(error, Unfinished) else {}
            if not one:
                continue
            figures.setdefault(system.name, []).append(one)
            shown = "  ".join(f"{figure} {value:.3g}" for figure, value in one.items())
            took = f"{time.monotonic() - began:.0f} s, {touched / 1e9:.1f} GB touched before"
            progress.print(f"{name} {system.name} ({took}): {shown}")
    return figures


def _about(options: argparse.Namespace) -> dict[str, Any]:
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "repeat": options.repeat,
        "quick": options.quick,
        "cores": os.cpu_count(),
        "memory_gb": round(installed / 1e9, 1),
        "kernel": platform.release(),
        "congestion_control": _congestion_control(),
        "python": platform.python_version(),
        "python_is_optimized": _is_optimized(),
        "free_disk_gb": round(shutil.disk_usage(tempfile.gettempdir()).free / 1e9, 1),
    }


def _is_optimized() -> bool:
    """Whether this Python was built with its profile: one that was not takes a third longer for the same code."""
    return "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")


def _congestion_control() -> str:
    """Of this machine's TCP; empty where the system does not say. BBR costs more over loopback than Linux' default."""
    with suppress(OSError):
        return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    return ""


if __name__ == "__main__":
    sys.exit(main())
