"""`causeway mirror forecast`: what a failover now would cost."""

from typing import Any

import click
from rich.table import Table

from federation.commands.answers import answer, screen, show_table
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.watching import watch_option, watched
from linker.wire.v1 import admin_pb2 as pb

UNKNOWN = "unknown"


@click.command()
@click.argument("topics", nargs=-1)
@click.option("--link", "link_name", default="", help="Only mirror topics of this link.")
@watch_option
@region_options
def forecast(
    region: RegionAdmin,
    topics: tuple[str, ...],
    link_name: str,
    every_seconds: float | None,
    as_json: bool,
) -> None:
    """Show what a failover of TOPICS now would lose, and what groups would read again. Nothing is changed.

    Missing records are those that the source is known to have and the mirror lacks: the source may have accepted
    more since. A group resumes at the offset that the link has committed for it here.
    """
    request = pb.ForecastMirrorsRequest(link_name=link_name, mirror_topics=topics)

    def once() -> None:
        found = region.ask("ForecastMirrors", request).topics
        answer({"topics": [as_dict(one) for one in found]}, as_json, lambda: _show(found))

    watched(every_seconds, once)


def _show(topics: Any) -> None:
    if not topics:
        screen().print("No topic that a link writes. `causeway mirror create` makes one.")
        return
    table = Table("Topic", "Status", "Partition", "MirrorEnd", "SourceEnd", "Missing", "KnownMsAgo")
    for topic in topics:
        for one in topic.partitions:
            numbers = (one.mirror_end, one.source_high_watermark, one.missing, one.known_ms)
            cells = map(_number, numbers)
            table.add_row(topic.mirror_topic, topic.mirror_status, str(one.partition), *cells)
    show_table(table)
    _show_groups(topics)
    screen().print(_sum(topics))


def _show_groups(topics: Any) -> None:
    table = Table(
        "Group",
        "Topic",
        "Partition",
        "Committed",
        "ResumesAt",
        "ReadAgain",
        "ReadAndLost",
        "HasMembers",
    )
    for topic in topics:
        for one in topic.groups:
            resumes = "auto.offset.reset" if one.resumes_at < 0 else str(one.resumes_at)
            table.add_row(
                one.group,
                topic.mirror_topic,
                str(one.partition),
                _number(one.committed_at_source),
                resumes,
                _number(one.read_again),
                _number(one.read_and_lost),
                _members(one),
            )
    if table.row_count:
        show_table(table)
    without = [topic.mirror_topic for topic in topics if not topic.copies_groups]
    if without:
        why = "begin where auto.offset.reset says: consumer.offset.sync.enable is false"
        screen().print(f"Groups of {', '.join(without)} {why}")


def _members(group: Any) -> str:
    """In which regions."""
    places = {"is_active_here": "here", "is_active_at_source": "at the source"}
    found = [place for name, place in places.items() if getattr(group, name)]
    unknown = [place for name, place in places.items() if not group.HasField(name)]
    return ", ".join([*found, *(f"{UNKNOWN} {place}" for place in unknown)])


def _number(number: int) -> str:
    return str(number) if number >= 0 else UNKNOWN


def _sum(topics: Any) -> str:
    partitions = [one for topic in topics for one in topic.partitions]
    groups = [one for topic in topics for one in topic.groups]
    missing = sum(max(0, one.missing) for one in partitions)
    age = max((one.known_ms for one in partitions), default=-1)
    unknown = sum(one.missing < 0 for one in partitions)
    again = sum(max(0, one.read_again) for one in groups)
    parts = [
        f"Failed over now, at least {missing} records would be lost, as of {_number(age)} ms ago"
    ]
    if unknown:
        parts.append(f"of {unknown} partitions nothing is known")
    if groups:
        parts.append(f"groups would read {again} records again")
    return "; ".join(parts) + "."
