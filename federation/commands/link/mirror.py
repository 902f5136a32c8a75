"""`causeway mirror`: mirror topics of a region, from creation to failover."""

import time
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from federation.commands.answers import Failure, answer, end, screen, show_table
from federation.commands.link.decisions import decisions
from federation.commands.link.forecast import forecast
from federation.commands.link.holes import holes
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import (
    RegionAdmin,
    region_options,
    settings,
    validating,
    with_configs,
)
from federation.commands.link.restore import truncate_and_restore, unfence
from federation.commands.link.times import instant
from federation.commands.watching import watch_option, watched
from linker.shell.administrator import FAILOVER_SECONDS
from linker.wire.v1 import admin_pb2 as pb

POLL_SECONDS = 0.1


reason_option = click.option(
    "--reason", default="", help="Kept in the decision record (`causeway mirror decisions`)."
)


@click.group()
def mirror() -> None:
    """Mirror topics: read-only copies that a link writes, until they are promoted or failed over."""


mirror.add_command(holes)
mirror.add_command(forecast)
mirror.add_command(decisions)
mirror.add_command(truncate_and_restore)
mirror.add_command(unfence)


@mirror.command()
@click.argument("topic")
@click.option("--link", "link_name", required=True, help="The link that writes it.")
@click.option(
    "--source-topic", default="", help="The topic at the source; only for a link that has a prefix."
)
@with_configs
@validating("Check everything, create nothing.")
@region_options
def create(
    region: RegionAdmin,
    topic: str,
    link_name: str,
    source_topic: str,
    pairs: tuple[str, ...],
    config_file: Path | None,
    validate_only: bool,
    as_json: bool,
) -> None:
    """Create mirror topic TOPIC; --config sets configurations that the link does not copy from the source."""
    request = pb.CreateMirrorRequest(
        link_name=link_name,
        mirror_topic=topic,
        source_topic=source_topic,
        configs=settings(pairs, config_file),
        validate_only=validate_only,
    )
    found = region.ask("CreateMirror", request).mirror
    done = "could be created" if validate_only else f"created: {found.num_partitions} partitions"
    answer(as_dict(found), as_json, lambda: click.echo(f"Mirror topic {topic} {done}"))


@mirror.command("list")
@click.option("--link", "link_name", default="", help="Only those of this link.")
@click.option(
    "--mirror-status", default="", help="Only those in this state, as active or pending_stopped."
)
@watch_option
@region_options
def list_mirrors(
    region: RegionAdmin,
    link_name: str,
    mirror_status: str,
    every_seconds: float | None,
    as_json: bool,
) -> None:
    """List the mirror topics of the region."""
    request = pb.ListMirrorsRequest(link_name=link_name, mirror_status=mirror_status)

    def once() -> None:
        mirrors = region.ask("ListMirrors", request).mirrors
        found = {"mirrors": [as_dict(one) for one in mirrors]}
        answer(found, as_json, lambda: _show_mirrors(mirrors))

    watched(every_seconds, once)


@mirror.command()
@click.argument("topic")
@watch_option
@region_options
def describe(region: RegionAdmin, topic: str, every_seconds: float | None, as_json: bool) -> None:
    """Show the state, lag, holes and cut of mirror topic TOPIC."""

    def once() -> None:
        found = region.ask("DescribeMirror", pb.DescribeMirrorRequest(mirror_topic=topic)).mirror
        answer(as_dict(found), as_json, lambda: _show_mirror(found))

    watched(every_seconds, once)


def _change(
    region: RegionAdmin, method: str, request: Any, as_json: bool, timeout_seconds: float
) -> None:
    reply = region.ask(method, request, timeout_seconds)
    refused = any(topic.HasField("error") for topic in reply.topics)
    answer(
        {"topics": [as_dict(one) for one in reply.topics]},
        as_json,
        lambda: _show_results(reply.topics),
    )
    if refused:
        end(1)


def _changing(command: Any) -> Any:
    command = validating("Check only.")(command)
    command = click.option(
        "--link",
        "link_name",
        default="",
        help="The link of the topics; required where no topic is named.",
    )(command)
    return click.argument("topics", nargs=-1)(command)


def _request(
    region: RegionAdmin, link_name: str, topics: tuple[str, ...], validate_only: bool
) -> Any:
    return pb.MirrorsRequest(
        link_name=link_name or _link_of(region, topics),
        mirror_topics=topics,
        validate_only=validate_only,
    )


def _link_of(region: RegionAdmin, topics: tuple[str, ...]) -> str:
    """The link of all these mirrors. Raises Failure for mirrors of different links."""
    if not topics:
        raise click.UsageError("name topics, or --link for all of a link's")
    names: dict[str, None] = {}
    for topic in topics:
        request = pb.DescribeMirrorRequest(mirror_topic=topic)
        names[region.ask("DescribeMirror", request).mirror.link_name] = None
    if len(names) > 1:
        raise Failure(
            f"these topics are of different links: {', '.join(names)}",
            hint="change the topics of one link at a time",
        )
    return next(iter(names))


@mirror.command()
@_changing
@region_options
def pause(
    region: RegionAdmin, link_name: str, topics: tuple[str, ...], validate_only: bool, as_json: bool
) -> None:
    """Pause copying to TOPICS, or all mirror topics of --link; they stay read-only."""
    _change(region, "PauseMirrors", _request(region, link_name, topics, validate_only), as_json, 60)


@mirror.command()
@_changing
@region_options
def resume(
    region: RegionAdmin, link_name: str, topics: tuple[str, ...], validate_only: bool, as_json: bool
) -> None:
    """Resume copying to paused TOPICS, from their log end offsets."""
    _change(
        region, "ResumeMirrors", _request(region, link_name, topics, validate_only), as_json, 60
    )


@mirror.command()
@_changing
@click.option(
    "--timeout-ms",
    default=60_000,
    show_default=True,
    help="Milliseconds after which topics become ACTIVE again.",
)
@click.option("--no-wait", is_flag=True, help="Do not wait for the end of the promotion.")
@reason_option
@region_options
def promote(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    timeout_ms: int,
    no_wait: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Make TOPICS writable once they hold every record of the source; after --timeout-ms they become ACTIVE again."""
    request = pb.PromoteMirrorsRequest(
        link_name=link_name or _link_of(region, topics),
        mirror_topics=topics,
        validate_only=validate_only,
        timeout_ms=timeout_ms,
        reason=reason,
    )
    reply = region.ask("PromoteMirrors", request)
    if not (no_wait or validate_only):
        for topic in reply.topics:
            if not topic.HasField("error"):
                _await_promotion(region, topic)
    refused = any(topic.HasField("error") for topic in reply.topics)
    found = {"topics": [as_dict(one) for one in reply.topics]}
    answer(found, as_json, lambda: _show_results(reply.topics))
    if refused:
        end(1)


def _await_promotion(region: RegionAdmin, topic: Any) -> None:
    """Poll until the promotion has ended; the region applies the timeout."""
    request = pb.DescribeMirrorRequest(mirror_topic=topic.mirror_topic)
    while (
        found := region.ask("DescribeMirror", request).mirror
    ).mirror_status == "PENDING_STOPPED":
        time.sleep(POLL_SECONDS)
    topic.mirror_status = found.mirror_status
    if found.mirror_status != "STOPPED":
        why = found.state_transition_errors[-1].message if found.state_transition_errors else ""
        topic.error.code = "TIMEOUT_ERROR"
        topic.error.message = why or found.reason
        topic.error.hint = "stop its producers and ask again, or fail it over"


@mirror.command()
@_changing
@reason_option
@region_options
def failover(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Make TOPICS writable now, with the records that they hold; the source need not answer."""
    request = _request(region, link_name, topics, validate_only)
    request.reason = reason
    _change(region, "FailoverMirrors", request, as_json, FAILOVER_SECONDS)


def _show_results(topics: Any) -> None:
    table = Table("MirrorTopicName", "MirrorStatus", "Error", "Next")
    for one in topics:
        message = f"{one.error.message} ({one.error.code})" if one.HasField("error") else ""
        table.add_row(one.mirror_topic, one.mirror_status, message, one.error.hint)
    screen().print(table if topics else "No mirror topics to change.")


def _show_mirrors(mirrors: Any) -> None:
    table = Table(
        "LinkName", "MirrorTopicName", "NumPartition", "MaxPerPartitionMirrorLag", "MaxLagMs",
        "SourceTopicName", "MirrorStatus", "StatusTimeMs",
    )  # fmt: skip
    for one in mirrors:
        lag = max((each.lag for each in one.mirror_lags), default=-1)
        lag_ms = max((each.lag_ms for each in one.mirror_lags), default=-1)
        table.add_row(
            one.link_name,
            one.mirror_topic,
            str(one.num_partitions),
            _or_unknown(lag),
            _or_unknown(lag_ms),
            one.source_topic,
            one.mirror_status,
            str(one.state_time_ms),
        )
    if mirrors:
        show_table(table)
    else:
        screen().print("No mirror topics. `causeway mirror create` makes one.")


def _show_mirror(found: Any) -> None:
    console = screen()
    console.print(f"[bold]{found.mirror_topic}[/] {found.mirror_status}, link {found.link_name}")
    if found.mirror_topic_error != "NO_ERROR" or found.reason:
        console.print(f"{found.mirror_topic_error}: {found.reason}")
    if found.hint:
        console.print(f"Next: {found.hint}")
    if found.mirror_lags:
        show_table(_lag_table(found.mirror_lags))
    for hole in found.holes:
        span = f"offsets [{hole.from_offset}, {hole.to_offset})"
        console.print(f"hole in partition {hole.partition}: {span}, {hole.cause}")
    if found.HasField("cut"):
        console.print(_cut_table(found.cut))
    for error in found.state_transition_errors:
        console.print(f"{instant(error.at_ms)} {error.code}: {error.message}")


def _lag_table(lags: Any) -> Table:
    table = Table(
        "Partition", "State", "LocalLogEndOffset", "LastFetchSourceHighWatermark",
        "PartitionMirrorLag", "LagMs", "TimeSinceLastFetchMs",
    )  # fmt: skip
    for one in lags:
        table.add_row(
            str(one.partition),
            one.partition_state,
            _or_unknown(one.local_log_end_offset),
            _or_unknown(one.last_source_fetch_offset),
            _or_unknown(one.lag),
            _or_unknown(one.lag_ms),
            _or_unknown(one.time_since_last_fetch_ms),
        )
    return table


def _cut_table(cut: Any) -> Table:
    table = Table(
        "Partition", "CutOffset", "SourceHighWatermark", "KnownMissing", "AsOf", "LeaderEpoch",
        title=f"{cut.kind} at {instant(cut.at_ms)}",
    )  # fmt: skip
    for one in cut.partitions:
        table.add_row(
            str(one.partition),
            _or_unknown(one.offset),
            _or_unknown(one.source_high_watermark),
            _or_unknown(one.missing),
            instant(one.source_clock_ms) if one.source_clock_ms >= 0 else "unknown",
            str(one.leader_epoch),
        )
    return table


def _or_unknown(number: int) -> str:
    return str(number) if number >= 0 else "unknown"
