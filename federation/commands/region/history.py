"""`causeway region history`: the operator log, which says who changed what, when and from where."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.group.strategies import parse_duration, parse_time
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.link.times import instant
from linker.wire.v1 import admin_pb2 as pb

_NOT_RECORDED: Final = (
    "the region does not write this log: finalize causeway.version 1, once no node will go back to an older release"
    " (causeway region features upgrade --feature causeway.version=1)"
)


class Since(click.ParamType[int]):
    """Milliseconds since 1970, of a time in ISO 8601 or of a duration before now."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            if value.lstrip("+-")[:1] in ("P", "p"):
                return _milliseconds(datetime.now(UTC) - parse_duration(value))
            return parse_time(value)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no time as 2026-01-31T08:30:00, or duration as P7D.", param, ctx
            )


@click.command()
@click.option(
    "--since",
    type=Since(),
    default=0,
    help="A time (ISO 8601; UTC), or so long ago, as P7D or PT12H.",
)
@click.option("--topic", help="What was changed of this topic; of a mirror topic, too.")
@click.option(
    "--resource",
    metavar="[TYPE:]NAME",
    help="What was changed of this resource, as broker:2, link:west-to-east or feature:metadata.version.",
)
@region_options
def history(
    region: RegionAdmin, since: int, topic: str | None, resource: str | None, as_json: bool
) -> None:
    """Show what was changed in the region at whose request, from where; the oldest first.

    Topics, configurations, reassignments, elections, features, voters, brokers, groups, records, loggers; links,
    mirror topics and orphan tails. Kept by
    operation.log.max.entries and operation.log.retention.ms. The principal is User:ANONYMOUS while there is no
    authentication. What no one asks for, as elections after a failure, is not in it.
    """
    if topic is not None and resource is not None:
        raise click.UsageError("Give --topic or --resource.")
    kind, name = _resource(resource)
    request = pb.ListOperationsRequest(since_ms=max(0, since), resource_type=kind, resource=name)
    reply = region.ask("ListOperations", request)
    found = [
        each
        for each in reply.operations
        if topic is None or any(_is_of_topic(one, topic) for one in each.resources)
    ]
    result = {"is_recorded": reply.is_recorded, "operations": [_document(each) for each in found]}
    answer(result, as_json, lambda: _show(found, is_recorded=reply.is_recorded))


def _milliseconds(moment: datetime) -> int:
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def _resource(text: str | None) -> tuple[str, str]:
    kind, separator, name = (text or "").partition(":")
    return (kind, name) if separator else ("", kind)


def _is_of_topic(resource: Any, topic: str) -> bool:
    if resource.resource_type == "partition":
        return bool(resource.name.rpartition("-")[0] == topic)
    return resource.resource_type in ("topic", "mirror") and resource.name == topic


def _document(operation: Any) -> dict[str, Any]:
    return {
        "number": operation.number,
        "time": instant(operation.time_ms),
        "time_ms": operation.time_ms,
        "principal": operation.principal,
        "client_id": operation.client_id if operation.HasField("client_id") else None,
        "host": operation.host,
        "operation": operation.operation,
        "resources": [
            {"type": each.resource_type, "name": each.name} for each in operation.resources
        ],
        "details": operation.details,
    }


def _show(found: list[Any], *, is_recorded: bool) -> None:
    if not is_recorded:
        screen().print(f"[red]{_NOT_RECORDED}[/]", soft_wrap=True, highlight=False)
    if not found:
        screen().print("No such changes.")
        return
    table = Table("Time", "Principal", "ClientId", "From", "Operation", "Resources", "Details")
    for each in found:
        resources = ", ".join(f"{one.resource_type}:{one.name}" for one in each.resources)
        table.add_row(
            instant(each.time_ms),
            each.principal,
            each.client_id if each.HasField("client_id") else "",
            each.host,
            each.operation,
            resources,
            each.details,
        )
    show_table(table)
