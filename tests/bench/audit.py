"""`python -m tests.bench.audit`: what an audit costs beside reading and hashing the same bytes once with all cores.

The first row is as large as a disk makes it, the others stay in the page cache. Prints job times without Spark's start,
Spark's start, the driver's memory, and how job time grows with partitions and replicas. Memory is touched before each
trial. Exits 1 when an audit does not find equal regions kept.
"""

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from xxhash import xxh3_128

from federation.audit import jobs
from federation.audit.engines import AuditProgress
from federation.audit.options import Options
from federation.audit.run import run_audit
from federation.audit.segments.data_dir import META
from tests.bench import memory
from tests.bench.audit_data import Shape, write
from tests.spark import facts

QUIET = AuditProgress(lambda size: None, lambda size: None)
CHUNK = 256 << 10
BUDGET, DRIVER_MB = 1.25, 1_024
progress = Console(stderr=True, soft_wrap=True, highlight=False)


def main() -> int:
    options = _options()
    cores = os.cpu_count() or 1
    started = time.monotonic()
    context = jobs.open_context(f"local[{cores}]")
    context.parallelize(range(cores), cores).count()
    found: dict[str, Any] = {"cores": cores, "spark_start_s": time.monotonic() - started}
    shapes = [
        Shape("24 partitions x 3", 24, 3, 6 * options.gb, 15),
        Shape("24 partitions x 3, in memory", 24, 3, options.gb, 15),
        Shape("24 partitions x 1, in memory", 24, 1, options.gb / 3, 15),
        Shape("10,000 partitions x 1, in memory", 10_000, 1, options.gb / 3, 15),
    ]
    found["rows"] = [_measured(shape, options, cores) for shape in shapes]
    found["driver_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + _java_mb()
    context.stop()
    _show(found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "audit.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(row["verdict"] == "kept" for row in found["rows"]) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.audit", description=__doc__)
    parser.add_argument(
        "--gb",
        type=float,
        default=8.0,
        help="of records; the first row has six times as much on disk",
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), metavar="DIR")
    return parser.parse_args()


def _measured(shape: Shape, options: argparse.Namespace, cores: int) -> dict[str, Any]:
    with _written(shape) as folders:
        sides = {
            side: facts.region(side, *paths)
            for side, paths in zip(("source", "mirror"), folders, strict=True)
        }
        files = [path for side in folders for one in side for path in Path(one).rglob("*.log")]
        verdicts: set[str] = set()

        def audited(engine: str) -> None:
            given = Options(**sides, engine=engine, master=f"local[{cores}]")  # type: ignore[arg-type]
            verdicts.add(run_audit(given, lambda: 1_800_000_000_000, QUIET).verdict.value)

        ways: dict[str, Callable[[], None]] = {
            "hash": partial(_hashed, files, cores),
            "spark": partial(audited, "spark"),
            "local": partial(audited, "local"),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(options.repeat):
            memory.touch()
            _hashed(files, cores)  # what touching took from the page cache comes back
            for name, run in ways.items():
                started = time.monotonic()
                run()
                times[name].append(time.monotonic() - started)
    row = {name: sorted(seconds)[len(seconds) // 2] for name, seconds in times.items()}
    progress.print(f"{shape.name}: {row}")
    verdict = verdicts.pop() if len(verdicts) == 1 else "differs by engine"
    return {"shape": shape.name, "gb": shape.gb, "verdict": verdict, **row}


@contextmanager
def _written(shape: Shape) -> Iterator[list[list[str]]]:
    """Data directories of source and mirror; raises OSError where the disk has no room."""
    parent = Path(tempfile.gettempdir())
    if shutil.disk_usage(parent).free < 1.2 * shape.gb * 1e9:
        raise OSError(f"{parent} has no room for {shape.gb:.1f} GB: give less --gb")
    with tempfile.TemporaryDirectory(prefix="causeway-bench-audit-") as folder:
        sides = []
        for name in ("west", "east"):
            paths = [f"{folder}/{name}{node}" for node in range(shape.replicas)]
            for node, path in enumerate(paths):
                write(Path(path), shape)
                said = f"node.id={node}\ncluster.id={name}\ndirectory.id={name}{node}\n"
                Path(path, META).write_text(said)
            sides.append(paths)
        yield sides


def _hashed(files: list[Path], cores: int) -> None:
    """Every byte read and hashed once, with all cores; large files first."""
    by_size = sorted(files, key=lambda path: -path.stat().st_size)
    with get_context("fork").Pool(cores) as pool:
        for _ in pool.imap_unordered(_hash, by_size, max(1, len(files) // (64 * cores))):
            pass


def _hash(path: Path) -> str:
    hasher, buffer = xxh3_128(), bytearray(CHUNK)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while got := file.readinto(view):
            hasher.update(view[:got])
    return hasher.hexdigest()


def _java_mb() -> float:
    """The most that Spark's JVM, a child of this process, ever had resident."""
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        said = dict(line.split(":", 1) for line in lines if ":" in line)
        if said["Name"].strip() == "java" and int(said["PPid"]) == os.getpid():
            return int(said["VmHWM"].split()[0]) / 1024
    return 0.0


def _show(found: dict[str, Any]) -> None:
    table = Table(
        "regions", "GB", "verdict", "hash, s", "on Spark, s", "ratio", "local engine, s", "ratio"
    )
    for row in found["rows"]:
        cells = [f"{row['hash']:.2f}"]
        for engine in ("spark", "local"):
            cells += [f"{row[engine]:.2f}", f"{row[engine] / row['hash']:.2f}"]
        table.add_row(row["shape"], f"{row['gb']:.1f}", row["verdict"], *cells)
    console = Console(width=None if sys.stdout.isatty() else 118)
    console.print(table)
    console.print(
        f"Spark starts in {found['spark_start_s']:.1f} s on {found['cores']} cores;"
        f" driver with its JVM: {found['driver_mb']:.0f} MB. Targets: ratio <= {BUDGET} with three replicas,"
        f" driver <= {DRIVER_MB} MB."
    )


if __name__ == "__main__":
    sys.exit(main())
