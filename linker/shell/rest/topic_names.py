"""Which mirror topics a request means that names them, or has a pattern for their names."""

from collections.abc import Iterable

import re2

from linker.shell.rest.errors import RequestRefused, bad_request
from linker.shell.rest.schemas import AlterMirrorsRequestData


def topics_of(body: AlterMirrorsRequestData, mirrors: Iterable[str], link_name: str) -> list[str]:
    """Names of topics, at least one; `mirrors` are those of the link. Raises RequestRefused.

    RE2 needs time in proportion to the name, whatever the pattern is: Python's own expressions can take minutes.
    """
    pattern = body.mirror_topic_name_pattern
    if bool(pattern) == bool(body.mirror_topic_names):
        raise bad_request("give mirror_topic_names or mirror_topic_name_pattern")
    if not pattern:
        return list(dict.fromkeys(body.mirror_topic_names))
    try:
        matches = re2.compile(pattern).fullmatch
    except re2.error as error:
        raise _invalid(pattern, error) from error
    found = [name for name in mirrors if matches(name)]
    if not found:
        raise bad_request(
            f"no mirror topic of link {link_name} matches {pattern!r}",
            "the pattern is a regular expression that the whole name matches",
        )
    return found


def _invalid(pattern: str, error: Exception) -> RequestRefused:
    because = error.args[0] if error.args else ""
    because = because.decode(errors="replace") if isinstance(because, bytes) else str(because)
    return bad_request(f"mirror_topic_name_pattern: {pattern!r} is none of RE2: {because}")
