"""`causeway mirror`: mirror topics of a region, from creation to failover."""

import json
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table

from federation.commands.answers import (
    NOT_WELL_EXIT,
    answer,
    end,
    screen,
    show_fitting_table,
    show_table,
)
from federation.commands.link.changes import CHANGES
from federation.commands.link.decisions import decisions
from federation.commands.link.dialect import of_mirror, show_errors
from federation.commands.link.forecast import forecast
from federation.commands.link.holes import holes
from federation.commands.link.lags import at_least, lag_text, mirror_lag_cells, origin_lag_text
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import (
    RegionAdmin,
    region_options,
    settings,
    validating,
    with_configs,
)
from federation.commands.link.restore import truncate_and_restore, unfence
from federation.commands.link.taken_over import taken_over
from federation.commands.link.times import instant
from federation.commands.link.transitions import transition_text, transitions
from federation.commands.lost.lost import lost
from federation.commands.region.requests import PLACEMENT
from federation.commands.watching import watch_option, watched
from linker.wire.v1 import admin_pb2 as pb

IN_ERROR: Final = ("FAILED", "LINK_FAILED", "SOURCE_UNAVAILABLE")


@click.group()
def mirror() -> None:
    """Mirror topics: read-only copies that a link writes, until they are promoted or failed over."""


mirror.add_command(holes)
mirror.add_command(forecast)
mirror.add_command(decisions)
mirror.add_command(lost)
mirror.add_command(transitions)
for each in CHANGES:
    mirror.add_command(each)
mirror.add_command(truncate_and_restore)
mirror.add_command(unfence)
mirror.add_command(taken_over)
for group in of_mirror():
    mirror.add_command(group)


@mirror.command()
@click.argument("topic")
@click.option("--link", "link_name", required=True, help="The link that writes it.")
@click.option(
    "--source-topic", default="", help="The topic at the source; only for a link that has a prefix."
)
@click.option(
    "--replication-factor",
    type=click.IntRange(1, 32767),
    help="Replicas of each partition here; without it, the region's default.",
)
@click.option(
    "--replica-placement",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A JSON file that places its replicas and observers: confluent.placement.constraints.",
)
@with_configs
@validating("Check everything, create nothing.")
@region_options
def create(
    region: RegionAdmin,
    topic: str,
    link_name: str,
    source_topic: str,
    replication_factor: int | None,
    replica_placement: Path | None,
    pairs: tuple[str, ...],
    config_file: Path | None,
    validate_only: bool,
    as_json: bool,
) -> None:
    """Create mirror topic TOPIC; --config sets configurations that the link does not copy from the source.

    The file of --replica-placement is that of kafka-topics; it takes the place of --replication-factor.
    """
    configs = settings(pairs, config_file)
    if replica_placement is not None:
        configs[PLACEMENT] = _placement(replica_placement, configs, replication_factor)
    request = pb.CreateMirrorRequest(
        link_name=link_name,
        mirror_topic=topic,
        source_topic=source_topic,
        configs=configs,
        validate_only=validate_only,
        replication_factor=replication_factor or 0,
    )
    found = region.ask("CreateMirror", request).mirror
    done = "could be created" if validate_only else f"created: {found.num_partitions} partitions"
    answer(as_dict(found), as_json, lambda: click.echo(f"Mirror topic {topic} {done}"))


def _placement(path: Path, configs: dict[str, str], replication_factor: int | None) -> str:
    if PLACEMENT in configs or replication_factor is not None:
        other = (
            "--replication-factor" if replication_factor is not None else f"--config {PLACEMENT}"
        )
        raise click.UsageError(f"--replica-placement goes without {other}")
    try:
        return json.dumps(json.loads(path.read_text(encoding="utf-8")), separators=(",", ":"))
    except ValueError as error:
        raise click.UsageError(f"{path} is not JSON: {error}") from None


@mirror.command("list")
@click.option("--link", "link_name", default="", help="Only those of this link.")
@click.option(
    "--mirror-status", default="", help="Only those in this state, as active or pending_stopped."
)
@click.option("--pending-stopped-only", "mirror_status", flag_value="pending_stopped", hidden=True)
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
    """Show the state, lag, holes and cut of mirror topic TOPIC. Exit code 3: something is wrong with it."""

    def once() -> Any:
        found = region.ask("DescribeMirror", pb.DescribeMirrorRequest(mirror_topic=topic)).mirror
        answer(as_dict(found), as_json, lambda: _show_mirror(found))
        return found

    if not _is_well(watched(every_seconds, once)):
        end(NOT_WELL_EXIT)


def _is_well(found: Any) -> bool:
    """An ACTIVE mirror has a reason only where something hinders it, as a source that does not answer. One that is
    paused has a hint only where `mirror.hole.policy` has paused it, and waits for an operator."""
    is_waiting = found.mirror_status in ("PAUSED", "LINK_PAUSED") and found.hint
    is_hindered = found.mirror_status == "ACTIVE" and found.reason
    return found.mirror_status not in IN_ERROR and not is_hindered and not is_waiting


def _show_mirrors(mirrors: Any) -> None:
    if mirrors:
        show_fitting_table(partial(mirrors_table, mirrors))
    else:
        screen().print("No mirror topics. `causeway mirror create` makes one.")


def mirrors_table(mirrors: Any, between: str) -> Table:
    """Fits 100 columns with names of usual lengths. The names at the source are shown where one is another.

    `between` is between the words of a lag, and between day and time.
    """
    is_renamed = any(one.source_topic != one.mirror_topic for one in mirrors)
    source = ["SourceTopic"] if is_renamed else []
    table = Table("Link", "MirrorTopic", *source, "Status", "Parts", "MaxLag", "LagMs", "Since")
    for one in mirrors:
        names = [one.link_name, one.mirror_topic, *([one.source_topic] if is_renamed else [])]
        lag, lag_ms = mirror_lag_cells(one)
        since = instant(one.state_time_ms).partition(".")[0].replace("T", between)
        numbers = (str(one.num_partitions), between.join(lag.rsplit(" ", 1)), lag_ms)
        table.add_row(*names, one.mirror_status, *numbers, since)
    return table


def _show_mirror(found: Any) -> None:
    console = screen()
    console.print(f"[bold]{found.mirror_topic}[/] {found.mirror_status}, link {found.link_name}")
    if found.mirror_topic_error != "NO_ERROR":
        console.print(f"{found.mirror_topic_error}: {found.reason}")
    elif found.reason:
        console.print(found.reason)
    if found.HasField("transition"):
        console.print(transition_text(found.transition))
    if found.hint:
        console.print(f"Next: {found.hint}")
    if found.mirror_lags:
        console.print(f"lag {lag_text(found)}; behind the origin {origin_lag_text(found)}")
        show_table(_lag_table(found.mirror_lags))
    for hole in found.holes:
        span = f"offsets [{hole.from_offset}, {hole.to_offset})"
        size = f"{hole.bytes} bytes" if hole.HasField("bytes") else "unknown bytes"
        console.print(f"hole in partition {hole.partition}: {span}, {size}, {hole.cause}")
    if found.HasField("cut"):
        console.print(_cut_table(found.cut))
    show_errors(found.state_transition_errors)


def _lag_table(lags: Any) -> Table:
    table = Table(
        "Partition", "State", "LocalLogEndOffset", "LastFetchSourceHighWatermark",
        "PartitionMirrorLag", "LagBytes", "LagMs", "OriginLag", "OriginLagMs",
        "TimeSinceLastFetchMs",
    )  # fmt: skip
    for one in lags:
        table.add_row(
            str(one.partition),
            one.partition_state,
            _or_unknown(one.local_log_end_offset),
            _or_unknown(one.last_source_fetch_offset),
            at_least(one.lag, one.lag_is_lower_bound),
            at_least(one.lag_bytes, one.lag_is_lower_bound),
            _or_unknown(one.lag_ms),
            at_least(one.origin_lag, one.origin_lag_is_lower_bound),
            _or_unknown(one.origin_lag_ms),
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
            at_least(one.missing, not cut.is_known_missing_exact),
            instant(one.source_clock_ms) if one.source_clock_ms >= 0 else "unknown",
            str(one.leader_epoch),
        )
    return table


def _or_unknown(number: int) -> str:
    return str(number) if number >= 0 else "unknown"
