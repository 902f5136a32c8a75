"""`causeway mirror decisions`: what was promoted, failed over and reversed, by whom, why, and what it cost."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.lags import at_least
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.link.times import instant
from linker.wire.v1 import admin_pb2 as pb


@click.command()
@click.argument("topic", required=False, default="")
@region_options
def decisions(region: RegionAdmin, topic: str, as_json: bool) -> None:
    """List the promotions, failovers and reversals of this region, of TOPIC or of all, the oldest first.

    KnownMissing is what was known of the source beyond the cut: "at least", unless nobody could write there, as in
    a reversal (`is_known_missing_exact` in JSON). Records stay for
    mirror.hole.retention.ms, the last one of a topic for as long as the topic. The JSON has the cut of each partition.
    """
    request = pb.ListDecisionsRequest(topic=topic)
    found = region.ask("ListDecisions", request).decisions
    answer({"decisions": [as_dict(one) for one in found]}, as_json, lambda: _show(found))


def _show(found: Any) -> None:
    if not found:
        screen().print("No decisions: nothing was promoted, failed over or reversed.")
        return
    table = Table(
        "Decision", "Topic", "Kind", "Generation", "AskedAt", "TookMs", "AskedBy", "Partitions", "KnownMissing",
        "Reason",
    )  # fmt: skip
    for one in found:
        table.add_row(
            one.decision_id,
            one.topic,
            one.kind,
            str(one.generation),
            instant(one.asked_at_ms),
            str(one.done_at_ms - one.asked_at_ms),
            one.asked_by,
            str(len(one.cut.partitions)),
            at_least(one.known_missing, not one.is_known_missing_exact),
            one.reason,
        )
    show_table(table)
