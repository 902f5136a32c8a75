"""Who asked for a change, and from where, as the operator log names it."""

from typing import NamedTuple


class Origin(NamedTuple):
    """`principal` as it is printed, `User:name`."""

    principal: str
    client_id: str | None
    host: str
