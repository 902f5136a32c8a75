"""`causeway mirror truncate-and-restore`, the way back of a region after a failover, and `unfence`."""

import time
from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, end, screen
from federation.commands.link.changes import NOTHING_CHANGED, log_reason_option
from federation.commands.link.chosen_topics import matching_topics, pattern_option
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options, validating
from federation.commands.topic_names import topic_names
from linker.shell.administrator import FAILOVER_SECONDS
from linker.wire.v1 import admin_pb2 as pb

PENDING = ("PENDING_SETUP_FOR_RESTORE", "PENDING_RESTORE")
POLL_SECONDS = 0.1


@click.command("truncate-and-restore")
@topic_names()
@pattern_option
@click.option(
    "--link",
    "link_name",
    required=True,
    help="The link from the region that they were failed over to.",
)
@click.option("--include-partitions", is_flag=True, help="Show what each partition lost.")
@click.option("--no-wait", is_flag=True, help="Do not wait until they are mirrors.")
@validating("Check only.")
@log_reason_option
@region_options
def truncate_and_restore(
    region: RegionAdmin,
    topics: tuple[str, ...],
    pattern: str | None,
    link_name: str,
    include_partitions: bool,
    no_wait: bool,
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Make TOPICS of this region mirrors of those that they were failed over to, or all that --link's source took over.

    What this region has beyond the failover's cut is sealed in every replica's log directory first, then truncated:
    `causeway orphans` lists, shows and exports it. Also for a mirror that FAILED because its source lost records.

    Until PENDING_RESTORE nothing is removed, and `causeway mirror failover` takes it back.
    """
    if pattern is not None:
        topics = _matching(region, link_name, topics, pattern)
    request = pb.MirrorsRequest(
        link_name=link_name, mirror_topics=topics, validate_only=validate_only, reason=reason
    )
    reply = region.ask("TruncateAndRestoreMirrors", request, FAILOVER_SECONDS)
    found = [
        _outcome(region, topic, waits=not (no_wait or validate_only)) for topic in reply.topics
    ]
    answer(
        {"topics": found},
        as_json,
        lambda: _show(found, include_partitions, is_dry_run=validate_only),
    )
    if any("error" in each for each in found):
        end(1)


def _matching(
    region: RegionAdmin, link_name: str, topics: tuple[str, ...], pattern: str
) -> tuple[str, ...]:
    """Of those that are all of the link."""

    def restorable() -> list[str]:
        request = pb.MirrorsRequest(link_name=link_name, validate_only=True)
        reply = region.ask("TruncateAndRestoreMirrors", request, FAILOVER_SECONDS)
        return [each.mirror_topic for each in reply.topics]

    none = f"no topic that the source of link {link_name} took over matches {pattern!r}"
    where = "--dry-run without a pattern lists the names"
    return matching_topics(topics, pattern, restorable, none, where)


@click.command()
@topic_names(required=True)
@validating("Check only.")
@region_options
def unfence(
    region: RegionAdmin, topics: tuple[str, ...], validate_only: bool, as_json: bool
) -> None:
    """Make TOPICS of this region writable again, although another region has taken them over.

    Both regions then have records that the other has not: `causeway mirror truncate-and-restore` is the other way.
    """
    request = pb.UnfenceTopicsRequest(topics=topics, validate_only=validate_only)
    reply = region.ask("UnfenceTopics", request)
    found = [as_dict(one) for one in reply.topics]
    answer({"topics": found}, as_json, lambda: _show_unfenced(found, validate_only))
    if any("error" in each for each in found):
        end(1)


def _show_unfenced(found: list[dict[str, Any]], validate_only: bool) -> None:
    done = "can be unfenced" if validate_only else "is written here again"
    for one in found:
        error = one.get("error")
        what = f"{error['message']} ({error['code']})" if error else f"{one['mirror_topic']} {done}"
        click.echo(what)


def _outcome(region: RegionAdmin, topic: Any, *, waits: bool) -> dict[str, Any]:
    outcome: dict[str, Any] = as_dict(topic)
    if topic.HasField("error") or not waits:
        return outcome
    request = pb.DescribeMirrorRequest(mirror_topic=topic.mirror_topic)
    shown = ""
    while (mirror := region.ask("DescribeMirror", request).mirror).mirror_status in PENDING:
        if mirror.reason != shown:
            shown = mirror.reason
            click.echo(f"{topic.mirror_topic}: {shown}", err=True)
        time.sleep(POLL_SECONDS)
    outcome["mirror_status"] = mirror.mirror_status
    outcome["partitions"] = [as_dict(one) for one in mirror.restored_partitions]
    outcome["messages_truncated"] = sum(
        one.messages_truncated for one in mirror.restored_partitions
    )
    if mirror.mirror_topic_error != "NO_ERROR":
        because = {"code": mirror.mirror_topic_error, "message": mirror.reason, "hint": mirror.hint}
        outcome["error"] = because
    return outcome


def _show(found: list[dict[str, Any]], include_partitions: bool, *, is_dry_run: bool) -> None:
    table = Table("MirrorTopicName", "MirrorStatus", "MessagesTruncated", "Error", "Next")
    for one in found:
        error = one.get("error", {})
        message = f"{error['message']} ({error['code']})" if error else ""
        truncated = str(one.get("messages_truncated", ""))
        table.add_row(
            one["mirror_topic"],
            one.get("mirror_status", ""),
            truncated,
            message,
            error.get("hint", ""),
        )
    screen().print(table)
    for one in found if include_partitions else ():
        if one.get("partitions"):
            screen().print(_partitions(one))
    if is_dry_run:
        click.echo(NOTHING_CHANGED)


def _partitions(topic: dict[str, Any]) -> Table:
    table = Table(
        "Partition", "OffsetTruncatedTo", "MessagesTruncated", title=topic["mirror_topic"]
    )
    for one in topic["partitions"]:
        table.add_row(
            str(one["partition"]), str(one["offset_truncated_to"]), str(one["messages_truncated"])
        )
    return table
