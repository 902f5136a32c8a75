"""P11: the audit, which sees the two disks and nothing else, calls kept what the other checkers found kept."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import Offset, TopicPartition
from federation.audit.comparison.findings import Class, Finding
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.result import AuditResult
from federation.audit.verdict.verdicts import Verdict
from tests.sim.audits import a_folder, audited, because, stored
from tests.sim.evidence import Region, partitions

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Where crashes take what was not synced, two regions may differ and a sound audit says so."""
    if not evidence.durable or evidence.audited_at < 0 or evidence.statements.mirror is None:
        return
    regions = [evidence.regions[name] for name in (evidence.source, evidence.destination)]
    if not all(list(partitions(region.disk)) for region in regions):
        return
    with a_folder() as folder:
        source, mirror = (
            stored(region.name, {node_id: region.disk}, folder)
            for node_id, region in enumerate(regions, 1)
        )
        if _lacks_a_folder(source, regions[0]) or _lacks_a_folder(mirror, regions[1]):
            return
        result = audited(source, mirror, evidence.audited_at)
    if result.verdict is Verdict.KEPT or _is_nothing_left(result):
        return
    if not _only_deleted(result, evidence):
        yield f"an audit of the stopped regions says {result.verdict}: {because(result)}"


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
        and all(one.kind is Class.MISSING_ON_MIRROR for one in found)
        and all(one.to_offset <= _trimmed_below(evidence, one) for one in found)
        and all(one.verdict is Verdict.KEPT for one in result.sections)
    )


def _trimmed_below(evidence: "Evidence", found: Finding) -> Offset:
    partition = TopicPartition(found.topic, found.partition)
    return evidence.trimmed_below(evidence.destination, partition)


def _lacks_a_folder(said: AuditedRegion, region: Region) -> bool:
    """A power cut took a folder whose name was not synced yet: nobody can say that nothing was in it."""
    assert said.facts is not None
    there = {(one.topic, one.partition) for one in partitions(region.disk)}
    return any(key not in there for key in said.facts.partitions() if not key[0].startswith("__"))
