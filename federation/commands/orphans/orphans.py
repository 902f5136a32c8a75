"""`causeway orphans list|show|export|replay|discard`."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from federation.commands.answers import Failure, answer, end, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import validating
from federation.commands.link.times import instant
from federation.commands.numbers import INT32_MAX
from federation.commands.orphans import formats, stores
from federation.commands.orphans import replay as replays
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.provenance import old_partition_of
from federation.commands.orphans.reading import OrphanRecord, records_of
from federation.commands.orphans.stores import Tail
from federation.commands.orphans.topics import TopicClient
from federation.commands.outcomes import INCOMPLETE_EXIT
from federation.commands.region.bootstrap import bootstrap_options, region_at

Classified = Iterator[tuple[OrphanRecord, OrphanClass | None]]


@click.group()
def orphans() -> None:
    """Orphan tails: records that `causeway mirror truncate-and-restore` sealed before it removed them.

    They stay in the brokers' log directories until `discard`.
    """


def against_option(command: Any) -> Any:
    return click.option(
        "--against",
        metavar="HOST:PORT[,...]",
        default="",
        help="Kafka addresses of the region that took over, to tell what it has, too. "
        "Without it: this region's own topic, which mirrors it.",
    )(command)


@orphans.command("list")
@click.option("--topic", default="", help="Only those of this topic.")
@bootstrap_options
def list_orphans(bootstrap: str, topic: str, as_json: bool) -> None:
    """List the orphan tails of every broker of the region."""
    found = stores.list_tails(bootstrap, topic)
    result = {
        "orphans": [_described(tail) for tail in found.tails],
        "brokers_without_answer": {str(broker): why for broker, why in found.silent.items()},
    }
    answer(result, as_json, lambda: _show_tails(found))
    if found.silent:
        end(INCOMPLETE_EXIT)


@orphans.command()
@click.argument("name")
@click.option(
    "--limit",
    type=click.IntRange(0, INT32_MAX),
    default=100,
    show_default=True,
    help="Show at most so many records.",
)
@against_option
@bootstrap_options
def show(bootstrap: str, name: str, limit: int, against: str, as_json: bool) -> None:
    """Show the records of orphan tail NAME, and which of them the region that took over has, too.

    ReadBy are the groups of this region that had read a record when the tail was sealed, by their committed offsets.
    """
    (tail,) = stores.find_tails(bootstrap, [name])
    cluster_id = region_at(bootstrap).cluster_id
    found = list(islice(_classified(tail, against or bootstrap, cluster_id), limit))
    result = {
        "orphan": _described(tail),
        "records": [formats.of_tail(tail, *each) for each in found],
    }
    answer(result, as_json, lambda: _show_records(tail, found))


@orphans.command()
@click.argument("names", nargs=-1, required=True)
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["segments", "jsonl"]),
    default="segments",
    show_default=True,
    help="Kafka's segment files, or one JSON object a record.",
)
@against_option
@bootstrap_options
def export(
    bootstrap: str,
    names: tuple[str, ...],
    target: Path,
    file_format: str,
    against: str,
    as_json: bool,
) -> None:
    """Write orphan tails NAMES to files; checksums are verified."""
    written: list[Path] = []
    cluster_id = region_at(bootstrap).cluster_id
    for tail in stores.find_tails(bootstrap, names):
        if file_format == "segments":
            written += formats.write_segments(tail, target)
            continue
        target.mkdir(parents=True, exist_ok=True)
        path = target / f"{tail.name.replace('/', '@')}.jsonl"
        if path.exists():
            raise Failure(f"{path} is there already", hint="export to another directory")
        with path.open("w", encoding="utf-8") as file:
            records = _classified(tail, against or bootstrap, cluster_id)
            for line in formats.lines(tail, records):
                file.write(line + "\n")
        written.append(path)
    paths = [str(path) for path in written]
    answer({"files": paths}, as_json, lambda: click.echo("\n".join(paths)))


@orphans.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--to-topic", required=True, help="A side topic, or the topic itself.")
@click.option(
    "--to",
    "target",
    required=True,
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of the region that writes this topic.",
)
@click.option(
    "--class",
    "classes",
    multiple=True,
    type=click.Choice([each.value for each in OrphanClass]),
    default=["unique"],
    show_default=True,
    help="Which records; may be repeated.",
)
@against_option
@validating("Count only.")
@bootstrap_options
def replay(
    bootstrap: str,
    names: tuple[str, ...],
    to_topic: str,
    target: str,
    classes: tuple[str, ...],
    against: str,
    validate_only: bool,
    as_json: bool,
) -> None:
    """Append records of orphan tails NAMES to a topic, each once, with headers that say where it came from.

    An interrupted replay may be repeated: what is there already is found by the headers. Run one at a time. What was
    replayed to the topic itself is of class "replayed" from then on, and goes to another topic only if asked for.
    """
    cluster_id = region_at(bootstrap).cluster_id
    wanted = {OrphanClass(each) for each in classes}
    results = []
    with (
        TopicClient(target, to_topic) as client,
        Progress(console=Console(stderr=True), transient=True) as bar,
    ):
        for tail in stores.find_tails(bootstrap, names):
            classified = _classified(tail, against or bootstrap, cluster_id)
            chosen = (orphan for orphan, one in classified if one in wanted)
            results.append(_replay(client, tail, chosen, cluster_id, bar, validate_only))
    answer({"replayed": results}, as_json, lambda: _show_replayed(results, to_topic))


def _replay(
    client: TopicClient,
    tail: Tail,
    chosen: Iterable[OrphanRecord],
    cluster_id: str,
    bar: Progress,
    validate_only: bool,
) -> dict[str, Any]:
    if validate_only:
        before = replays.find_target(client, tail, cluster_id).before
        missing = sum(1 for orphan in chosen if not before.has(orphan))
        return {"orphan": tail.name, "would_append": missing}
    task = bar.add_task(tail.name, total=tail.orphan.records)
    appended, there = replays.replay(
        client, tail, chosen, cluster_id, lambda done: bar.update(task, completed=done)
    )
    return {"orphan": tail.name, "appended": appended, "there_before": there}


@orphans.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@validating("Show what would go.")
@bootstrap_options
def discard(
    bootstrap: str, names: tuple[str, ...], yes: bool, validate_only: bool, as_json: bool
) -> None:
    """Remove every copy of orphan tails NAMES for good."""
    tails = stores.find_tails(bootstrap, names)
    if not (yes or validate_only):
        count = sum(tail.orphan.records for tail in tails)
        click.confirm(f"Remove {count} records for good?", abort=True, err=True)
    gone = stores.discard(bootstrap, [tail.name for tail in tails], validate_only=validate_only)
    left = sorted({broker for tail in tails for broker in tail.brokers if broker in gone.silent})
    done = {tail.name: tail.brokers for tail in gone.tails}
    result = {"discarded": done, "brokers_without_answer": gone.silent}
    verb = "would go" if validate_only else "gone"
    answer(result, as_json, lambda: click.echo("\n".join(f"{name}: {verb}" for name in done)))
    if left:
        raise Failure(
            f"brokers {', '.join(map(str, left))} did not answer, and still have copies",
            hint="ask again when they run",
        )


def _classified(tail: Tail, bootstrap: str, cluster_id: str) -> Classified:
    """Every record, with what is known of it at the region that took over."""
    with TopicClient(bootstrap, tail.orphan.topic) as client:
        source = old_partition_of(tail, cluster_id)
        found = Successors.read(client, source, tail.orphan.base_offset)
    yield from found.classify(records_of(tail))


def _described(tail: Tail) -> dict[str, Any]:
    return as_dict(tail.orphan) | {"brokers": tail.brokers}


def _show_tails(found: stores.Stores) -> None:
    table = Table("Orphan", "Offsets", "Records", "Bytes", "SealedAt", "Brokers", "Reason")
    for tail in found.tails:
        one = tail.orphan
        table.add_row(
            tail.name,
            f"[{one.base_offset}, {one.next_offset})",
            str(one.records),
            str(one.bytes),
            instant(one.sealed_at_ms),
            ", ".join(map(str, tail.brokers)),
            one.damage or one.reason,
        )
    if found.tails:
        show_table(table)
    else:
        screen().print("No orphan tails.")
    for broker, why in found.silent.items():
        screen().print(f"Broker {broker} does not answer, and may have more: {why}")


def _show_records(tail: Tail, found: list[tuple[OrphanRecord, OrphanClass | None]]) -> None:
    show_table(formats.table(tail, found))
    left = tail.orphan.records - len(found)
    if left > 0:
        screen().print(f"{left} more: --limit, or `causeway orphans export`")


def _show_replayed(results: list[dict[str, Any]], topic: str) -> None:
    for one in results:
        if "would_append" in one:
            click.echo(f"{one['orphan']}: {one['would_append']} records would go to {topic}")
            continue
        before = f", {one['there_before']} were there" if one["there_before"] else ""
        click.echo(f"{one['orphan']}: {one['appended']} records appended to {topic}{before}")
