"""The audit of regions whose nodes have stopped, from copies of their disks in directories."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from brokers.ids import BrokerId, Instant
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.engines import AuditProgress
from federation.audit.facts.region_facts import parse
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from federation.commands.audit.facts import of_directories
from tests.sim.disks import Disk

IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of small files
QUIET = AuditProgress(lambda size: None, lambda size: None)


@contextmanager
def a_folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="causeway-sim-", dir=IN_MEMORY) as folder:
        yield Path(folder)


def stored(name: str, disks: Mapping[BrokerId, Disk], folder: Path) -> AuditedRegion:
    """A region's disks as directories, with what its metadata log says of it."""
    roots = []
    for node_id, disk in disks.items():
        root = folder / f"{name}-{node_id}"
        roots.append(str(root))
        for each in disk.list(""):
            if not disk.is_file(each):
                (root / each).mkdir(parents=True)  # a crash may have left it empty
        for path, data in disk.everything():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        (root / META).write_text(f"version=1\nnode.id={node_id}\ncluster.id={name}\n")
    return AuditedRegion(name, tuple(roots), facts=parse(of_directories(roots)))


def audited(source: AuditedRegion, mirror: AuditedRegion, now: Instant) -> AuditResult:
    options = Options(source=source, mirror=mirror, engine="local", master="local[1]")
    return run_audit(options, lambda: now, QUIET)


def because(result: AuditResult) -> str:
    """Why it does not say "kept"."""
    found = [one for one in result.findings if one.severity != "note"]
    problems = [each for one in result.sections for each in one.problems if each.severity != "note"]
    rows = [row for row in result.partitions if row.verdict is not Verdict.KEPT]
    return f"{found[:3]} {problems[:3]} {rows[:2]}"
