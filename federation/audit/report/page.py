"""The report for people: one HTML file that needs nothing beside it."""

import base64
import json
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from federation.audit.comparison.findings import MEANING, Class
from federation.audit.report.pictures import ROWS_MAX, amount, coverage, overview, percent
from federation.audit.result import AuditResult

FINDINGS_MAX = 500
"""Rows in the page; the Parquet table has all of them."""
HEADLINE = {
    "kept": "Kept",
    "broken": "Broken",
    "unknown": "Unknown",
}


def page(result: AuditResult, document: dict[str, Any]) -> str:
    """The page for a result and its JSON document."""
    from jinja2 import Environment, StrictUndefined

    # Keys and values of records may stand in the evidence: everything is escaped.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["amount"] = amount
    environment.filters["coverage"] = lambda row: percent(coverage(row))
    environment.filters["instant"] = instant
    environment.filters["evidence"] = lambda evidence: json.dumps(evidence, indent=1)
    template = (
        resources.files("federation.audit.report").joinpath("page.html.j2").read_text("utf-8")
    )
    picture = base64.b64encode(overview(result.partitions, result.findings)).decode()
    faulty = [one for one in document["findings"] if one["severity"] != "note"]
    notes = [one for one in document["findings"] if one["severity"] == "note"]
    return environment.from_string(template).render(
        document=document,
        rows=result.partitions,
        headline=HEADLINE[document["verdict"]],
        picture=picture,
        rows_max=ROWS_MAX,
        problems_max=FINDINGS_MAX,
        findings=[*faulty, *notes][:FINDINGS_MAX],
        findings_left_out=max(0, len(faulty) + len(notes) - FINDINGS_MAX),
        meaning={kind.value: MEANING[kind] for kind in Class},
    )


def instant(at_ms: int) -> str:
    """Milliseconds since the Unix epoch, for people."""
    when = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{when:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03} UTC"
