"""`causeway mirror transitions`: what mirror topics are in the middle of."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.link.times import instant
from federation.commands.watching import watch_option, watched
from linker.shell import older_nodes
from linker.wire.v1 import admin_pb2 as pb


@click.command()
@click.option("--link", "link_name", default="", help="Only those of this link.")
@watch_option
@region_options
def transitions(
    region: RegionAdmin, link_name: str, every_seconds: float | None, as_json: bool
) -> None:
    """List the mirror topics that are promoted, failed over, reversed or restored now, with the step of each.

    CanBeCancelled says whether `causeway mirror cancel` takes it back. LISTED is a topic that a command of several has
    not come to yet. In WITHDRAWING a reversal was given up or
    cancelled here, and the source has not taken its topic back yet: it hears of it as soon as the link reaches it.
    """
    request = pb.ListMirrorsRequest(link_name=link_name, in_transition=True)

    def once() -> None:
        mirrors = region.ask("ListMirrors", request).mirrors
        found = [_completed(one) for one in older_nodes.in_transition(mirrors)]
        listed = {"transitions": [_as_dict(one) for one in found]}
        answer(listed, as_json, lambda: _show(found))

    watched(every_seconds, once)


def _completed(mirror: Any) -> Any:
    if not mirror.HasField("transition"):
        told = pb.Transition(since_ms=mirror.state_time_ms, waits_for=older_nodes.NOT_SAID)
        mirror.transition.CopyFrom(told)
    return mirror


def _as_dict(mirror: Any) -> dict[str, Any]:
    names = ("link_name", "mirror_topic", "source_topic", "mirror_status", "generation")
    return {name: getattr(mirror, name) for name in names} | as_dict(mirror.transition)


def transition_text(transition: Any) -> str:
    can = "can be cancelled" if transition.can_be_cancelled else "cannot be cancelled"
    until = _until(transition)
    by = f", gives up at {until}" if until else ""
    return f"{transition.verb} since {instant(transition.since_ms)}: {transition.step}, {can}{by}"


def _until(transition: Any) -> str:
    return instant(transition.gives_up_at_ms) if transition.gives_up_at_ms else ""


def _show(found: Any) -> None:
    if not found:
        screen().print("No mirror topic is in the middle of anything.")
        return
    table = Table(
        "MirrorTopicName", "LinkName", "MirrorStatus", "Transition", "Step", "Since", "WaitsFor", "CanBeCancelled",
        "GivesUpAt", "AskedBy", "Reason",
    )  # fmt: skip
    for one in found:
        transition = one.transition
        table.add_row(
            one.mirror_topic,
            one.link_name,
            one.mirror_status,
            transition.verb,
            transition.step,
            instant(transition.since_ms),
            transition.waits_for,
            "yes" if transition.can_be_cancelled else "no",
            _until(transition),
            transition.asked_by,
            transition.reason,
        )
    show_table(table)
