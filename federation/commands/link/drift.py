"""`causeway link drift`: where mirror topics differ from their sources, and why."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from linker.wire.v1 import admin_pb2 as pb


@click.command()
@click.argument("name")
@click.argument("topics", nargs=-1)
@region_options
def drift(region: RegionAdmin, name: str, topics: tuple[str, ...], as_json: bool) -> None:
    """Show how mirror topics of link NAME differ from their sources: of TOPICS, or of all.

    Settings that were set for a topic are compared, not the defaults of the brokers. ALWAYS are kept in step,
    WHEN_NAMED if topic.config.sync.include names them, NEVER are each region's own.
    """
    reply = region.ask("DescribeDrift", pb.DescribeDriftRequest(link_name=name, topics=topics))
    found = {
        "differences": [as_dict(one) for one in reply.differences],
        "unknown_topics": list(reply.unknown_topics),
    }
    answer(found, as_json, lambda: _show(reply))


def _show(reply: Any) -> None:
    table = Table("Topic", "Setting", "Source", "Mirror", "Class", "Why")
    for one in reply.differences:
        source = one.source_value if one.HasField("source_value") else "(default)"
        mirror = one.mirror_value if one.HasField("mirror_value") else "(default)"
        table.add_row(one.topic, one.name, source, mirror, one.sync_class, one.why)
    if reply.differences:
        show_table(table)
    else:
        screen().print("No difference.")
    for topic in reply.unknown_topics:
        screen().print(f"{topic}: its source has not answered yet")
