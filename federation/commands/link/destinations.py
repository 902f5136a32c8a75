"""`causeway link destinations` and `forget-destination`: which regions mirror topics of a source."""

from typing import Any, Final

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

SHOWN_MAX: Final = 5  # topics of a row; `--json` has all
OF_BROKER: Final = ("is_heard", "writes_wait_ms", "is_missed")


@click.command()
@click.argument("name", required=False, default="")
@bootstrap_options
def destinations(bootstrap: str, name: str, as_json: bool) -> None:
    """List the regions that mirror topics of this one, with link NAME or with any, as their links have said.

    When this region starts, writes of these topics wait until the link has said what it has taken over, for
    link.source.startup.wait.ms at most. WritesWait: on which brokers they do now, and for how much longer at most.
    HeardBy: the broker that has the stream on which the link speaks. MissedBy: brokers that went on without at their
    last start. A region that is gone for good is waited for at each start until `forget-destination`.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def take(broker: int, _endpoint: str, reply: Any) -> None:
        for one in reply.destinations:
            described = as_dict(one)
            here: dict[str, Any] = {
                key: described.pop(key) for key in OF_BROKER if key in described
            }
            key = (one.link_name, one.destination_cluster_id)
            known = found.setdefault(key, {**described, "brokers": []})
            known["brokers"].append({"broker": broker, **here})

    request = pb.ListDestinationsRequest(link_name=name)
    silent = ask_each(bootstrap, "ListDestinations", request, take)
    listed = [found[key] for key in sorted(found)]
    for one in listed:
        one["brokers"].sort(key=lambda each: each["broker"])
    result = {
        "destinations": listed,
        "brokers_without_answer": {str(broker): why for broker, why in silent.items()},
    }
    answer(result, as_json, lambda: _show(listed, silent))
    if silent:
        end(INCOMPLETE_EXIT)


def _show(listed: list[dict[str, Any]], silent: dict[int, str]) -> None:
    table = Table("Link", "Destination", "Topics", "Told", "HeardBy", "WritesWait", "MissedBy")
    for one in listed:
        brokers = one["brokers"]
        waiting = [each for each in brokers if "writes_wait_ms" in each]
        table.add_row(
            one["link_name"],
            one["destination_cluster_id"],
            _topics(one),
            instant(one["told_at_ms"]),
            _ids(each for each in brokers if each["is_heard"]),
            ", ".join(f"{each['broker']}: {each['writes_wait_ms']} ms" for each in waiting) or "-",
            _ids(each for each in brokers if each["is_missed"]),
        )
    if listed:
        show_table(table)
    else:
        screen().print("No destinations: writes wait for no other region when this one starts.")
    for broker, why in silent.items():
        screen().print(f"broker {broker} does not answer: {why}")


def _ids(brokers: Any) -> str:
    return ", ".join(str(each["broker"]) for each in brokers) or "-"


def _topics(one: dict[str, Any]) -> str:
    """Their number, and the first of them."""
    names, count = one["topics"], one["topic_count"]
    shown = [*names[:SHOWN_MAX], *(["..."] if len(names) > SHOWN_MAX else [])]
    if deleted := count - len(names):
        shown.append(f"{deleted} deleted")
    return f"{count}: {', '.join(shown)}"


@click.command("forget-destination")
@click.argument("name")
@click.option(
    "--destination-cluster",
    default="",
    help="Its cluster id; needed where several regions have such a link.",
)
@validating("Show what would be forgotten, forget nothing.")
@region_options
def forget_destination(
    region: RegionAdmin, name: str, destination_cluster: str, validate_only: bool, as_json: bool
) -> None:
    """Wait no more for the region that mirrors topics of this one with link NAME, now or when this one starts.

    Writes that wait for it go on at once: so be sure that it has not taken topics over. It is for a region that is gone
    for good. One that is alive says again what it mirrors, within a minute or as soon as its link is back, and is
    waited for then.
    """
    request = pb.ForgetDestinationRequest(
        link_name=name, destination_cluster_id=destination_cluster, validate_only=validate_only
    )
    found = region.ask("ForgetDestination", request).destinations
    result = {"forgotten": not validate_only, "destinations": [as_dict(one) for one in found]}
    verb = "would be forgotten" if validate_only else "is forgotten"
    lines = [
        f"link {one.link_name} of region {one.destination_cluster_id},"
        f" mirrored topics {one.topic_count}: {verb}"
        for one in found
    ]
    answer(result, as_json, lambda: click.echo("\n".join(lines)))
