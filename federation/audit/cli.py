"""The commands `causeway audit ...`. Whatever is slow to import is imported when a command runs."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from federation.commands.answers import Failure, answer, end, json_option

if TYPE_CHECKING:
    from federation.audit.cut.cut import AuditedRegion
    from federation.audit.run import AuditProgress, AuditResult, Options


COULD_NOT_RUN = 4
T = TypeVar("T")


class RunCommand(click.Command):
    """A command whose usage errors exit with 4: here, 2 is a verdict."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.exit_code = COULD_NOT_RUN  # type: ignore[misc]  # click reads it from the instance
            raise


@click.group()
def audit() -> None:
    """Prove from the stored data that two regions hold the same thing."""


@audit.command(cls=RunCommand)
@click.option("--dir", "directory", help="A local federation's directory (its federation.json).")
@click.option("--source", "source", help="With --dir: the source region's name.")
@click.option("--mirror", "mirror", help="With --dir: the mirror region's name.")
@click.option("--source-dir", multiple=True, help="Data directory of a source node; repeatable.")
@click.option("--mirror-dir", multiple=True, help="Data directory of a mirror node; repeatable.")
@click.option("--source-bootstrap", help="Ask the source for its offsets, if it answers.")
@click.option("--mirror-bootstrap", help="Ask the mirror for its offsets, if it answers.")
@click.option("--source-name", default="source", show_default=True, help="What to call it.")
@click.option("--mirror-name", default="mirror", show_default=True, help="What to call it.")
@click.option("--topic", "topics", multiple=True, help="Name or pattern; default: all in common.")
@click.option("--engine", type=click.Choice(["spark", "local"]), default="spark", show_default=True)
@click.option("--master", default="local[*]", show_default=True, help="Spark master URL.")
@click.option("--output", "--out", "output", default="audit-report", show_default=True)
@click.option(
    "--holes", multiple=True, help="JSON: holes, or `mirror describe --json`; repeatable."
)
@click.option("--cut", "cuts", multiple=True, help="The same, for topics that were failed over.")
@click.option("--mirror-prefix", default="", help="The link's cluster.link.prefix.")
@click.option("--payload", is_flag=True, help="Quote keys and values in the evidence.")
@click.option("--budget-lag-records", type=click.IntRange(0), help="Exit 3 beyond this lag.")
@click.option("--budget-lag-ms", type=click.IntRange(0), help="Exit 3 beyond this lag.")
@json_option
def run(output: str, as_json: bool, **given: Any) -> None:
    """Compare a mirror with its source, batch by batch, from both regions' segment files.

    Name the regions either as --dir DIR --source WEST --mirror EAST or by their data directories. Leaves
    report.html, audit.json, findings.parquet and partition_verdict.parquet in the --output directory.

    Exit codes: 0 kept, 1 broken, 2 unknown or unreadable, 3 kept but over a budget, 4 could not run.
    """
    from federation.audit.run import CannotRun, run_audit

    options = _options(given)
    started = time.monotonic()
    try:
        with _watching(options) as watch:
            result = run_audit(options, lambda: time.time_ns() // 1_000_000, watch)
        document = _write(result, options, time.monotonic() - started, output)
    except CannotRun as error:
        raise Failure(str(error), exit_code=COULD_NOT_RUN) from error
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}", exit_code=COULD_NOT_RUN) from error
    answer(document, as_json, lambda: _show(result, document))
    end(document["exit_code"])


def _options(given: dict[str, Any]) -> "Options":
    from federation.audit.run import Options
    from federation.audit.verdict.holes import parse, parse_cuts

    source, mirror = _regions(given)
    return Options(
        source=source,
        mirror=mirror,
        topics=given["topics"],
        engine=given["engine"],
        master=given["master"],
        payload=given["payload"],
        holes=tuple(hole for path in given["holes"] for hole in _parsed("--holes", path, parse)),
        cuts={
            key: offset
            for path in given["cuts"]
            for key, offset in _parsed("--cut", path, parse_cuts).items()
        },
        mirror_prefix=given["mirror_prefix"],
        budget_lag_records=given["budget_lag_records"],
        budget_lag_ms=given["budget_lag_ms"],
    )


def _refused(because: str, hint: str) -> Failure:
    return Failure(because, hint=hint, exit_code=COULD_NOT_RUN)


def _regions(given: dict[str, Any]) -> "tuple[AuditedRegion, AuditedRegion]":
    source, mirror = _from_directory(given) if given["directory"] else _from_data_dirs(given)
    shared = {os.path.realpath(path) for path in source.data_dirs} & {
        os.path.realpath(path) for path in mirror.data_dirs
    }
    if shared:
        raise _refused(
            f"{', '.join(sorted(shared))} would be compared with itself",
            "name two different regions",
        )
    return source, mirror


def _from_data_dirs(given: dict[str, Any]) -> "tuple[AuditedRegion, AuditedRegion]":
    from federation.audit.cut.cut import AuditedRegion

    if given["source"] or given["mirror"]:
        raise _refused(
            "--source and --mirror are names of regions in a local federation", "give its --dir too"
        )
    if not given["source_dir"] or not given["mirror_dir"]:
        raise _refused(
            "name two regions", "--dir with --source and --mirror, or --source-dir and --mirror-dir"
        )
    source, mirror = (
        AuditedRegion(given[f"{side}_name"], given[f"{side}_dir"], given[f"{side}_bootstrap"] or "")
        for side in ("source", "mirror")
    )
    return source, mirror


def _from_directory(given: dict[str, Any]) -> "tuple[AuditedRegion, AuditedRegion]":
    if given["source_dir"] or given["mirror_dir"]:
        raise _refused(
            "--dir finds the data directories itself", "leave out --source-dir and --mirror-dir"
        )
    regions = _local(given["directory"])
    chosen = []
    for side in ("source", "mirror"):
        if given[side] not in regions:
            known = ", ".join(sorted(regions)) or "none"
            raise _refused(
                f"--{side}: no region {given[side]} in {given['directory']}", f"there are: {known}"
            )
        found = regions[given[side]]
        address = given[f"{side}_bootstrap"]
        chosen.append(found if address is None else found._replace(bootstrap=address))
    return chosen[0], chosen[1]


def _local(directory: str) -> "dict[str, AuditedRegion]":
    """The regions that `causeway local up` wrote down."""
    from federation.audit.cut.cut import AuditedRegion

    path = os.path.join(directory, "federation.json")
    try:
        with open(path, encoding="utf-8") as file:
            regions = json.load(file)["regions"]
        return {
            one["name"]: AuditedRegion(
                one["name"], tuple(node["data"] for node in one["nodes"]), one["bootstrap"]
            )
            for one in regions
        }
    except OSError as error:
        raise _refused(f"{path}: {error.strerror}", "is a local federation there?") from error
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(
            f"{path} is not what `causeway local up` writes: {error!r}", "restore it"
        ) from error


def _parsed(option: str, path: str, parse: Callable[[str], T]) -> T:
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError) as error:
        raise _refused(
            f"{option} {path}: {error}",
            "`causeway mirror describe TOPIC --json` writes such a file",
        ) from error


@contextmanager
def _watching(options: "Options") -> "Iterator[AuditProgress]":
    """A progress bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from federation.audit.run import AuditProgress

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


def _write(
    result: "AuditResult", options: "Options", seconds: float, output: str
) -> dict[str, Any]:
    """Everything into the output directory; returns the JSON document."""
    from federation.audit.report.page import page
    from federation.audit.report.tables import summary, write_json, write_parquet

    os.makedirs(output, exist_ok=True)
    document = summary(result, options, seconds)
    document["html"] = os.path.abspath(os.path.join(output, "report.html"))
    document["json"] = os.path.abspath(os.path.join(output, "audit.json"))
    document["parquet"] = [
        os.path.abspath(path) for path in write_parquet(output, result.findings, result.partitions)
    ]
    with open(document["html"], "w", encoding="utf-8") as file:
        file.write(page(result, document))
    write_json(document["json"], document)
    return document


def _show(result: "AuditResult", document: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    colour = {"kept": "green", "broken": "red", "unknown": "yellow"}
    table = Table("partition", "verdict", "classes", box=None, pad_edge=False)
    for name in ("offsets", "first differing", "bytes read", "lag"):
        table.add_column(name, justify="right")
    for row in _worst(result):
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
    verdict = document["verdict"]
    console.print(f"[bold {colour[verdict]}]{verdict}[/]: {document['said']}", soft_wrap=True)
    for line in document["over_budget"]:
        console.print(f"over budget: {line}")
    console.print(f"report: {document['html']}", soft_wrap=True)


def _worst(result: "AuditResult") -> Sequence[Any]:
    from federation.audit.report.pictures import shown

    return shown(result.partitions)
