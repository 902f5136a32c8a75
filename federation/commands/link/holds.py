"""`causeway link holds` and `drop-holds`: what a source keeps for mirrors in other regions."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, end, screen, show_table
from federation.commands.each_broker import ask_each
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options, validating
from federation.commands.link.times import instant
from federation.commands.outcomes import INCOMPLETE_EXIT
from federation.commands.region.bootstrap import bootstrap_options
from linker.wire.v1 import admin_pb2 as pb


@click.command()
@click.argument("name", required=False, default="")
@bootstrap_options
def holds(bootstrap: str, name: str, as_json: bool) -> None:
    """List what this region, as a source, keeps for mirrors in other regions: of link NAME, or of all.

    Links ask for it with retention.hold.enable. Offsets below MirrorOffset are in the mirror. HeldBytes is what
    retention would have deleted when it ran last: after a start first when log.retention.check.interval.ms have passed.
    link.retention.hold.max.bytes and .ms of each broker bound it.
    """
    found: dict[tuple[str, str, str], dict[str, Any]] = {}

    def take(broker: int, _endpoint: str, reply: Any) -> None:
        for one in reply.holds:
            described = as_dict(one)
            partitions = described.pop("partitions")
            key = (one.link_name, one.destination_cluster_id, one.topic)
            hold = found.setdefault(key, {**described, "replicas": []})
            hold["replicas"] += [{"broker": broker, **each} for each in partitions]

    request = pb.ListRetentionHoldsRequest(link_name=name)
    silent = ask_each(bootstrap, "ListRetentionHolds", request, take)
    listed = [found[key] for key in sorted(found)]
    for one in listed:
        one["replicas"].sort(key=lambda each: (each["partition"], each["broker"]))
    result = {
        "holds": listed,
        "brokers_without_answer": {str(broker): why for broker, why in silent.items()},
    }
    answer(result, as_json, lambda: _show(listed, silent))
    if silent:
        end(INCOMPLETE_EXIT)


def _show(listed: list[dict[str, Any]], silent: dict[int, str]) -> None:
    table = Table(
        "Link", "Destination", "Topic", "Partition", "MirrorOffset", "HeldBytes", "MaxBytes",
        "MaxMs", "Since", "Dropped",
    )  # fmt: skip
    for hold in listed:
        leaders = [each for each in hold["replicas"] if each["is_leader"]]
        for each in leaders or [None]:
            offset = each["mirror_offset"] if each else -1
            table.add_row(
                hold["link_name"],
                hold["destination_cluster_id"],
                hold["topic"],
                str(each["partition"]) if each else "",
                _known(offset),
                _known(each["held_bytes"]) if each else "",
                str(hold["max_bytes"]),
                str(hold["max_ms"]),
                instant(hold["since_ms"]),
                instant(hold["dropped_at_ms"]) if hold["dropped_at_ms"] else "",
            )
    if listed:
        show_table(table)
    else:
        screen().print(
            "No holds: retention takes what is due, whatever mirrors of this region hold."
        )
    for broker, why in silent.items():
        screen().print(f"broker {broker} does not answer: {why}")


def _known(number: int) -> str:
    return str(number) if number >= 0 else "not known yet"


@click.command("drop-holds")
@click.argument("name")
@click.option("--topic", "topics", multiple=True, help="Only of this topic; may be repeated.")
@click.option("--destination-cluster", default="", help="Only for this region.")
@validating("Show what would be dropped, drop nothing.")
@region_options
def drop_holds(
    region: RegionAdmin,
    name: str,
    topics: tuple[str, ...],
    destination_cluster: str,
    validate_only: bool,
    as_json: bool,
) -> None:
    """Keep nothing any more for the mirrors of link NAME: retention deletes it, and the mirrors may get holes.

    A dropped hold stays so until its link takes it back (retention.hold.enable=false) and asks anew. To forbid them
    all, set link.retention.hold.max.bytes=0 on the brokers.
    """
    request = pb.DropRetentionHoldsRequest(
        link_name=name,
        destination_cluster_id=destination_cluster,
        topics=topics,
        validate_only=validate_only,
    )
    dropped = region.ask("DropRetentionHolds", request).holds
    result = {"dropped": not validate_only, "holds": [as_dict(one) for one in dropped]}
    verb = "would be dropped" if validate_only else "is dropped"
    lines = [f"{one.topic}, held for {one.destination_cluster_id}: {verb}" for one in dropped]
    answer(result, as_json, lambda: click.echo("\n".join(lines)))
