"""P11: the audit, which sees the two disks and nothing else, calls kept what the other checkers found kept."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from brokers.ids import Offset, TopicPartition
from federation.audit.comparison.findings import Class, Finding
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.engines import AuditProgress
from federation.audit.facts.region_facts import parse
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.segments.data_dir import META
from federation.audit.verdict.verdicts import Verdict
from federation.commands.audit.facts import of_directories
from tests.sim.evidence import Region, partitions

if TYPE_CHECKING:
    from tests.sim.checking import Evidence

IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of small files
QUIET = AuditProgress(lambda size: None, lambda size: None)


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Where crashes take what was not synced, two regions may differ and a sound audit says so."""
    if not evidence.durable or evidence.audited_at < 0 or evidence.statements.mirror is None:
        return
    regions = [evidence.regions[name] for name in (evidence.source, evidence.destination)]
    if not all(list(partitions(region.disk)) for region in regions):
        return
    with TemporaryDirectory(prefix="causeway-sim-", dir=IN_MEMORY) as folder:
        source, mirror = (
            _stored(region, node_id, Path(folder)) for node_id, region in enumerate(regions, 1)
        )
        if _lacks_a_folder(source, regions[0]) or _lacks_a_folder(mirror, regions[1]):
            return
        options = Options(source=source, mirror=mirror, engine="local", master="local[1]")
        result = run_audit(options, lambda: evidence.audited_at, QUIET)
    if result.verdict is Verdict.KEPT or _is_nothing_left(result):
        return
    if not _only_deleted(result, evidence):
        yield f"an audit of the stopped regions says {result.verdict}: {_because(result)}"


def _is_nothing_left(result: AuditResult) -> bool:
    """Whether retention took all that a mirror had of what the source still has: nothing can be compared there."""
    rows = [row for row in result.partitions if row.verdict is not Verdict.KEPT]
    return (
        all(one.severity == "note" for one in result.findings)
        and all(one.verdict is Verdict.KEPT for one in result.sections)
        and all(row.verdict is Verdict.UNKNOWN for row in rows)
        and all(row.mirror_log_start >= row.source_end for row in rows)
        and all(Class.EXPIRED_ON_ONE_SIDE.value in row.classes.split() for row in rows)
    )


def _only_deleted(result: AuditResult, evidence: "Evidence") -> bool:
    """Whether all that the audit objects to is what DeleteRecords took from the mirror alone, which no file tells.

    A source that loses its power may come back with records whose deletion its mirror has followed; and from its
    failover on a mirror is a topic like any other.
    """
    found = [one for one in result.findings if one.severity != "note"]
    return (
        bool(found)
        and evidence.retains
        and all(one.kind is Class.MISSING_ON_MIRROR for one in found)
        and all(one.to_offset <= _deleted_below(evidence, one) for one in found)
        and all(one.verdict is Verdict.KEPT for one in result.sections)
    )


def _deleted_below(evidence: "Evidence", found: Finding) -> Offset:
    partition = TopicPartition(found.topic, found.partition)
    return evidence.deleted_below(evidence.destination, partition)


def _lacks_a_folder(said: AuditedRegion, region: Region) -> bool:
    """A power cut took a folder whose name was not synced yet: nobody can say that nothing was in it."""
    assert said.facts is not None
    there = {(one.topic, one.partition) for one in partitions(region.disk)}
    return any(key not in there for key in said.facts.partitions() if not key[0].startswith("__"))


def _stored(region: Region, node_id: int, folder: Path) -> AuditedRegion:
    """The region's disk as a directory, with what its metadata log says of it."""
    root = folder / region.name
    for path, data in region.disk.everything():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (root / META).write_text(f"version=1\nnode.id={node_id}\ncluster.id={region.name}\n")
    return AuditedRegion(region.name, (str(root),), facts=parse(of_directories([str(root)])))


def _because(result: AuditResult) -> str:
    found = [one for one in result.findings if one.severity != "note"]
    problems = [each for one in result.sections for each in one.problems if each.severity != "note"]
    rows = [row for row in result.partitions if row.verdict is not Verdict.KEPT]
    return f"{found[:3]} {problems[:3]} {rows[:2]}"
