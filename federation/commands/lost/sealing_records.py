"""What the source's hole ledger and its operator log say of the orphan tails that it once had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from federation.commands.addresses import UNREACHABLE_EXIT
from federation.commands.answers import Failure
from federation.commands.link.region_admin import refusal
from federation.commands.lost.coverage import (
    DiscardedTail,
    NamedTail,
    OffsetRange,
    parse_name,
)
from linker.shell.administrator import Administrator, UnknownMethod, Unreachable, find_endpoint
from linker.shell.discovery import DiscoveryError
from linker.wire.v1 import admin_pb2 as pb

_CUT: Final = "DIVERGENCE_CUT"
_DISCARD: Final = "DiscardOrphans"
_NO_ENTRIES: Final = "UNKNOWN_TOPIC_OR_PARTITION"  # of a topic that is no mirror there


@dataclass(frozen=True, slots=True)
class SealingRecords:
    """Of one topic. `cuts`: (partition, offsets) that restores have cut from its logs; `discarded` are all tails."""

    cuts: tuple[tuple[int, OffsetRange], ...]
    discarded: tuple[DiscardedTail, ...]

    def discarded_beyond(self, cut: Any, listed: Iterable[str]) -> list[DiscardedTail]:
        """Those with records that a CutPartition cut off, and of which no broker has a copy: not among `listed`."""
        there = set(listed)
        return [
            one for one in self.discarded if one.tail.is_beyond(cut) and one.tail.name not in there
        ]

    def cuts_beyond(self, cut: Any, listed: Iterable[str]) -> list[OffsetRange]:
        """Those that may be of a CutPartition: all but those whose tail is known, and is of another history."""
        named = [*map(parse_name, listed), *(one.tail for one in self.discarded)]
        others = {
            one.offsets.end
            for one in named
            if one is not None and one.partition == cut.partition and not one.is_beyond(cut)
        }
        return [
            each
            for partition, each in self.cuts
            if partition == cut.partition and each.end > cut.offset and each.end not in others
        ]


def sealing_records(bootstrap: str, topic: str) -> SealingRecords:
    """From any broker of the region that has sealed. Raises Failure."""
    try:
        with Administrator(find_endpoint(bootstrap)) as administrator:
            holes = administrator.ask("ListHoles", pb.ListHolesRequest(mirror_topic=topic))
            operations = _operations(administrator)
    except (DiscoveryError, Unreachable) as error:
        raise Failure(str(error), exit_code=UNREACHABLE_EXIT) from error
    if holes.HasField("error") and holes.error.code != _NO_ENTRIES:
        raise refusal(holes.error)
    cuts = (
        (one.partition, OffsetRange(one.from_offset, one.to_offset))
        for one in holes.holes
        if one.cause == _CUT and not one.deleted_at_ms
    )
    return SealingRecords(tuple(cuts), discarded_tails(operations, topic))


def _operations(administrator: Administrator) -> Sequence[Any]:
    """Of orphan tails; none where the region's release has no operator log."""
    try:
        reply = administrator.ask(
            "ListOperations", pb.ListOperationsRequest(resource_type="orphan")
        )
    except UnknownMethod:
        return ()
    if reply.HasField("error"):
        raise refusal(reply.error)
    return tuple(reply.operations)


def discarded_tails(operations: Iterable[Any], topic: str) -> tuple[DiscardedTail, ...]:
    """Each tail of a topic once, when it was discarded last: each broker tells of its own copies."""
    found: dict[str, tuple[NamedTail, int]] = {}
    for one in operations:
        if one.operation != _DISCARD:
            continue
        for resource in one.resources:
            tail = parse_name(resource.name)
            if tail is not None and tail.topic == topic:
                found[tail.name] = (tail, one.time_ms)
    return tuple(DiscardedTail(*each) for each in found.values())
