"""Looks for what a decision has cut off: in the logs of the old primary, and in its orphan stores once it was restored.

A record is lost that lies at or beyond the cut, in a leader epoch of the old primary: a cut begins leader epochs above
all of its source's, so what the old primary copied back later is told from what it had written itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from brokers.ids import LeaderEpoch, Offset
from federation.commands.answers import Failure
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.reading import OrphanRecord, records_in, records_of
from federation.commands.orphans.stores import Stores, list_tails
from federation.commands.orphans.topics import EARLIEST, TopicClient

LATEST: Final = -1


@dataclass(frozen=True, slots=True)
class LostRecord:
    """`held_in`: log, or the name of an orphan tail."""

    partition: int
    orphan: OrphanRecord
    found: OrphanClass
    held_in: str


@dataclass(slots=True)
class PartitionLoss:
    """What a partition lost. `because`: why more may be lost than `records` counts; empty if that is all."""

    partition: int
    cut_offset: Offset
    records: int = 0
    unique: int = 0
    because: str = ""


@dataclass(slots=True)
class Losses:
    """Of one decision. `shown` are the first of the records."""

    partitions: list[PartitionLoss] = field(default_factory=list)
    shown: list[LostRecord] = field(default_factory=list)

    @property
    def records(self) -> int:
        return sum(one.records for one in self.partitions)

    @property
    def is_exact(self) -> bool:
        return not any(one.because for one in self.partitions)


class Search:
    """One decision's topic: `old` and `new` are the Kafka addresses of the two regions."""

    def __init__(self, old: str, new: str, source_topic: str, topic: str) -> None:
        self._old, self._new = old, new
        self._source_topic, self._topic = source_topic, topic

    def run(self, cut: Iterable[Any], limit: int) -> Losses:
        """`cut` are CutPartitions; shows `limit` records at most, and counts all."""
        stores = list_tails(self._old, self._source_topic)
        found = Losses()
        with TopicClient(self._old, self._source_topic) as client:
            for each in cut:
                loss = PartitionLoss(each.partition, each.offset)
                found.partitions.append(loss)
                for record in self._lost(client, stores, each, loss):
                    loss.records += 1
                    loss.unique += record.found is OrphanClass.UNIQUE
                    if len(found.shown) < limit:
                        found.shown.append(record)
        return found

    def _lost(
        self, client: TopicClient, stores: Stores, each: Any, loss: PartitionLoss
    ) -> Iterator[LostRecord]:
        """By offset; each once, though it may be in a log and in a tail."""
        held: dict[Offset, tuple[OrphanRecord, str]] = {}
        for name, orphan in self._sealed(stores, each):
            held.setdefault(orphan.record.offset, (orphan, name))
        if stores.silent:
            loss.because = f"orphan stores of brokers {_names(stores.silent)} do not answer"
        for orphan in self._in_log(client, each, loss, has_tails=bool(held)):
            held.setdefault(orphan.record.offset, (orphan, "log"))
        if held:
            yield from self._classified(each, [held[offset] for offset in sorted(held)])

    def _sealed(self, stores: Stores, each: Any) -> Iterator[tuple[str, OrphanRecord]]:
        for tail in stores.tails:
            if tail.orphan.partition == each.partition and tail.orphan.next_offset > each.offset:
                for orphan in records_of(tail):
                    if _is_lost(orphan.record.offset, orphan.leader_epoch, each):
                        yield tail.name, orphan

    def _in_log(
        self, client: TopicClient, each: Any, loss: PartitionLoss, *, has_tails: bool
    ) -> Iterator[OrphanRecord]:
        try:
            start = client.offset_at(each.partition, EARLIEST)
            end = client.offset_at(each.partition, LATEST)
        except Failure as failure:
            loss.because = failure.message
            return
        if start > each.offset and not has_tails:
            loss.because = f"the source has deleted its offsets below {start}"
        if max(start, each.offset) >= end:
            return
        for header, batch in client.batches(each.partition, max(start, each.offset)):
            if header.leader_epoch >= each.leader_epoch:
                return
            for orphan in records_in(memoryview(batch)):
                if _is_lost(orphan.record.offset, orphan.leader_epoch, each):
                    yield orphan

    def _classified(self, each: Any, held: list[tuple[OrphanRecord, str]]) -> Iterator[LostRecord]:
        with TopicClient(self._new, self._topic) as client:
            successors = Successors.read(client, each.partition, each.offset)
        classified = successors.classify(orphan for orphan, _ in held)
        for (orphan, found), (_, where) in zip(classified, held, strict=True):
            yield LostRecord(each.partition, orphan, found, where)


def _is_lost(offset: Offset, leader_epoch: LeaderEpoch, each: Any) -> bool:
    return bool(offset >= each.offset and leader_epoch < each.leader_epoch)


def _names(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))
