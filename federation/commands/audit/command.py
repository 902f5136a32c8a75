"""`causeway audit run` and `causeway audit facts`. Whatever is slow to import is imported when a command runs."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from federation.commands.addresses import UNREACHABLE_EXIT, AddressList
from federation.commands.answers import Failure, answer, end, json_option
from federation.commands.audit.verify import verify
from federation.commands.numbers import INT64_MAX

if TYPE_CHECKING:
    from federation.audit.options import Options
    from federation.audit.result import AuditResult
    from federation.audit.verdict.holes import KnownHole


COULD_NOT_RUN = 4
REPORT = "audit.json"
T = TypeVar("T")


@click.group()
def audit() -> None:
    """Prove from the stored data that two regions hold the same thing."""


@audit.command()
@click.option("--dir", "directory", help="A local federation's directory (its federation.json).")
@click.option("--source", "source", help="With --dir: the source region's name.")
@click.option("--mirror", "mirror", help="With --dir: the mirror region's name.")
@click.option("--source-dir", multiple=True, help="Data directory of a source node; repeatable.")
@click.option("--mirror-dir", multiple=True, help="Data directory of a mirror node; repeatable.")
@click.option(
    "--source-bootstrap", help="Ask the source for offsets, facts, and what --source-dir lacks."
)
@click.option(
    "--mirror-bootstrap", help="Ask the mirror for offsets, facts, and what --mirror-dir lacks."
)
@click.option("--source-facts", help="What `audit facts` wrote of the source, instead of asking.")
@click.option("--mirror-facts", help="What `audit facts` wrote of the mirror, instead of asking.")
@click.option("--source-name", default="source", show_default=True, help="What to call it.")
@click.option("--mirror-name", default="mirror", show_default=True, help="What to call it.")
@click.option(
    "--replicas",
    type=click.Choice(["leader", "in-sync", "all"]),
    default="in-sync",
    show_default=True,
    help="Which replicas of each partition must hold what was promised.",
)
@click.option("--topic", "topics", multiple=True, help="Name or pattern; default: all in common.")
@click.option("--engine", type=click.Choice(["spark", "local"]), default="spark", show_default=True)
@click.option("--master", default="local[*]", show_default=True, help="Spark master URL.")
@click.option("--output", "--out", "output", default="audit-report", show_default=True)
@click.option(
    "--since", help="audit.json of an earlier audit, or its folder: only what is new is read."
)
@click.option("--overwrite", is_flag=True, help="Replace the report that --output holds.")
@click.option("--resume", is_flag=True, help="Go on where a run with this --output was stopped.")
@click.option("--holes", multiple=True, help="JSON: holes, or `mirror holes --json`; repeatable.")
@click.option("--source-holes", multiple=True, help="The same of the source, once a mirror itself.")
@click.option("--cut", "cuts", multiple=True, help="The same, for topics that were failed over.")
@click.option("--mirror-prefix", default="", help="The link's cluster.link.prefix.")
@click.option("--payload", is_flag=True, help="Quote keys and values in the evidence.")
@click.option(
    "--budget-lag-records", type=click.IntRange(0, INT64_MAX), help="Exit 3 beyond this lag."
)
@click.option("--budget-lag-ms", type=click.IntRange(0, INT64_MAX), help="Exit 3 beyond this lag.")
@json_option
def run(output: str, overwrite: bool, resume: bool, as_json: bool, **given: Any) -> None:
    """Compare a mirror with its source, batch by batch.

    Name the regions either as --dir DIR --source WEST --mirror EAST, or by the data directories of their nodes, or by
    their addresses: in-sync replicas of which no directory is named are fetched from the brokers. What the files don't
    say (in-sync replicas, the hole ledger, cuts, retention) is asked of a region that answers, else read from the
    metadata log in its directories. Leaves report.html, audit.json, findings.parquet and partition_verdict.parquet in
    the --output directory.

    With --since, what an earlier report found kept is not read again: the verdict speaks for the new ranges, and the
    report names the ones before with the digests of their reports (`causeway audit verify` checks them).

    Exit codes: 0 kept, 1 broken, 2 usage error, 3 kept but over a budget, 4 could not run, 5 unknown or unreadable.
    """
    from federation.audit.journal import NAME, Journal
    from federation.audit.result import CannotRun
    from federation.audit.run import run_audit
    from federation.commands.audit.progress import show, watching

    if not overwrite:
        _refuse_another_report(output)
    options = _options(given)
    if options.since is not None and _is_same(options.since.path, os.path.join(output, REPORT)):
        raise Failure(
            f"--output {output} would replace the report of --since",
            hint="name another --output",
            exit_code=COULD_NOT_RUN,
        )
    started = time.monotonic()
    try:
        since = options.since.digest if options.since is not None else ""
        how = f"payload {options.payload} since {since}"
        journal = Journal(os.path.join(output, NAME), resume=resume, options=how)
        with watching(options) as watch, journal:
            watch = watch._replace(journal=journal)
            result = run_audit(options, lambda: time.time_ns() // 1_000_000, watch)
        document = _write(result, options, time.monotonic() - started, output)
    except CannotRun as error:
        raise Failure(str(error), exit_code=COULD_NOT_RUN) from error
    except OSError as error:
        raise Failure(f"{error.filename}: {error.strerror}", exit_code=COULD_NOT_RUN) from error
    answer(document, as_json, lambda: show(result, document))
    end(document["exit_code"])


@audit.command()
@click.option(
    "--bootstrap-server", type=AddressList(), help="Kafka addresses of a region that runs."
)
@click.option(
    "--data-dir",
    "data_dirs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="Data directory of a node of a region that is down; repeatable.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the JSON object here."
)
@json_option
def facts(
    bootstrap_server: str | None, data_dirs: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """What a region says of itself and its segment files don't.

    In-sync replicas, effective configurations, mirrors with their cuts, the hole ledger, and up to where compaction has
    changed each replica's log. An audit takes the JSON object as --source-facts or --mirror-facts. What is kept with a
    copy of the data is best asked for once the copy is made.
    """
    from federation.commands.audit.compaction import by_brokers, by_directories, with_compaction
    from federation.commands.audit.facts import NoFacts, ask, of_directories
    from federation.commands.audit.facts_table import show_facts

    if (bootstrap_server is None) is (not data_dirs):
        raise click.UsageError("Give --bootstrap-server, or --data-dir.")
    try:
        if bootstrap_server:
            said = ask(bootstrap_server)
            said = with_compaction(said, by_brokers(bootstrap_server, said))
        else:
            said = of_directories(data_dirs)
            said = with_compaction(said, by_directories(data_dirs, said))
    except NoFacts as error:
        raise Failure(str(error), exit_code=UNREACHABLE_EXIT) from error
    if output is not None:
        output.write_text(said + "\n", encoding="utf-8")
    answer(json.loads(said), as_json, lambda: show_facts(said))


audit.add_command(verify)


def _options(given: dict[str, Any]) -> "Options":
    from federation.audit.facts.replica_choice import ReplicaSelection
    from federation.audit.options import Options
    from federation.audit.since.last_report import NoReport, load
    from federation.audit.verdict.holes import parse_cuts
    from federation.commands.audit.regions import regions

    try:
        since = load(given["since"]) if given["since"] is not None else None
    except NoReport as error:
        raise Failure(f"--since {error}", exit_code=COULD_NOT_RUN) from error
    source, mirror = regions(given)
    return Options(
        source=source,
        mirror=mirror,
        topics=given["topics"],
        engine=given["engine"],
        master=given["master"],
        payload=given["payload"],
        holes=_ledger(given, "--holes"),
        source_holes=_ledger(given, "--source-holes"),
        cuts={
            key: offset
            for path in given["cuts"]
            for key, offset in _parsed("--cut", path, parse_cuts).items()
        },
        mirror_prefix=given["mirror_prefix"],
        replicas=ReplicaSelection(given["replicas"]),
        since=since,
        budget_lag_records=given["budget_lag_records"],
        budget_lag_ms=given["budget_lag_ms"],
    )


def _ledger(given: dict[str, Any], option: str) -> "tuple[KnownHole, ...]":
    from federation.audit.verdict.holes import parse

    paths = given[option.removeprefix("--").replace("-", "_")]
    return tuple(hole for path in paths for hole in _parsed(option, path, parse))


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _refuse_another_report(output: str) -> None:
    """A report is evidence: it is not lost by a command that was typed twice."""
    if os.path.exists(os.path.join(output, REPORT)):
        raise Failure(
            f"{output} holds the report of another audit",
            hint="name another --output, or give --overwrite",
            exit_code=COULD_NOT_RUN,
        )


def _parsed(option: str, path: str, parse: Callable[[str], T]) -> T:
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError) as error:
        raise Failure(
            f"{option} {path}: {error}",
            hint="`causeway mirror describe TOPIC --json` writes such a file",
            exit_code=COULD_NOT_RUN,
        ) from error


def _write(
    result: "AuditResult", options: "Options", seconds: float, output: str
) -> dict[str, Any]:
    """Everything into the output directory; returns the JSON document."""
    from federation.audit.report.page import page
    from federation.audit.report.tables import summary, write_json, write_parquet

    os.makedirs(output, exist_ok=True)
    document = summary(result, options, seconds)
    document["html"] = os.path.abspath(os.path.join(output, "report.html"))
    document["json"] = os.path.abspath(os.path.join(output, REPORT))
    document["parquet"] = [
        os.path.abspath(path) for path in write_parquet(output, result.findings, result.partitions)
    ]
    with open(document["html"], "w", encoding="utf-8") as file:
        file.write(page(result, document))
    write_json(document["json"], document)
    return document
