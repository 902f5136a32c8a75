"""`causeway mirror taken-over`: topics of this region that another one has taken over."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from linker.wire.v1 import admin_pb2 as pb


@click.command("taken-over")
@region_options
def taken_over(region: RegionAdmin, as_json: bool) -> None:
    """List the topics of this region that are read-only since another region has taken them over.

    For a region that returns after a failover: `truncate-and-restore` makes them mirrors of that region, `unfence` lets
    them be written here again. Generation is the topic's since it was taken over.
    """
    found = region.ask("ListTakenOverTopics", pb.ListTakenOverTopicsRequest()).topics
    answer({"topics": [as_dict(one) for one in found]}, as_json, lambda: _show(found))


def _show(found: Any) -> None:
    if not found:
        screen().print("No topics: no other region has taken one of this region over.")
        return
    table = Table("Topic", "TakenOverBy", "Generation", "TopicId")
    for one in found:
        table.add_row(one.topic, one.taken_over_by, str(one.generation), one.topic_id)
    show_table(table)
    screen().print(
        f"{len(found)} topics are read-only here. `causeway mirror truncate-and-restore --link LINK` makes those that "
        "the source of LINK took over mirrors of it; `causeway mirror unfence` lets them be written here again.",
        soft_wrap=True,
    )
