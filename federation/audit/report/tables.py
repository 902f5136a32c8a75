"""What an audit leaves for machines: one JSON object with a versioned schema, and two Parquet tables.

The tables hold nothing about the run itself, so that two runs over the same logs and the same cut are equal byte by
byte, whatever engine made them.
"""

import json
import os
from collections.abc import Sequence
from typing import Any

from federation.audit.comparison.findings import Finding, Severity
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.ends import Ends
from federation.audit.options import Options
from federation.audit.report.pictures import amount
from federation.audit.result import AuditResult
from federation.audit.sections.section import Section
from federation.audit.since.chain import ChainLink, digest
from federation.audit.since.last_report import LastReport
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict, overall

SCHEMA = "causeway.audit/1"
COVERAGE = "deep: every byte of the compared ranges read on both sides; digest sidecars: none used"
NOT_COMPARED = "not compared: aborted-transaction indexes, group metadata other than offsets"


def summary(result: AuditResult, options: Options, seconds: float) -> dict[str, Any]:
    """The whole result as one JSON object."""
    rows = result.partitions
    totals = {
        "partitions": len(rows),
        **{verdict.value: sum(row.verdict is verdict for row in rows) for verdict in Verdict},
        **{
            name: sum(getattr(row, name) for row in rows)
            for name in (
                "offsets",
                "unread_offsets",
                "batches",
                "records",
                "source_bytes",
                "mirror_bytes",
            )
        },
        "lag_records": sum(row.lag_offsets for row in rows),
        "lag_ms": max((row.lag_ms for row in rows), default=0),
        "faults": sum(one.severity is Severity.FAULT for one in result.findings),
    }
    document = {
        "schema": SCHEMA,
        "verdict": result.verdict.value,
        "exit_code": int(result.exit_code),
        "said": said(result, totals),
        "promises": sorted({one["promise"] for one in _judged(result, totals)}, key=_number),
        "judged": _judged(result, totals),
        "coverage": COVERAGE,
        "not_compared": NOT_COMPARED,
        "cut": {
            "at_ms": result.cut.at_ms,
            "clusters": list(result.cut.clusters),
            "mirror_prefix": options.mirror_prefix,
            "replicas": options.replicas.value,
            "source": _side(options.source, result.cut.source_ends),
            "mirror": _side(options.mirror, result.cut.mirror_ends),
        },
        "engine": {"name": options.engine, "master": options.master, "seconds": round(seconds, 3)},
        "totals": totals,
        "over_budget": list(result.over_budget),
        "partitions": [row._asdict() for row in rows],
        "findings": [finding_row(one) for one in result.findings],
        "sections": [section_row(one) for one in result.sections],
        "since": options.since.link._asdict() if options.since is not None else None,
        "chain": [one._asdict() for one in _chain(options.since)],
        "lineage": [_lineage(result, row) for row in rows],
    }
    return {**document, "digest": digest(document)}


def _chain(since: LastReport | None) -> list[ChainLink]:
    """The reports before this one, the first of them first."""
    return [*since.chain, since.link] if since is not None else []


def _lineage(result: AuditResult, row: PartitionVerdict) -> dict[str, Any]:
    one = result.lineage[row.topic, row.partition]
    return {
        "topic": row.topic,
        "partition": row.partition,
        "verdict": row.verdict.value,
        "compared_to": row.compared_to,
        "judged_by": [judged.model_dump() for judged in one.judged_by],
        "in_full_because": one.earlier.because,
        "topic_ids": list(one.topic_ids),
        "replicas": list(one.replicas),
        "source_tail": one.tails[0],
        "mirror_tail": one.tails[1],
    }


def _judged(result: AuditResult, totals: dict[str, Any]) -> list[dict[str, Any]]:
    """Which promise was really judged, over what, and with which verdict."""
    ranges = f"{totals['offsets']:,} offsets in {_counted(totals['partitions'], 'partition')}"
    bytes_ = [
        {"promise": promise, "of": ranges, "verdict": overall(result.partitions).value}
        for promise in ("P2", "P8", "P11")
    ]
    return bytes_ + [
        {
            "promise": one.promise,
            "of": f"{one.name}: {one.judged:,} {one.unit}",
            "verdict": one.verdict.value,
        }
        for one in result.sections
        if one.judged
    ]


def _number(promise: str) -> int:
    return int(promise[1:])


def section_row(one: Section) -> dict[str, Any]:
    """A section as JSON."""
    row = one._asdict()
    row["verdict"] = one.verdict.value
    row["problems"] = [
        {**problem._asdict(), "severity": problem.severity.value} for problem in one.problems
    ]
    return row


def said(result: AuditResult, totals: dict[str, Any]) -> str:
    """The result in a sentence."""
    size = amount(totals["source_bytes"] + totals["mirror_bytes"])
    partitions = _counted(totals["partitions"], "partition")
    read = f"{totals['offsets']:,} offsets in {partitions}, {size} read"
    if result.verdict is Verdict.BROKEN and not totals["broken"]:
        names = ", ".join(one.name for one in result.sections if one.verdict is Verdict.BROKEN)
        return f"broken beside the data: {names}; {read}"
    if result.verdict is Verdict.BROKEN:
        differ = f"{_counted(totals['broken'], 'partition')} {'differs' if totals['broken'] == 1 else 'differ'}"
        return f"{differ}, {_counted(totals['faults'], 'fault')}; {read}"
    if result.verdict is Verdict.UNKNOWN:
        open_ = _counted(totals["unknown"], "partition")
        return f"{open_} could not be fully compared, no fault in what was; {read}"
    over = f"; {_counted(len(result.over_budget), 'budget')} exceeded" if result.over_budget else ""
    return f"no difference; {read} on both sides{over}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _side(region: AuditedRegion, ends: Ends) -> dict[str, Any]:
    return {
        "region": region.name,
        "data_dirs": list(region.data_dirs),
        "bootstrap": region.bootstrap,
        "ends_from": ends.source,
        "because": ends.reason,
        "facts": "known" if region.facts is not None else region.because,
    }


def finding_row(finding: Finding) -> dict[str, Any]:
    row = finding._asdict()
    row["class"] = row.pop("kind").value
    row["severity"] = finding.severity.value
    row["side"] = finding.side.value
    row["evidence"] = json.loads(finding.evidence)
    return row


def write_json(path: str, document: dict[str, Any]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def write_parquet(
    folder: str, findings: Sequence[Finding], partitions: Sequence[PartitionVerdict]
) -> list[str]:
    """`findings.parquet` and `partition_verdict.parquet`; returns their paths."""
    import pyarrow
    from pyarrow import parquet

    rows = [{**finding_row(one), "evidence": one.evidence} for one in findings]
    paths = []
    for name, table in (
        ("findings", pyarrow.Table.from_pylist(rows, _schema(Finding, _FINDING_NAMES))),
        (
            "partition_verdict",
            pyarrow.Table.from_pylist(
                [row._asdict() for row in partitions], _schema(PartitionVerdict, {})
            ),
        ),
    ):
        paths.append(os.path.join(folder, f"{name}.parquet"))
        parquet.write_table(table, paths[-1], compression="zstd")
    return paths


_FINDING_NAMES = {"kind": "class"}


def _schema(row: type[Any], names: dict[str, str]) -> Any:
    """Columns in field order: whole numbers as int64, shares as float64, everything else as text."""
    import pyarrow

    kinds = {int: pyarrow.int64(), float: pyarrow.float64()}
    fields = [
        (names.get(name, name), kinds.get(kind, pyarrow.string()))
        for name, kind in row.__annotations__.items()
    ]
    if row is Finding:
        fields.append(("severity", pyarrow.string()))
    return pyarrow.schema(fields)
