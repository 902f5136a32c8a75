"""Looks for what a decision has cut off: in the logs of the old primary, and in its orphan stores once it was restored.

A record is lost that lies at or beyond the cut, in a leader epoch of the old primary: a cut begins leader epochs above
all of its source's, so what the old primary copied back later is told from what it had written itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from brokers.ids import LeaderEpoch, Offset
from federation.commands.answers import Failure
from federation.commands.lost.coverage import Held, OffsetRange, gaps, missing_offsets, reasons_of
from federation.commands.lost.sealing_records import SealingRecords, sealing_records
from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.provenance import OldPartition
from federation.commands.orphans.reading import OrphanRecord, records_in, records_of
from federation.commands.orphans.stores import Stores, Tail, list_tails
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
    """What a partition lost. `missing`: offsets beyond the cut that the source held once and has no more.

    Of the `records`, `unique` are not in the topic, and `replayed` are by `causeway orphans replay`.

    `because`: why more may be lost than `records` counts; empty if that is all. `is_silent`: a broker of the source
    that does not answer now may have more.
    """

    partition: int
    cut_offset: Offset
    records: int = 0
    unique: int = 0
    replayed: int = 0
    missing: int = 0
    because: str = ""
    is_silent: bool = False


@dataclass(slots=True)
class Losses:
    """Of one decision. `shown` are the first of the records."""

    partitions: list[PartitionLoss] = field(default_factory=list)
    shown: list[LostRecord] = field(default_factory=list)

    @property
    def records(self) -> int:
        return sum(one.records for one in self.partitions)

    @property
    def replayed(self) -> int:
        return sum(one.replayed for one in self.partitions)

    @property
    def lower_bound(self) -> int:
        """The records that are found, and the offsets that are known and missing."""
        return sum(one.records + one.missing for one in self.partitions)

    @property
    def because(self) -> str:
        """Why it may not be all; empty if it is."""
        found = [one for one in self.partitions if one.because]
        if not found:
            return ""
        more = f" (and {len(found) - 1} more partitions)" if len(found) > 1 else ""
        return f"partition {found[0].partition}: {found[0].because}{more}"

    @property
    def is_silent(self) -> bool:
        return any(one.is_silent for one in self.partitions)


@dataclass(slots=True)
class OldLog:
    """What the source's log of a partition has beyond a cut. `old`: of before the cut, None if nothing."""

    start: Offset
    old: OffsetRange | None = None
    is_restored: bool = False  # it has records of after the cut

    @property
    def start_of_old(self) -> Offset | None:
        return None if self.is_restored else self.start


class Search:
    """One decision's topic: `old` and `new` are the Kafka addresses of the two regions; `cluster_id` is of the old."""

    def __init__(self, old: str, cluster_id: str, new: str, source_topic: str, topic: str) -> None:
        self._old, self._cluster_id, self._new = old, cluster_id, new
        self._source_topic, self._topic = source_topic, topic

    def run(self, cut: Iterable[Any], limit: int) -> Losses:
        """`cut` are CutPartitions; shows `limit` records at most, and counts all."""
        stores = list_tails(self._old, self._source_topic)
        records = sealing_records(self._old, self._source_topic)
        found = Losses()
        with TopicClient(self._old, self._source_topic) as client:
            for each in cut:
                loss = PartitionLoss(each.partition, each.offset)
                found.partitions.append(loss)
                log = self._search(client, stores, each, loss, found.shown, limit)
                judge(each, loss, stores, records, log)
        return found

    def _search(
        self,
        client: TopicClient,
        stores: Stores,
        each: Any,
        loss: PartitionLoss,
        shown: list[LostRecord],
        limit: int,
    ) -> OldLog | None:
        """Counts the records; None where the log can't be read. Each counts once, though it may be in a log and in a
        tail."""
        held: dict[Offset, tuple[OrphanRecord, str]] = {}
        for name, orphan in self._sealed(stores, each):
            held.setdefault(orphan.record.offset, (orphan, name))
        log: OldLog | None = None
        try:
            log = OldLog(client.offset_at(each.partition, EARLIEST))
            for orphan in self._in_log(client, each, log):
                held.setdefault(orphan.record.offset, (orphan, "log"))
        except Failure as failure:
            log, loss.because, loss.is_silent = None, failure.message, True
        if held:
            for record in self._classified(each, [held[offset] for offset in sorted(held)]):
                loss.records += 1
                loss.unique += record.found is OrphanClass.UNIQUE
                loss.replayed += record.found is OrphanClass.REPLAYED
                if len(shown) < limit:
                    shown.append(record)
        return log

    def _sealed(self, stores: Stores, each: Any) -> Iterator[tuple[str, OrphanRecord]]:
        for tail in _tails_beyond(stores, each):
            for orphan in records_of(tail):
                if _is_lost(orphan.record.offset, orphan.leader_epoch, each):
                    yield tail.name, orphan

    def _in_log(self, client: TopicClient, each: Any, log: OldLog) -> Iterator[OrphanRecord]:
        """Of before the cut; `log` gets what is read. Raises Failure."""
        begin, end = max(log.start, each.offset), client.offset_at(each.partition, LATEST)
        if begin >= end:
            return
        for header, batch in client.batches(each.partition, begin):
            if header.leader_epoch >= each.leader_epoch:
                log.is_restored = True
                return
            # The log may begin in the middle of a batch, which it has as a whole, as its tail will have it.
            begin = min(begin, max(header.base_offset, each.offset))
            log.old = OffsetRange(begin, header.next_offset)
            for orphan in records_in(memoryview(batch)):
                if _is_lost(orphan.record.offset, orphan.leader_epoch, each):
                    yield orphan

    def _classified(self, each: Any, held: list[tuple[OrphanRecord, str]]) -> Iterator[LostRecord]:
        source = OldPartition(self._cluster_id, self._source_topic, each.partition)
        with TopicClient(self._new, self._topic) as client:
            successors = Successors.read(client, source, each.offset)
        classified = successors.classify(orphan for orphan, _ in held)
        for (orphan, found), (_, where) in zip(classified, held, strict=True):
            yield LostRecord(each.partition, orphan, found, where)


def judge(
    each: Any, loss: PartitionLoss, stores: Stores, records: SealingRecords, log: OldLog | None
) -> None:
    """Whether that is all."""
    reasons = [loss.because] if loss.because else []
    if stores.silent:
        reasons.append(f"orphan stores of brokers {_names(stores.silent)} do not answer")
        loss.is_silent = True
    if log is not None:
        listed = [tail.name for tail in stores.tails]
        held = Held(list(_old_offsets(stores, each)), log.old, log.start_of_old)
        gone = [
            one
            for one in records.discarded_beyond(each, listed)
            if log.old is None or any(gaps(one.tail.offsets_beyond(each), [log.old]))
        ]
        missing = missing_offsets(each, held, records.cuts_beyond(each, listed), gone)
        loss.missing = sum(one.end - one.start for one in missing)
        reasons += reasons_of(each, loss.records, missing, gone)
    loss.because = "; ".join(reasons)


def _tails_beyond(stores: Stores, each: Any) -> list[Tail]:
    return [
        tail
        for tail in stores.tails
        if tail.orphan.partition == each.partition and tail.orphan.next_offset > each.offset
    ]


def _old_offsets(stores: Stores, each: Any) -> Iterator[OffsetRange]:
    """Of each tail, those of before the cut."""
    for orphan in (tail.orphan for tail in _tails_beyond(stores, each)):
        epochs = orphan.leader_epochs
        later = (one.start_offset for one in epochs if one.leader_epoch >= each.leader_epoch)
        old = OffsetRange(orphan.base_offset, min([orphan.next_offset, *later]))
        if old.start < old.end:
            yield old


def _is_lost(offset: Offset, leader_epoch: LeaderEpoch, each: Any) -> bool:
    return bool(offset >= each.offset and leader_epoch < each.leader_epoch)


def _names(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))
