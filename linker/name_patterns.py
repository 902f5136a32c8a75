"""Which names there may be, and patterns of them, as operators give them."""

import re
from collections.abc import Iterable
from typing import Final

import re2

# Of a topic, by Kafka's limits. Links have such names, too, and regions.
LEGAL_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names of which all matches, a regular expression of RE2. Raises ValueError for one that is none.

    RE2 needs time in proportion to the name, whatever the pattern is: Python's own expressions can take minutes.
    """
    options = re2.Options()
    options.log_errors = False  # RE2 would write them to stderr, too
    try:
        matches = re2.compile(pattern, options).fullmatch
    except re2.error as error:
        because = error.args[0] if error.args else ""
        because = because.decode(errors="replace") if isinstance(because, bytes) else str(because)
        raise ValueError(f"{pattern!r} is none of RE2: {because}") from error
    return [name for name in names if matches(name)]
