"""A progress bar while an audit runs, and the table after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from federation.audit.engines import AuditProgress
from federation.audit.options import Options
from federation.audit.report.page import instant
from federation.audit.report.pictures import shown
from federation.audit.result import AuditResult

PROBLEMS_MAX = 10  # of a section are shown; the report has all


def place(problem: dict[str, Any]) -> str:
    """Where a section's problem is."""
    partition = f"-{problem['partition']}" if problem["partition"] >= 0 else ""
    replica = f" ({problem['replica']})" if problem["replica"] else ""
    return f"{problem['topic']}{partition}{replica}"


@contextmanager
def watching(options: Options) -> Iterator[AuditProgress]:
    """A progress bar on stderr, where that is a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        where = f"{options.source.name} and {options.mirror.name} on {options.engine}"
        task = progress.add_task(f"comparing {where}", total=None)
        yield AuditProgress(
            lambda size: progress.update(task, total=size),
            lambda size: progress.advance(task, size),
        )


def show(result: AuditResult, document: dict[str, Any]) -> None:
    """Partitions, the worst first where there are many; the verdict in a sentence; where the report is."""
    console = Console()
    colour = {"kept": "green", "broken": "red", "unknown": "yellow"}
    table = Table("partition", "verdict", "classes", box=None, pad_edge=False)
    for name in ("offsets", "first differing", "bytes read", "lag"):
        table.add_column(name, justify="right")
    for row in shown(result.partitions):
        table.add_row(
            f"{row.topic}-{row.partition}",
            f"[{colour[row.verdict]}]{row.verdict}",
            row.classes.replace("_", " "),
            f"{row.offsets:,}",
            f"{row.first_differing_offset:,}" if row.first_differing_offset >= 0 else "",
            f"{row.source_bytes + row.mirror_bytes:,}",
            f"{row.lag_offsets:,}" if row.lag_offsets else "",
        )
    console.print(table)
    for one in document["sections"]:
        shade = colour[one["verdict"]]
        why = f": {one['because']}" if one["because"] else ""
        console.print(
            f"{one['name']} ({one['promise']}): [{shade}]{one['verdict']}[/],"
            f" {one['judged']:,} {one['unit']}{why}"
        )
        for problem in [row for row in one["problems"] if row["severity"] != "note"][:PROBLEMS_MAX]:
            console.print(f"  {place(problem)}: {problem['because']}")
    verdict = document["verdict"]
    console.print(f"[bold {colour[verdict]}]{verdict}[/]: {document['said']}", soft_wrap=True)
    for side in ("source", "mirror"):
        if (facts := document["cut"][side]["facts"]) != "known":
            console.print(f"not asked: {document['cut'][side]['region']}: {facts}", soft_wrap=True)
    if document["since"] is not None:
        show_since(console, document)
    for line in document["over_budget"]:
        console.print(f"over budget: {line}")
    console.print(f"report: {document['html']}", soft_wrap=True)


def show_since(console: Console, document: dict[str, Any]) -> None:
    """Which earlier report this one goes on from, and what it had to read in full all the same."""
    since, rows = document["since"], document["lineage"]
    full = [row for row in rows if row["in_full_because"]]
    console.print(
        f"since {since['report']} ({instant(since['at_ms'])}):"
        f" {len(rows) - len(full)} partitions only beyond it, {len(full)} in full",
        soft_wrap=True,
    )
    for row in full[:PROBLEMS_MAX]:
        console.print(f"  {row['topic']}-{row['partition']}: {row['in_full_because']}")
