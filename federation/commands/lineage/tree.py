"""Where the histories of one partition part, and who wrote each range of them.

Each cut of a topic begins leader epochs whose upper 16 bits are the cut's own number, so the epochs of a range say
after which decision it was written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any

from brokers.ids import LeaderEpoch, Offset
from brokers.metadata.commands.mirror_commands import ELECTION_BITS
from federation.commands.lineage.histories import History, RegionHistory
from linker.data.lineage import agreed_offset


@dataclass(frozen=True, slots=True)
class WrittenRange:
    """Offsets that one region wrote, between two cuts. `writer` is empty where no region that was asked knows it."""

    start: Offset
    end: Offset
    first_epoch: LeaderEpoch
    last_epoch: LeaderEpoch
    writer: str
    decision: Any | None  # pb.Decision, after which it was written; None before the first


@dataclass(frozen=True, slots=True)
class Branch:
    """What the logs of `regions` have in common beyond the branch before; `children` part from its end on."""

    regions: tuple[str, ...]
    ranges: tuple[WrittenRange, ...]
    children: "tuple[Branch, ...]" = field(default=())


class Writers:
    """Who wrote a range of offsets, by the decisions of all regions that were asked."""

    def __init__(self, regions: Sequence[RegionHistory]) -> None:
        self._regions = regions
        told = ((region.region, one) for region in regions for one in region.decisions)
        self._decisions = sorted(told, key=lambda each: each[1].cut.at_ms)

    def of(self, partition: int, epoch: LeaderEpoch) -> tuple[str, Any | None]:
        """(cluster id, decision)"""
        number = epoch >> ELECTION_BITS
        for region, decision in self._decisions:
            cuts = {one.partition: one.leader_epoch for one in decision.cut.partitions}
            if cuts.get(partition, -1) >> ELECTION_BITS == number:
                return region, decision
        return (self._origin() if number == 0 else ""), None

    def _origin(self) -> str:
        """Where the topic began."""
        for _, decision in self._decisions:
            return str(decision.origins[-1]) if decision.origins else ""
        mirrored = [region.origins[-1] for region in self._regions if region.origins]
        return next(iter(mirrored), self._regions[0].region)


def tree_of(histories: Sequence[History], writers: Writers) -> Branch:
    """The tree of one partition, whose root is what all these logs have in common."""
    return _branch(list(histories), 0, writers)


def _branch(histories: list[History], start: Offset, writers: Writers) -> Branch:
    end = _common_end(histories, start)
    longest = max(histories, key=lambda one: one.log_end)
    ranges = tuple(_ranges(longest, start, end, writers))
    going_on = [one for one in histories if one.log_end > end]
    children = tuple(_branch(group, end, writers) for group in _groups(going_on, end))
    return Branch(tuple(sorted({one.region for one in histories})), ranges, children)


def _agreed(one: History, other: History) -> Offset:
    return agreed_offset(one.epochs, one.log_end, other.epochs, other.log_end)


def _common_end(histories: list[History], start: Offset) -> Offset:
    first, *others = histories
    ends = (min(_agreed(first, other), other.log_end) for other in others)
    return max(start, min((first.log_end, *ends)))


def _groups(histories: list[History], end: Offset) -> Iterator[list[History]]:
    """Those that agree beyond `end`."""
    groups: list[list[History]] = []
    for one in histories:
        group = next((each for each in groups if _agreed(each[0], one) > end), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    yield from groups


def _ranges(
    history: History, start: Offset, end: Offset, writers: Writers
) -> Iterator[WrittenRange]:
    """Of the history between two offsets, by the cut after which each was written."""
    bounds = pairwise([*history.epochs, (1 << 31, history.log_end)])
    spans = [
        (epoch, max(low, start), min(high, end))
        for (epoch, low), (_, high) in bounds
        if max(low, start) < min(high, end)
    ]
    for _, group in groupby(spans, key=lambda span: span[0] >> ELECTION_BITS):
        found = list(group)
        writer, decision = writers.of(history.partition, found[0][0])
        yield WrittenRange(found[0][1], found[-1][2], found[0][0], found[-1][0], writer, decision)
