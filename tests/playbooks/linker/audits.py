"""An audit of what hosts have on their disks, with what their metadata logs say."""

from pathlib import Path

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.engines import AuditProgress
from federation.audit.facts.region_facts import parse
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.segments.data_dir import META
from federation.commands.audit.facts import of_directories
from tests.playbooks.linker.world import Host

QUIET = AuditProgress(lambda _: None, lambda _: None)


def audited(source: Host, mirror: Host, folder: Path, *topics: str) -> AuditResult:
    """Of regions that are stopped for it; `topics`: of all by default. What is in the folder already stays as it is."""
    sides = [stored(host, folder) for host in (source, mirror)]
    options = Options(
        source=sides[0], mirror=sides[1], engine="local", master="local[1]", topics=topics
    )
    return run_audit(options, lambda: source.world.now, QUIET)


def stored(host: Host, folder: Path) -> AuditedRegion:
    """In a directory of its name."""
    host.stop()
    root = folder / host.name
    for path, data in () if root.exists() else host.files.everything():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / META).write_text(f"version=1\nnode.id=1\ncluster.id={host.cluster_id}\n")
    return AuditedRegion(host.name, (str(root),), facts=parse(of_directories([str(root)])))
