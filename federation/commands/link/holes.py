"""`causeway mirror holes`: the hole ledger, for people and for audits."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.link.times import instant
from linker.wire.v1 import admin_pb2 as pb


@click.command()
@click.argument("topic", required=False, default="")
@region_options
def holes(region: RegionAdmin, topic: str, as_json: bool) -> None:
    """List what mirror topics skipped, of TOPIC or of all.

    FromOffset is the first offset that the mirror does not hold, ToOffset the next that it may. Entries of
    deleted topics stay for mirror.hole.retention.ms. The JSON is what `causeway audit run --holes FILE` takes.
    """
    found = region.ask("ListHoles", pb.ListHolesRequest(mirror_topic=topic)).holes
    answer({"holes": [as_dict(one) for one in found]}, as_json, lambda: _show(found))


def _show(found: Any) -> None:
    if not found:
        screen().print("No holes: every mirror holds all that its source had from its start on.")
        return
    table = Table(
        "Topic",
        "Partition",
        "FromOffset",
        "ToOffset",
        "Offsets",
        "Bytes",
        "Cause",
        "FirstSeen",
        "Deleted",
    )
    for one in found:
        table.add_row(
            one.topic,
            str(one.partition),
            str(one.from_offset),
            str(one.to_offset),
            str(one.to_offset - one.from_offset),
            str(one.bytes) if one.HasField("bytes") else "unknown",
            one.cause,
            instant(one.first_seen_ms),
            instant(one.deleted_at_ms) if one.deleted_at_ms else "",
        )
    show_table(table)
