"""`causeway region`: describes the brokers, topics and partitions of a region, and their problems."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.table import Table

from federation.commands.answers import NOT_WELL_EXIT, answer, end, screen, show_table
from federation.commands.on_demand import OnDemandGroup
from federation.commands.region.bootstrap import bootstrap_options, connect, region_at
from federation.commands.region.description import (
    NOBODY,
    BrokerDescription,
    PartitionDescription,
    RegionDescription,
    ShortTopic,
    TopicDescription,
    filter_options,
    matching,
    short_of_replicas,
    tally,
)
from federation.commands.region.disks import DiskDescription, disks_of
from federation.commands.region.elect import elect
from federation.commands.region.features import features
from federation.commands.region.log_level import log_level
from federation.commands.region.partition_rows import COLUMNS, cells, document
from federation.commands.region.quorum import QuorumInfo, VoterState
from federation.commands.region.requests import describe_region, factors_set
from federation.commands.region.unregister import unregister
from federation.commands.region.voters import voters
from federation.commands.topic_names import topic_names

_OFFLINE = (
    "offline: a replica of Isr or Elr leads as soon as it is back; where none comes back,"
    " `causeway region elect --election-type unclean` has another lead, and what that one misses is lost"
)


# These need the settings of a node, its metadata log or gRPC.
_ON_DEMAND = {
    "config": "federation.commands.region.config_check:config",
    "history": "federation.commands.region.history:history",
    "metadata": "federation.commands.metadata.commands:metadata",
    "reassign": "federation.commands.reassign.command:reassign",
}
_MORE_VOTERS = "; see `causeway region voters --help`"


@click.group(cls=OnDemandGroup, on_demand=_ON_DEMAND)
def region() -> None:
    """Describe a region: brokers, topics and partitions, and their problems.

    Uses Kafka's protocol, so these commands work with Apache Kafka too; all but `history`. Exit codes: 0 success,
    1 refused, 2 usage error, 3 not well (with --check) or not complete, 4 the region does not answer.
    """


region.add_command(elect)
region.add_command(voters)
region.add_command(unregister)
region.add_command(features)
region.add_command(log_level)


@region.command()
@bootstrap_options
@click.option(
    "--check",
    is_flag=True,
    help="Exit 3, too, if the quorum survives no loss (unless it has one voter), a broker is fenced,"
    " or a partition or a disk is not well.",
)
def describe(bootstrap: str, check: bool, as_json: bool) -> None:
    """Show the cluster id, controllers, brokers, and what of partitions and disks has a problem.

    Exits 3 where no controller is active, as most of them are away: what is shown is as the last one left it.
    """
    with connect(bootstrap) as client:
        found = describe_region(client, asks_quorum=True)
        short = short_of_replicas(found, factors_set(client, found))
    disks = disks_of(each for each in found.brokers if not each.fenced)
    said = {**_described(found, short), "log_dirs": list(map(_disk, disks))}
    answer(said, as_json, lambda: _show_region(found, short, disks))
    is_well = found.is_well and all(each.is_well for each in disks)
    if found.controller == NOBODY or (check and not is_well):
        end(NOT_WELL_EXIT)


@region.command()
@bootstrap_options
def brokers(bootstrap: str, as_json: bool) -> None:
    """List the brokers: addresses, whether they are fenced, how many partitions they lead and hold."""
    found = region_at(bootstrap, asks_quorum=True)
    answer(
        {"brokers": [_broker(found, each) for each in found.brokers]},
        as_json,
        lambda: show_table(_broker_table(found)),
    )


@region.command("topics")
@topic_names()
@bootstrap_options
@filter_options
@click.option(
    "--no-internal", is_flag=True, help="Leave out internal topics, as __consumer_offsets."
)
def list_topics(
    bootstrap: str,
    topics: tuple[str, ...],
    wanted: tuple[str, ...],
    no_internal: bool,
    as_json: bool,
) -> None:
    """List all topics or the named ones, or only those that have a partition with a problem."""
    found = [
        topic
        for topic in region_at(bootstrap, topics).topics
        if not (no_internal and topic.is_internal) and matching(topic.partitions, wanted)
    ]
    answer({"topics": [_topic(each) for each in found]}, as_json, lambda: _show_topics(found))


@region.command()
@topic_names()
@bootstrap_options
@filter_options
def partitions(
    bootstrap: str, topics: tuple[str, ...], wanted: tuple[str, ...], as_json: bool
) -> None:
    """List the partitions of all topics or of the named ones: leader, replicas, and which are in sync."""
    found = matching(region_at(bootstrap, topics).partitions, wanted)
    answer(
        {"partitions": [document(each) for each in found]},
        as_json,
        lambda: _show_partitions(found),
    )


# --- JSON ---


def _described(found: RegionDescription, short: Sequence[ShortTopic]) -> dict[str, Any]:
    return {
        "cluster_id": found.cluster_id,
        "controller": found.controller,
        "quorum": None if found.quorum is None else _quorum(found.quorum),
        "brokers": [_broker(found, each) for each in found.brokers],
        "topics": len(found.topics),
        "short_of_replicas": [asdict(each) for each in short],
        **asdict(tally(found.partitions)),
    }


def _quorum(quorum: QuorumInfo) -> dict[str, Any]:
    return {
        "leader": quorum.leader,
        "leader_epoch": quorum.leader_epoch,
        "high_watermark": quorum.high_watermark,
        "voters": [
            {"id": each.id, "lag": each.lag, "is_away": each.is_away} for each in quorum.voters
        ],
        "survives_losses": max(0, quorum.spare),
    }


def _broker(found: RegionDescription, broker: BrokerDescription) -> dict[str, Any]:
    return {**asdict(broker), "leads": found.leads(broker.id), "replicas": found.holds(broker.id)}


def _disk(disk: DiskDescription) -> dict[str, Any]:
    """`watermark`: the one that the free space is below: warn, refuse, or room for none."""
    told = asdict(disk)
    return {**told, "watermark": told.pop("level").name.lower()}


def _topic(topic: TopicDescription) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "internal": topic.is_internal,
        "replication_factor": topic.replication,
        **asdict(tally(topic.partitions)),
    }


# --- text ---


def _show_region(
    found: RegionDescription, short: Sequence[ShortTopic], disks: Sequence[DiskDescription]
) -> None:
    console = screen()
    console.print(f"[bold]cluster[/] {found.cluster_id}")
    console.print(f"active controller: {_controller(found)}", soft_wrap=True)
    show_table(_broker_table(found))
    internal = sum(topic.is_internal for topic in found.topics)
    console.print(f"topics: {len(found.topics)}, of which internal: {internal}")
    counted = tally(found.partitions)
    console.print(f"partitions: {counted.partitions}")
    for name, count in (
        ("offline", counted.offline),
        ("under-min-isr", counted.under_min_isr),
        ("under-replicated", counted.under_replicated),
    ):
        style = "red" if count else "green"
        see = f"  see: causeway region partitions --{name}" if count else ""
        console.print(f"  {name}: [{style}]{count}[/]{see}", highlight=False)
    for each in short:
        console.print(_repair(found, each), highlight=False, soft_wrap=True)
    for disk in disks:
        if not disk.is_well:
            console.print(f"[red]{disk.trouble}[/]", highlight=False, soft_wrap=True)


def _repair(found: RegionDescription, short: ShortTopic) -> str:
    """The missing replicas, and the commands that create them."""
    holders = ",".join(str(broker.id) for broker in found.brokers if not broker.fenced)
    plan = f"{short.topic.strip('_')}.json"
    return (
        f"[red]{short.topic} has {short.replicas} of {short.configured} configured replicas[/]; to mend it:\n"
        f"  causeway region reassign generate --topics {short.topic} --replication-factor {short.configured}"
        f" --broker-list {holders} --save {plan}\n"
        f"  causeway region reassign execute --reassignment-json-file {plan}"
    )


def _controller(found: RegionDescription) -> str:
    """While no controller is active, dead brokers are not fenced: the metadata is the last active controller's."""
    if found.controller == NOBODY:
        return (
            "[red]none is known[/]: what follows is as the last one left it;"
            " most of the controllers must run, for one of them to be elected"
        )
    return f"node {found.controller}{_voters(found)}"


def _voters(found: RegionDescription) -> str:
    if found.quorum is None:
        return ""
    voters = ", ".join(map(_voter, found.quorum.voters))
    style = "" if found.quorum.survives_a_loss else "[red]"
    losses = f"{style}{found.quorum.sentence}{'[/]' if style else ''}"
    hint = _MORE_VOTERS if style else ""
    return f", leader epoch {found.quorum.leader_epoch}, voters {voters}\nquorum: {losses}{hint}"


def _voter(voter: VoterState) -> str:
    if voter.lag is not None and voter.is_away:
        return f"[red]{voter.id} (silent for {(voter.silent_ms or 0) / 1000:.0f} s)[/]"
    if voter.lag is None:
        return f"[red]{voter.id} (not heard of since the election)[/]"
    return f"{voter.id} ({voter.lag} records behind)" if voter.lag else str(voter.id)


def _broker_table(found: RegionDescription) -> Table:
    table = Table("Broker", "Address", "Rack", "State", "Leads", "Replicas")
    for each in found.brokers:
        table.add_row(
            str(each.id),
            f"{each.host}:{each.port}",
            each.rack or "",
            f"[red]{each.state}[/]" if each.fenced else each.state,
            str(found.leads(each.id)),
            str(found.holds(each.id)),
        )
    return table


def _show_topics(found: list[TopicDescription]) -> None:
    if not found:
        screen().print("No such topics.")
        return
    table = Table(
        "Topic", "Partitions", "ReplicationFactor", "Offline", "UnderMinIsr", "UnderReplicated"
    )
    for topic in found:
        counted = tally(topic.partitions)
        table.add_row(
            topic.name,
            str(counted.partitions),
            str(topic.replication),
            *map(_red_unless_0, (counted.offline, counted.under_min_isr, counted.under_replicated)),
        )
    show_table(table)


def _red_unless_0(count: int) -> str:
    return f"[red]{count}[/]" if count else "0"


def _show_partitions(found: list[PartitionDescription]) -> None:
    if not found:
        screen().print("No such partitions.")
        return
    table = Table("Topic", *COLUMNS)
    for each in found:
        table.add_row(each.topic, *cells(each))
    show_table(table)
    if any(each.is_offline for each in found):
        screen().print(_OFFLINE, highlight=False, soft_wrap=True)
