"""Which mirror topics a change is of: those that are named, those that a pattern matches, or all of a link."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from federation.commands.answers import Failure
from federation.commands.link.region_admin import RegionAdmin
from federation.commands.topic_names import topic_names
from linker.wire.v1 import admin_pb2 as pb

pattern_option = click.option(
    "--pattern",
    metavar="REGEX",
    help="Those of --link whose whole name this matches (RE2), instead of names.",
)


def topic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `[TOPIC]...`, `--topics`, `--pattern` and `--link`; `chosen` makes topics of a link of them."""
    command = click.option(
        "--link",
        "link_name",
        default="",
        help="The link of the topics; required where no topic is named.",
    )(command)
    return topic_names()(pattern_option(command))


def chosen(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets `link_name` and `topics`; no topics are all of the link's. Raises UsageError and Failure."""

    @wraps(command)
    def with_topics(
        region: RegionAdmin,
        *others: Any,
        link_name: str,
        topics: tuple[str, ...],
        pattern: str | None,
        **named: Any,
    ) -> Any:
        if pattern is not None:
            topics = _matching_mirrors(region, link_name, topics, pattern)
        link_name = link_name or _link_of(region, topics)
        return command(region, *others, link_name=link_name, topics=topics, **named)

    return with_topics


def _matching_mirrors(
    region: RegionAdmin, link_name: str, topics: tuple[str, ...], pattern: str
) -> tuple[str, ...]:
    def mirrors() -> list[str]:
        listed = region.ask("ListMirrors", pb.ListMirrorsRequest(link_name=link_name)).mirrors
        return [each.mirror_topic for each in listed]

    if not topics and not link_name:
        raise click.UsageError("--pattern needs --link.")
    none = f"no mirror topic of link {link_name} matches {pattern!r}"
    return matching_topics(topics, pattern, mirrors, none, "`causeway mirror list` has the names")


def matching_topics(
    topics: tuple[str, ...],
    pattern: str,
    names: Callable[[], Sequence[str]],
    none: str,
    where: str,
) -> tuple[str, ...]:
    """Those of `names` that match. At least one, for none would mean all; else Failure, which says `none`."""
    from linker.name_patterns import matching  # RE2 takes long to load, and most commands need none

    if topics:
        raise click.UsageError("Name topics or give --pattern.")
    try:
        found = matching(pattern, names())
    except ValueError as error:
        raise click.UsageError(f"--pattern: {error}") from None
    if not found:
        hint = f"the pattern is a regular expression that the whole name matches; {where}"
        raise Failure(none, hint=hint)
    return tuple(found)


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
