"""`causeway replica`: the status of every replica, with the columns of `kafka-replica-status`."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

import click
from rich.table import Table

from federation.commands.addresses import UNREACHABLE_EXIT
from federation.commands.answers import Failure, answer, end, screen, show_table
from federation.commands.numbers import Seconds
from federation.commands.region.bootstrap import bootstrap_options, region_at
from federation.commands.region.description import PartitionDescription
from federation.commands.replica.replica_status import LeaderFailure, ReplicaStatusRow, rows
from federation.commands.topic_names import topic_names

COLUMNS: Final = (
    "Topic", "Partition", "Replica", "ClusterLink", "IsLeader", "IsObserver", "IsIsrEligible", "IsInIsr", "IsCaughtUp",
    "LastCaughtUpLagMs", "LastFetchLagMs", "LogStartOffset", "LogEndOffset", "Lag",
)  # fmt: skip
_TIMEOUT_MAX_S: Final = 3600.0
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)

Command: TypeAlias = Callable[..., Any]


@click.group()
def replica() -> None:
    """Replicas of a region's partitions."""


def _only_or_exclude(name: str, about: str) -> Callable[[Command], Command]:
    """An option: `--name` shows only these replicas, `--name exclude` shows all others."""
    return click.option(
        f"--{name}",
        is_flag=False,
        flag_value="only",
        type=click.Choice(["only", "exclude"]),
        help=f"Only {about}, or all but them.",
    )


@replica.command()
@topic_names()
@click.option("--partitions", metavar="0,2-4,...", default="", help="Default: all partitions.")
@_only_or_exclude("leaders", "leaders")
@_only_or_exclude("observers", "observers")
@click.option(
    "--include-linked",
    is_flag=True,
    hidden=True,
    expose_value=False,
    help="Of kafka-replica-status: the column ClusterLink, which is always there.",
)
@click.option("--no-internal", is_flag=True, help="Leave out the region's own topics.")
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(0.1, _TIMEOUT_MAX_S),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for each leader's response.",
)
@bootstrap_options
def status(
    bootstrap: str,
    topics: tuple[str, ...],
    partitions: str,
    leaders: str | None,
    observers: str | None,
    no_internal: bool,
    timeout_s: float,
    as_json: bool,
) -> None:
    """Show each replica: role, whether it is in sync, log end offset, time since it was caught up.

    The status comes from the leader of each partition. Where it does not answer, or there is no leader, values are
    shown as unknown, and the command exits 4.
    """
    indexes = _indexes(partitions)
    found = region_at(bootstrap, topics)
    candidates = [
        partition
        for topic in found.topics
        if not (no_internal and topic.is_internal)
        for partition in topic.partitions
    ]
    chosen = _chosen(candidates, indexes)
    every, silent = rows(chosen, found.brokers, timeout_s)
    shown = [
        row
        for row in every
        if _matches(leaders, row.is_leader) and _matches(observers, row.is_observer)
    ]
    result = {
        "replicas": [asdict(row) for row in shown],
        "silent": [asdict(each) for each in silent],
    }
    answer(result, as_json, lambda: _show(shown, silent))
    if any(not row.is_known for row in every):
        end(UNREACHABLE_EXIT)


def _indexes(text: str) -> list[range]:
    """`0,2-4` -> 0 and 2 to 4; empty for all. Ranges are not expanded: a typing error may name billions."""
    found: list[range] = []
    for item in filter(None, (item.strip() for item in text.split(","))):
        read = _RANGE.fullmatch(item)
        some = range(int(read[1]), int(read[2] or read[1]) + 1) if read else range(0)
        if not some:
            raise click.BadParameter(f"{item!r} is neither a number nor a range.")
        found.append(some)
    return found


def _chosen(
    partitions: Sequence[PartitionDescription], indexes: Sequence[range]
) -> list[PartitionDescription]:
    there = {each.partition for each in partitions}
    for some in indexes:
        missing = next((index for index in some if index not in there), None)
        if missing is not None:
            raise Failure(
                f"no topic asked for has a partition {missing}",
                hint="`causeway region topics` says how many each has",
            )
    return [
        each
        for each in partitions
        if not indexes or any(each.partition in some for some in indexes)
    ]


def _matches(choice: str | None, is_one: bool | None) -> bool:
    """Rows whose value is unknown are always shown."""
    return choice is None or is_one is None or is_one == (choice == "only")


def _show(shown: Sequence[ReplicaStatusRow], silent: Sequence[LeaderFailure]) -> None:
    console = screen()
    if shown:
        table = Table(*COLUMNS, box=None, padding=(0, 2, 0, 0))
        for row in shown:
            table.add_row(*_cells(row))
        show_table(table)
    else:
        console.print("No such replicas.")
    for each in silent:
        who = "" if each.broker is None else f"[red]broker {each.broker} does not tell[/]: "
        console.print(f"{who}{each.because}", soft_wrap=True)


def _cells(row: ReplicaStatusRow) -> Iterator[str]:
    for name, value in asdict(row).items():
        if name == "cluster_link":
            yield value or "-"
        elif isinstance(value, bool):
            yield str(value).lower()
        else:
            yield "[red]unknown[/]" if value is None else str(value)
