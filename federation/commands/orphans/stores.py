"""The orphan stores of a region: each broker is asked for its own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from federation.commands.answers import Failure
from federation.commands.region.bootstrap import region_at
from federation.commands.region.client import NoAnswer
from federation.commands.region.requests import broker_setting
from linker.shell.administrator import Administrator, Unreachable
from linker.shell.discovery import ADMIN_LISTENER, reachable
from linker.wire.v1 import admin_pb2 as pb

ANSWER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class TailCopy:
    """One tail on one broker."""

    broker: int
    endpoint: str
    orphan: Any  # pb.Orphan


@dataclass(frozen=True, slots=True)
class Tail:
    """One tail, with its copies; they have the same name and the same records."""

    name: str
    copies: tuple[TailCopy, ...]

    @property
    def orphan(self) -> Any:
        """As an undamaged copy describes it, if there is one."""
        return min((each.orphan for each in self.copies), key=lambda one: one.damage)

    @property
    def brokers(self) -> list[int]:
        return [each.broker for each in self.copies]


@dataclass(frozen=True, slots=True)
class Stores:
    """`silent`: brokers that did not answer, and why. Their stores may have more."""

    tails: tuple[Tail, ...]
    silent: dict[int, str]


def list_tails(bootstrap: str, topic: str = "") -> Stores:
    """Every broker's tails, by name. Raises Failure where no broker answers."""
    copies: dict[str, list[TailCopy]] = {}

    def take(broker: int, endpoint: str, reply: Any) -> None:
        for orphan in reply.orphans:
            copies.setdefault(orphan.name, []).append(TailCopy(broker, endpoint, orphan))

    silent = _ask_each(bootstrap, "ListOrphans", pb.ListOrphansRequest(topic=topic), take)
    tails = (Tail(name, tuple(found)) for name, found in sorted(copies.items()))
    return Stores(tuple(sorted(tails, key=_place)), silent)


def find_tails(bootstrap: str, names: Iterable[str]) -> list[Tail]:
    """Raises Failure for a name that no broker has."""
    stores = list_tails(bootstrap)
    known = {tail.name: tail for tail in stores.tails}
    wanted = list(dict.fromkeys(names))
    if missing := [name for name in wanted if name not in known]:
        silent = (
            f"; brokers {', '.join(map(str, stores.silent))} did not answer"
            if stores.silent
            else ""
        )
        raise Failure(
            f"no broker has an orphan tail {missing[0]!r}{silent}",
            hint="`causeway orphans list` names those there are",
        )
    return [known[name] for name in wanted]


def discard(bootstrap: str, names: Iterable[str], *, validate_only: bool) -> Stores:
    """Remove every copy of these tails -> those that are gone."""
    copies: dict[str, list[TailCopy]] = {}

    def take(broker: int, endpoint: str, reply: Any) -> None:
        for orphan in reply.orphans:
            copies.setdefault(orphan.name, []).append(TailCopy(broker, endpoint, orphan))

    request = pb.DiscardOrphansRequest(names=list(names), validate_only=validate_only)
    silent = _ask_each(bootstrap, "DiscardOrphans", request, take)
    return Stores(tuple(Tail(name, tuple(found)) for name, found in copies.items()), silent)


def _place(tail: Tail) -> tuple[str, int, int]:
    return tail.orphan.topic, tail.orphan.partition, tail.orphan.base_offset


def _ask_each(
    bootstrap: str, method: str, request: Any, take: Callable[[int, str, Any], None]
) -> dict[int, str]:
    """Why brokers did not answer, by id."""
    silent: dict[int, str] = {}
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
        else:
            take(broker.id, endpoint, reply)
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
