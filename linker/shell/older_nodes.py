"""What a node of an earlier release, which does not know all of admin.proto, means by its answers."""

from collections.abc import Iterable
from typing import Any, Final

CODE: Final = "UNSUPPORTED_VERSION"
NOT_SAID: Final = "not said: the link coordinator is of an earlier release"
_UPGRADE: Final = "upgrade the node, then ask again"
_HINTS: Final = {
    "CancelMirrors": (
        f"{_UPGRADE}; nothing was changed: a promotion or reversal that takes too long ends by itself at its"
        " --timeout-ms, a failover does not"
    )
}
_PENDING: Final = "PENDING_"  # how the states begin in which a mirror is in the middle of something


def because(who: str, method: str) -> str:
    """`who` does not know the method."""
    return f"{who} is of an earlier release, which does not know {method}"


def hint(method: str) -> str:
    """What an operator can do."""
    return _HINTS.get(method, _UPGRADE)


def in_transition(mirrors: Iterable[Any]) -> list[Any]:
    """Those that are in the middle of something: such a node lists all of them, with their states alone."""
    return [
        one
        for one in mirrors
        if one.HasField("transition") or one.mirror_status.startswith(_PENDING)
    ]
