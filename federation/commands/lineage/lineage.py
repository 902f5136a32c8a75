"""`causeway lineage TOPIC`: which region wrote which offsets, and which of them hold them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.tree import Tree

from federation.commands.addresses import AddressList, local_region
from federation.commands.answers import Failure, answer, end, json_option, screen
from federation.commands.lineage.histories import History, RegionHistory, history_of
from federation.commands.lineage.tree import Branch, Writers, WrittenRange, tree_of
from federation.commands.link.times import instant
from federation.commands.numbers import INT32_MAX
from federation.commands.outcomes import INCOMPLETE_EXIT


@click.command()
@click.argument("topic")
@click.option(
    "--bootstrap-server",
    "servers",
    multiple=True,
    type=AddressList(),
    metavar="HOST:PORT[,...]",
    help="Kafka addresses of a region. Repeat it for each region that has the topic.",
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="A local federation's directory, with --region.",
)
@click.option("--region", "names", multiple=True, help="A region of --dir. May be repeated.")
@click.option("--partition", type=click.IntRange(0, INT32_MAX), help="Only this partition.")
@json_option
def lineage(
    topic: str,
    servers: tuple[str, ...],
    directory: Path | None,
    names: tuple[str, ...],
    partition: int | None,
    as_json: bool,
) -> None:
    """Show which region wrote which offsets of TOPIC, under which leader epochs and decisions.

    Name every region that has the topic: where their histories part, the tree has branches. Partitions whose leader
    does not answer are not in it; such brokers are named, and the command exits 3.
    """
    addresses = _addresses(servers, directory, names)
    regions = [history_of(each, topic) for each in addresses]
    trees = dict(_trees(regions, partition))
    known = {region.region: name for region, name in zip(regions, names, strict=False)}
    silent = list(_silent(regions, known))
    if not trees:
        hint, code = (
            "`causeway region partitions` shows who leads",
            INCOMPLETE_EXIT if silent else 1,
        )
        because = "; ".join([f"no broker leads such a partition of {topic}", *silent])
        raise Failure(because, hint=hint, exit_code=code)
    found = {
        "topic": topic,
        "regions": [_region(each) for each in regions],
        "partitions": [{"partition": index, **_as_dict(root)} for index, root in trees.items()],
    }
    answer(found, as_json, lambda: _show(topic, trees, known, regions))
    if silent:
        end(INCOMPLETE_EXIT)


def _addresses(
    servers: tuple[str, ...], directory: Path | None, names: tuple[str, ...]
) -> list[str]:
    is_local = directory is not None and bool(names)
    if bool(servers) == is_local or (directory is None) != (not names):
        raise click.UsageError(
            "Give --bootstrap-server, or --dir and --region; each may name several regions."
        )
    if directory is None:
        return list(servers)
    return [local_region(directory, name).bootstrap for name in names]


def _trees(regions: list[RegionHistory], wanted: int | None) -> Iterator[tuple[int, Branch]]:
    writers = Writers(regions)
    by_partition: dict[int, list[History]] = {}
    for region in regions:
        for one in region.partitions:
            by_partition.setdefault(one.partition, []).append(one)
    for index, histories in sorted(by_partition.items()):
        if wanted in (None, index):
            yield index, tree_of(histories, writers)


def _labels(regions: list[RegionHistory], known: dict[str, str]) -> dict[str, str]:
    """Of the regions that hold a branch: `known` names, or cluster ids."""
    return {
        each.region: known.get(each.region, each.region)
        + (f" (mirror, {each.mirror_status})" if each.mirror_status not in ("", "STOPPED") else "")
        for each in regions
    }


def _region(region: RegionHistory) -> dict[str, Any]:
    return {
        "cluster_id": region.region,
        "mirror_status": region.mirror_status,
        "brokers_without_answer": {str(broker): why for broker, why in region.silent.items()},
    }


def _silent(regions: list[RegionHistory], known: dict[str, str]) -> Iterator[str]:
    """A line for each broker that did not answer; its region as in the tree."""
    for region in regions:
        for broker, why in region.silent.items():
            yield f"{known.get(region.region, region.region)}: broker {broker} did not answer: {why}"


def _as_dict(branch: Branch) -> dict[str, Any]:
    return {
        "regions": list(branch.regions),
        "ranges": [_range(each) for each in branch.ranges],
        "branches": [_as_dict(each) for each in branch.children],
    }


def _range(written: WrittenRange) -> dict[str, Any]:
    decision = written.decision
    return {
        "from_offset": written.start,
        "to_offset": written.end,
        "first_leader_epoch": written.first_epoch,
        "last_leader_epoch": written.last_epoch,
        "writer": written.writer,
        "generation": decision.generation if decision is not None else None,
        "decision_id": decision.decision_id if decision is not None else None,
        "kind": decision.kind if decision is not None else None,
    }


def _show(
    topic: str, trees: dict[int, Branch], known: dict[str, str], regions: list[RegionHistory]
) -> None:
    labels = _labels(regions, known)
    for index, root in trees.items():
        drawn = Tree(f"[bold]{escape(topic)}-{index}[/]")
        _draw(drawn, root, labels, known)
        screen().print(drawn)
    for line in _silent(regions, known):
        click.echo(line, err=True)


def _draw(above: Tree, branch: Branch, labels: dict[str, str], known: dict[str, str]) -> None:
    held = ", ".join(labels[each] for each in branch.regions)
    lines = [_line(each, known) for each in branch.ranges] or ["nothing in common"]
    node = above.add("\n".join([*lines, f"[dim]held by {escape(held)}[/]"]))
    for child in branch.children:
        _draw(node, child, labels, known)


def _line(written: WrittenRange, known: dict[str, str]) -> str:
    epochs = f"leader epochs {written.first_epoch} to {written.last_epoch}"
    if written.first_epoch == written.last_epoch:
        epochs = f"leader epoch {written.first_epoch}"
    writer = (
        known.get(written.writer, written.writer) or "a region that was not asked, or has forgotten"
    )
    line = f"[{written.start}, {written.end}) written in {writer}, {epochs}"
    decision = written.decision
    if decision is not None:
        verb = decision.kind.lower().replace("_", "-")
        line += f", since {verb} {instant(decision.cut.at_ms)} (generation {decision.generation})"
    return escape(line)
