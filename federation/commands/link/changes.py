"""`causeway mirror pause|resume|promote|failover|reverse-and-start|reverse-and-pause|cancel`: changes of a mirror."""

import time
from typing import Any, Final

import click
from rich.table import Table

from federation.commands.answers import answer, end, screen
from federation.commands.link.chosen_topics import chosen, topic_options
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options, validating
from federation.commands.numbers import INT32_MAX
from linker.shell.administrator import FAILOVER_SECONDS
from linker.wire.v1 import admin_pb2 as pb

PENDING: Final = ("PENDING_STOPPED", "PENDING_SYNCHRONIZE")
HINTS: Final = {
    "TIMEOUT_ERROR": "stop its producers and ask again, or fail it over",
    "CLUSTER_LINK_UNAVAILABLE": "ask again when the source answers; `causeway mirror failover` works without it",
    "CANCELLED": "ask again when it is wanted",
    "REMOTE_LINK_NOT_FOUND_ERROR": "create the link in the other region, too (link.mode=BIDIRECTIONAL)",
}
POLL_SECONDS = 0.1
NOTHING_CHANGED: Final = "Nothing was changed: topics without an error would be."


reason_option = click.option(
    "--reason",
    default="",
    help="Kept in the decision record (`causeway mirror decisions`) and the operator log (`causeway region history`).",
)
log_reason_option = click.option(
    "--reason", default="", help="Kept in the operator log (`causeway region history`)."
)


def _change(
    region: RegionAdmin, method: str, request: Any, as_json: bool, timeout_seconds: float
) -> None:
    reply = region.ask(method, request, timeout_seconds)
    refused = any(topic.HasField("error") for topic in reply.topics)
    answer(
        {"topics": [as_dict(one) for one in reply.topics]},
        as_json,
        lambda: _show_results(reply.topics, is_dry_run=request.validate_only),
    )
    if refused:
        end(1)


def _changing(command: Any) -> Any:
    return topic_options(validating("Check only.")(command))


def _proving(command: Any) -> Any:
    command = click.option(
        "--no-wait", is_flag=True, help="Do not wait until the topics are writable."
    )(command)
    return click.option(
        "--timeout-ms",
        type=click.IntRange(1, INT32_MAX),
        default=60_000,
        show_default=True,
        help="Milliseconds after which topics become ACTIVE again.",
    )(command)


def _request(link_name: str, topics: tuple[str, ...], validate_only: bool, reason: str) -> Any:
    return pb.MirrorsRequest(
        link_name=link_name, mirror_topics=topics, validate_only=validate_only, reason=reason
    )


@click.command()
@_changing
@log_reason_option
@region_options
@chosen
def pause(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Pause copying to TOPICS, or all mirror topics of --link; they stay read-only."""
    request = _request(link_name, topics, validate_only, reason)
    _change(region, "PauseMirrors", request, as_json, 60)


@click.command()
@_changing
@log_reason_option
@region_options
@chosen
def resume(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Resume copying to paused TOPICS, from their log end offsets."""
    request = _request(link_name, topics, validate_only, reason)
    _change(region, "ResumeMirrors", request, as_json, 60)


@click.command()
@_changing
@_proving
@reason_option
@region_options
@chosen
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
        link_name=link_name,
        mirror_topics=topics,
        validate_only=validate_only,
        timeout_ms=timeout_ms,
        reason=reason,
    )
    _prove(region, "PromoteMirrors", request, as_json, waits=not (no_wait or validate_only))


def _prove(region: RegionAdmin, method: str, request: Any, as_json: bool, *, waits: bool) -> None:
    """Promote or reverse; then poll until it has ended. The region applies the timeout."""
    reply = region.ask(method, request)
    for topic in reply.topics if waits else ():
        if not topic.HasField("error"):
            _await_end(region, topic)
    refused = any(topic.HasField("error") for topic in reply.topics)
    found = {"topics": [as_dict(one) for one in reply.topics]}
    answer(found, as_json, lambda: _show_results(reply.topics, is_dry_run=request.validate_only))
    if refused:
        end(1)


def _await_end(region: RegionAdmin, topic: Any) -> None:
    request = pb.DescribeMirrorRequest(mirror_topic=topic.mirror_topic)
    while (found := region.ask("DescribeMirror", request).mirror).mirror_status in PENDING:
        time.sleep(POLL_SECONDS)
    topic.mirror_status = found.mirror_status
    if found.mirror_status != "STOPPED":
        errors = found.state_transition_errors
        topic.error.code = errors[-1].code if errors else "TIMEOUT_ERROR"
        topic.error.message = errors[-1].message if errors else found.reason
        topic.error.hint = HINTS.get(topic.error.code, "look at `causeway mirror describe`")


@click.command()
@_changing
@reason_option
@region_options
@chosen
def failover(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Make TOPICS writable now, with the records that they hold; the source need not answer."""
    request = _request(link_name, topics, validate_only, reason)
    _change(region, "FailoverMirrors", request, as_json, FAILOVER_SECONDS)


@click.command()
@_changing
@click.option(
    "--reason",
    default="",
    help="Kept in the operator log (`causeway region history`) and shown by `describe`.",
)
@region_options
@chosen
def cancel(
    region: RegionAdmin,
    link_name: str,
    topics: tuple[str, ...],
    validate_only: bool,
    reason: str,
    as_json: bool,
) -> None:
    """Cancel what mirror TOPICS are in the middle of, until they are cut: a reversal, a promotion, or a failover.

    They are what they were before, and so are their sources. Of --link alone, all that is under way. A reversal is
    cancelled in the mirror's region; its source is read-only until the link has told it, which
    `causeway mirror transitions` shows.
    """
    request = _request(link_name, topics, validate_only, reason)
    _change(region, "CancelMirrors", request, as_json, 60)


def _reversal(verb: str, method: str, state: str) -> click.Command:
    """The command `verb`, after which the former source is `state`."""

    @click.command(verb)
    @_changing
    @_proving
    @reason_option
    @region_options
    @chosen
    def command(
        region: RegionAdmin,
        link_name: str,
        topics: tuple[str, ...],
        validate_only: bool,
        timeout_ms: int,
        no_wait: bool,
        reason: str,
        as_json: bool,
    ) -> None:
        request = pb.PromoteMirrorsRequest(
            link_name=link_name,
            mirror_topics=topics,
            validate_only=validate_only,
            timeout_ms=timeout_ms,
            reason=reason,
        )
        _prove(region, method, request, as_json, waits=not (no_wait or validate_only))

    command.help = (
        f"Make mirror TOPICS and their sources change places; the new mirrors are {state}.\n\n"
        "The source's topics become read-only; once the mirrors hold all of them, they are writable. Nothing is lost. "
        "Both regions need a bidirectional link of this name. After --timeout-ms everything is as before, and so it is "
        "after `causeway mirror cancel`. --dry-run asks the source, too, what it would refuse; one of an older release "
        "is not asked, and may refuse."
    )
    return command


reverse_and_start = _reversal("reverse-and-start", "ReverseAndStartMirrors", "ACTIVE")
reverse_and_pause = _reversal("reverse-and-pause", "ReverseAndPauseMirrors", "PAUSED")
CHANGES: Final = (pause, resume, promote, failover, reverse_and_start, reverse_and_pause, cancel)


def _show_results(topics: Any, *, is_dry_run: bool) -> None:
    table = Table("MirrorTopicName", "MirrorStatus", "Error", "Next")
    for one in topics:
        message = f"{one.error.message} ({one.error.code})" if one.HasField("error") else ""
        table.add_row(one.mirror_topic, one.mirror_status, message, one.error.hint)
    screen().print(table if topics else "No mirror topics to change.")
    if is_dry_run:
        click.echo(NOTHING_CHANGED)
