"""Questions that each broker of a region answers for itself, over its `admin.listener`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from federation.commands.answers import Failure
from federation.commands.link.region_admin import refusal
from federation.commands.region.bootstrap import region_at
from federation.commands.region.client import NoAnswer
from federation.commands.region.requests import broker_setting
from linker.shell.administrator import Administrator, Unreachable
from linker.shell.discovery import ADMIN_LISTENER, reachable

ANSWER_SECONDS: Final = 60.0
# Of a name that is not known. A broker whose metadata is behind may say so, too.
_UNKNOWN_NAMES: Final = ("UNKNOWN_TOPIC_OR_PARTITION", "CLUSTER_LINK_NOT_FOUND")


def ask_each(
    bootstrap: str, method: str, request: Any, take: Callable[[int, str, Any], None]
) -> dict[int, str]:
    """Why brokers did not answer, by id. Raises Failure where a name is asked for that none of them knows."""
    silent: dict[int, str] = {}
    unknown: Failure | None = None
    is_known = False
    for broker in region_at(bootstrap).brokers:
        address = f"{broker.host}:{broker.port}"
        try:
            with _administrator(address, broker.id) as (endpoint, administrator):
                reply = administrator.ask(method, request, ANSWER_SECONDS)
        except (NoAnswer, Unreachable) as error:
            silent[broker.id] = str(error)
            continue
        if reply.HasField("error"):
            silent[broker.id] = f"{reply.error.message} ({reply.error.code})"
            unknown = refusal(reply.error) if reply.error.code in _UNKNOWN_NAMES else unknown
        else:
            is_known = True
            take(broker.id, endpoint, reply)
    if unknown is not None and not is_known:
        raise unknown
    return silent


@contextmanager
def _administrator(address: str, broker: int) -> Iterator[tuple[str, Administrator]]:
    """Raises NoAnswer."""
    listens_at = broker_setting(address, broker, ADMIN_LISTENER)
    if not listens_at:
        raise NoAnswer(f"{address} has no {ADMIN_LISTENER}: it is no broker of ours")
    endpoint = reachable(listens_at, address.rpartition(":")[0].strip("[]"))
    with Administrator(endpoint) as administrator:
        yield endpoint, administrator
