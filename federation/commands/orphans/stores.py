"""The orphan stores of a region: each broker is asked for its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from federation.commands.answers import Failure
from federation.commands.each_broker import ask_each
from linker.wire.v1 import admin_pb2 as pb


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

    silent = ask_each(bootstrap, "ListOrphans", pb.ListOrphansRequest(topic=topic), take)
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
    silent = ask_each(bootstrap, "DiscardOrphans", request, take)
    return Stores(tuple(Tail(name, tuple(found)) for name, found in copies.items()), silent)


def _place(tail: Tail) -> tuple[str, int, int]:
    return tail.orphan.topic, tail.orphan.partition, tail.orphan.base_offset
