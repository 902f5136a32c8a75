"""Which mirror topics a request means that names them, or has a pattern for their names."""

from collections.abc import Awaitable, Callable, Iterable

from linker.name_patterns import matching
from linker.shell.rest.errors import bad_request
from linker.shell.rest.schemas import AlterMirrorsRequestData


async def topics_of(
    body: AlterMirrorsRequestData, of_link: Callable[[], Awaitable[Iterable[str]]], none: str
) -> list[str]:
    """Names of topics, at least one. A pattern is for those `of_link`; RequestRefused, which says `none`, where it
    matches none of them."""
    pattern = body.mirror_topic_name_pattern
    if bool(pattern) == bool(body.mirror_topic_names):
        raise bad_request("give mirror_topic_names or mirror_topic_name_pattern")
    if not pattern:
        return list(dict.fromkeys(body.mirror_topic_names))
    try:
        found = matching(pattern, await of_link())
    except ValueError as error:
        raise bad_request(f"mirror_topic_name_pattern: {error}") from error
    if not found:
        raise bad_request(
            f"{none} matches {pattern!r}",
            "the pattern is a regular expression that the whole name matches",
        )
    return found
