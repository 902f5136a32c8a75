"""Whether what was found of one partition is all that its decision cut off. Offsets, without any connection.

A cut takes every offset from its own on, in leader epochs below its own. The offsets that existed are known from the
source's high watermark at the cut, from its log, from its orphan tails, and from what its hole ledger and its operator
log say of tails that are gone. What of these is neither in the log nor in a tail is missing: retention or DeleteRecords
took it before the tail was sealed, or the tail was discarded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from brokers.ids import Instant, LeaderEpoch, Offset
from federation.commands.link.times import instant

_TAIL_NAME: Final = re.compile(r"(.+)-(\d+)/(\d+)-(\d+)\.e(-?\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Offsets [start, end) of one partition."""

    start: Offset
    end: Offset

    def __str__(self) -> str:
        return f"[{self.start}, {self.end})"


@dataclass(frozen=True, slots=True)
class NamedTail:
    """What the name of an orphan tail says: TOPIC-PARTITION/FIRST-END.eEPOCH. `last_epoch`: of its last record."""

    name: str
    topic: str
    partition: int
    offsets: OffsetRange
    last_epoch: LeaderEpoch

    def is_beyond(self, cut: Any) -> bool:
        """Whether it has records that this CutPartition cut off."""
        is_of_partition = self.partition == cut.partition and self.offsets.end > cut.offset
        return bool(is_of_partition and self.last_epoch < cut.leader_epoch)

    def offsets_beyond(self, cut: Any) -> OffsetRange:
        return OffsetRange(max(self.offsets.start, cut.offset), self.offsets.end)


@dataclass(frozen=True, slots=True)
class DiscardedTail:
    """An operator removed it at this time, in milliseconds since 1970."""

    tail: NamedTail
    at_ms: Instant

    def __str__(self) -> str:
        what = f"orphan tail {self.tail.name} with offsets {self.tail.offsets}"
        return f"{what} was discarded at {instant(self.at_ms)}"


@dataclass(frozen=True, slots=True)
class Held:
    """What the source holds of a partition. `log` is what its log has of the time before the cut, None if nothing;
    `log_start`: of a log that no record shows to be restored, else None."""

    tails: Sequence[OffsetRange]
    log: OffsetRange | None
    log_start: Offset | None


def parse_name(name: str) -> NamedTail | None:
    """None for a name that no orphan tail has."""
    read = _TAIL_NAME.fullmatch(name)
    if read is None:
        return None
    first, end = int(read[3]), int(read[4])
    return NamedTail(name, read[1], int(read[2]), OffsetRange(first, end), int(read[5]))


def gaps(wanted: OffsetRange, held: Iterable[OffsetRange]) -> Iterator[OffsetRange]:
    """What of `wanted` is in none of `held`, ascending."""
    at = wanted.start
    for one in sorted(held, key=lambda each: each.start):
        if one.start >= wanted.end:
            break
        if one.start > at:
            yield OffsetRange(at, one.start)
        at = max(at, one.end)
    if at < wanted.end:
        yield OffsetRange(at, wanted.end)


def missing_offsets(
    cut: Any, held: Held, cuts: Sequence[OffsetRange], discarded: Sequence[DiscardedTail]
) -> list[OffsetRange]:
    """What existed beyond a CutPartition, and the source does not hold. `cuts`: what its hole ledger says that restores
    cut from its log and sealed; of a compacted log a tail may begin after that."""
    sealed = [
        OffsetRange(
            min([one.start, *(each.start for each in cuts if each.end == one.end)]), one.end
        )
        for one in held.tails
    ]
    there = [*sealed, *([held.log] if held.log is not None else [])]
    known = [*there, *cuts, *(one.tail.offsets for one in discarded)]
    reached = cut.offset + max(cut.missing, 0)
    if (
        held.log_start is not None and not known
    ):  # a tail shows a restore: it begins where its new source's log does
        reached = max(reached, held.log_start)
    end = max([reached, *(one.end for one in known)])
    return list(gaps(OffsetRange(cut.offset, max(cut.offset, end)), there))


def reasons_of(
    cut: Any, records: int, missing: Sequence[OffsetRange], discarded: Sequence[DiscardedTail]
) -> list[str]:
    """Why the `records` that were found may not be all; empty if they are."""
    reasons = [str(one) for one in discarded]
    gone = [one.tail.offsets for one in discarded]
    lost = [each for one in missing for each in gaps(one, gone)]
    if lost:
        where = "in no log and in no orphan tail of the source any more"
        reasons.append(f"offsets {', '.join(map(str, lost))} are {where}")
    if not reasons and records < cut.missing:
        known = f"{cut.missing} records were known of at the cut"
        reasons.append(
            f"{known}, and {records} of them are there: compaction may have removed others"
        )
    return reasons
