"""P8 at each write to a compacted log: what it lacks there, a later record of the same key has replaced.

A log is copied as its source's cleaning has left it, so a batch may come behind a gap, or with fewer records than were
written in its leader epoch. Each record that is left out must have been replaced by one that is committed by then, or
lie below the log start, or be in the hole ledger. A deletion marker may be left out once its time is over. What
cleaning takes away later is judged when the run is over.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from tests.sim.evidence import Batch, batches, log_start
from tests.sim.history import History, Written
from tests.sim.linked.federation import Region
from tests.sim.linked.gaps import Gaps
from tests.sim.linked.known_offsets import KnownOffsets
from tests.sim.linked.left_out import LeftOut


class _End(NamedTuple):
    """Of a log: how often its disk had lost something, one past the last offset, and the leader epoch there."""

    losses: int
    offset: Offset
    epoch: LeaderEpoch


def _lacking(before: _End, batch: Batch) -> Iterator[tuple[Offset, range]]:
    """The offsets that a batch has no record of, or that lie before it; with the leader epochs they may be of."""
    held = {record.offset for record in batch.records()}
    for offset in range(before.offset, batch.next_offset):
        if offset not in held:
            first = before.epoch if offset < batch.base_offset else batch.leader_epoch
            yield offset, range(first, batch.leader_epoch + 1)


class CompactedGaps(Gaps):
    """Of one region."""

    def __init__(self, region: Region, known: Mapping[str, KnownOffsets]) -> None:
        super().__init__(region, known)
        assert region.evidence.history is not None
        self._history: History = region.evidence.history
        self._ends: dict[tuple[BrokerId, TopicPartition], _End] = {}
        self._left_out = LeftOut()
        region.evidence.left_out = self._left_out.of

    def written(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> Iterator[str]:
        """A batch has just come to a log."""
        before = self._end_before(number, partition, batch)
        if before.epoch < 0:
            self._left_out.begins(number, partition)
        missing: dict[Offset, bytes | None] = {}
        for offset, epochs in _lacking(before, batch):
            yield from self._judge(number, partition, offset, epochs)
            for record in self._written(partition, offset, epochs):
                missing[offset] = record.key
        self._left_out.copied(number, partition, batch, missing)
        self._ends[number, partition] = _End(before.losses, batch.next_offset, batch.leader_epoch)
        self._reached[partition] = max(self._reached.get(partition, 0), batch.next_offset)

    def forget(self, number: BrokerId, partition: TopicPartition) -> None:
        """Something was taken from a log."""
        self._ends.pop((number, partition), None)

    def _end_before(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> _End:
        """Of the log that the batch came to, which begins at its log start if there was nothing else."""
        disk = self._region.node(number).disk
        known = self._ends.get((number, partition))
        if known is None or known.losses != disk.losses:
            below = (
                _End(disk.losses, each.next_offset, each.leader_epoch)
                for each in reversed(batches(disk, partition))
                if each.base_offset < batch.base_offset
            )
            known = next(below, _End(disk.losses, 0, -1))
        return known._replace(offset=max(known.offset, log_start(disk, partition)))

    def _leaves_out(self, partition: TopicPartition, start: Offset, end: Offset) -> bool:
        """Of what its source has below the first batch that it still has, nothing counts."""
        placed = self._region.newest.partition(partition)
        epochs = range(0 if placed is None else placed.leader_epoch + 1)
        return any(self._missing(partition, offset, epochs) for offset in range(start, end))

    def _judge(
        self, number: BrokerId, partition: TopicPartition, offset: Offset, epochs: range
    ) -> Iterator[str]:
        missing = self._missing(partition, offset, epochs)
        if missing is None:
            return
        if not any(
            hole.base_offset <= offset < hole.next_offset for hole in self._holes(partition)
        ):
            what = f"{missing.value[:40]!r} at {offset}"
            yield f"n{number} leaves out {what} of {partition}, the last one of its key"

    def _missing(self, partition: TopicPartition, offset: Offset, epochs: range) -> Written | None:
        """The record that was written there in one of these leader epochs, if no log may lack it."""
        written = self._written(partition, offset, epochs)
        may_lack = any(self._may_lack(partition, offset, each) for each in written)
        return written[0] if written and not may_lack else None

    def _written(self, partition: TopicPartition, offset: Offset, epochs: range) -> list[Written]:
        return [
            record
            for history, at in self._history.everywhere(partition)
            for record in history.written_at(at, offset, epochs)
        ]

    def _may_lack(self, partition: TopicPartition, offset: Offset, record: Written) -> bool:
        if record.is_marker and not self._region.evidence.markers_last:
            return True
        later = range(offset + 1, self._committed(partition))
        return any(
            history.replaces(at, record, later)
            for history, at in self._history.everywhere(partition)
        )

    def _committed(self, partition: TopicPartition) -> Offset:
        """Here, or in another region that has the topic: a link may turn before an operator hears of it."""
        return max(
            known.of(at).high_watermark
            for history, at in self._history.everywhere(partition)
            for known in self._known.values()
            if known.region.evidence.history is history
        )
