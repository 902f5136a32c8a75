"""Every record that was ever written to a region's logs, by the leader epoch in which it was: what compacted logs are
judged by.

A leader writes one record at an offset, and whoever copies it copies that one, or what compaction has left. The leader
epochs of a log, of which compaction keeps the beginnings, say which of all records ever written at an offset counts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from brokers.ids import LeaderEpoch, Offset, ProducerId, TopicPartition
from tests.sim.evidence import Batch, said_by


class Written(NamedTuple):
    """A record; `value` of a deletion marker is what its client put into a header."""

    key: bytes | None
    value: bytes
    is_marker: bool


class Appended(NamedTuple):
    """The batch with which a producer's sequences went on."""

    next_offset: Offset
    producer_id: ProducerId


def written_in(batch: Batch) -> Iterator[tuple[Offset, Written]]:
    for record in batch.records():
        yield record.offset, Written(record.key, said_by(record), record.value is None)


class History:
    """Of one region, and what it knows of others: what was removed before it was copied from there."""

    def __init__(self) -> None:
        self._records: dict[TopicPartition, dict[tuple[LeaderEpoch, Offset], Written]] = {}
        self._batches: dict[TopicPartition, dict[tuple[LeaderEpoch, Offset], Appended]] = {}
        # By its own topics: who else has the records of each, and what it is called there.
        self._beside: dict[str, list[tuple[History, str]]] = {}
        self._offsets: dict[tuple[TopicPartition, bytes | None], set[Offset]] = {}  # of keys

    def is_copied(self, topic: str, other: "History", there: str) -> None:
        """A topic has records of another region's."""
        self._beside.setdefault(topic, []).append((other, there))

    def everywhere(self, partition: TopicPartition) -> "Iterator[tuple[History, TopicPartition]]":
        """Itself first, and the others that have the same records, by their names of the partition."""
        yield self, partition
        for history, topic in self._beside.get(partition.topic, ()):
            yield history, partition._replace(topic=topic)

    def written_at(
        self, partition: TopicPartition, offset: Offset, epochs: Iterable[LeaderEpoch]
    ) -> Iterator[Written]:
        """What was written here at an offset in any of these leader epochs."""
        records = self._records.get(partition, {})
        for epoch in epochs:
            if (found := records.get((epoch, offset))) is not None:
                yield found

    def replaces(self, partition: TopicPartition, record: Written, span: range) -> bool:
        """Whether a record of the same key was written here at one of these offsets."""
        return any(at in span for at in self._offsets.get((partition, record.key), ()))

    def deletes(self, partition: TopicPartition, key: bytes, offset: Offset) -> bool:
        """Whether a deletion marker of a key was written here, at this offset or later."""
        return any(
            at >= offset and record.is_marker and record.key == key
            for (_, at), record in self._records.get(partition, {}).items()
        )

    def knows(self, partition: TopicPartition, batch: Batch) -> bool:
        """Whether a batch was written here at its offset and in its epoch, with these records or more."""
        return (batch.leader_epoch, batch.base_offset) in self._batches.get(partition, {})

    def witness(self, partition: TopicPartition, batch: Batch) -> str:
        """Take note -> what is wrong; nothing if every record is new, or as it was."""
        records = self._records.setdefault(partition, {})
        batches = self._batches.setdefault(partition, {})
        appended = Appended(batch.next_offset, batch.producer_id)
        batches.setdefault((batch.leader_epoch, batch.base_offset), appended)
        for offset, record in written_in(batch):
            self._offsets.setdefault((partition, record.key), set()).add(offset)
            before = records.setdefault((batch.leader_epoch, offset), record)
            if before != record:
                place = f"{partition}@{offset} in leader epoch {batch.leader_epoch}"
                return f"{place}: {record.value[:40]!r} is written, and {before.value[:40]!r} was"
        return ""

    def foreign(self, partition: TopicPartition, batch: Batch) -> str:
        """What a batch holds that was not written in this region, nor in those beside it."""
        for offset, record in written_in(batch):
            found = self._find(partition, batch.leader_epoch, offset)
            if found != record:
                return f"{record.value[:40]!r} at {offset}, where {found} was written"
        return ""

    def is_beside(
        self, partition: TopicPartition, epoch: LeaderEpoch, offset: Offset, value: bytes
    ) -> bool:
        """Whether a record was written in another region, too."""
        return any(
            record.value == value
            for history, at in self.everywhere(partition)
            if history is not self
            for record in history.written_at(at, offset, (epoch,))
        )

    def is_replaced_beside(
        self, partition: TopicPartition, key: bytes | None, offset: Offset
    ) -> bool:
        """Whether a later record of a key was written here, and in another region, too."""
        return any(
            at > offset and record.key == key and self.is_beside(partition, epoch, at, record.value)
            for (epoch, at), record in self._records.get(partition, {}).items()
        )

    def _find(
        self, partition: TopicPartition, epoch: LeaderEpoch, offset: Offset
    ) -> Written | None:
        found = (
            record
            for history, at in self.everywhere(partition)
            for record in history.written_at(at, offset, (epoch,))
        )
        return next(found, None)

    def truth(self, partition: TopicPartition, logs: Iterable[Iterable[Batch]]) -> "Truth":
        """What counts of all that was written, by the logs of a partition's replicas."""
        starts: dict[LeaderEpoch, Offset] = {}
        end = 0
        for log in logs:
            for batch in log:
                end = max(end, batch.next_offset)
                known = starts.get(batch.leader_epoch, batch.base_offset)
                starts[batch.leader_epoch] = min(known, batch.base_offset)
        lineage = Lineage(starts)
        records: dict[Offset, Written] = {}
        last: dict[ProducerId, Offset] = {}
        for history, at in reversed(list(self.everywhere(partition))):  # its own records count
            for (epoch, offset), record in history._records.get(at, {}).items():
                if offset < end and lineage.epoch_at(offset) == epoch:
                    records[offset] = record
            for (epoch, base), appended in history._batches.get(at, {}).items():
                is_there = base < end and lineage.epoch_at(base) == epoch
                if is_there and appended.producer_id >= 0:
                    known = last.get(appended.producer_id, -1)
                    last[appended.producer_id] = max(known, appended.next_offset)
        return Truth(dict(sorted(records.items())), last)


class Lineage:
    """Where each leader epoch of a log begins."""

    def __init__(self, starts: Mapping[LeaderEpoch, Offset]) -> None:
        self._epochs = sorted(starts, key=lambda epoch: (starts[epoch], epoch))
        self._starts = [starts[epoch] for epoch in self._epochs]

    def epoch_at(self, offset: Offset) -> LeaderEpoch:
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else -1


class Truth:
    """All records of a partition's log as they would be without compaction, by offset, and each producer's end."""

    def __init__(self, records: dict[Offset, Written], ends: Mapping[ProducerId, Offset]) -> None:
        self.records = records
        self.ends = ends
        self.latest: dict[bytes, Offset] = {}
        for offset, record in records.items():
            self.latest[record.key or b""] = offset

    def is_replaced(self, offset: Offset) -> bool:
        """Whether a later record has the same key."""
        return self.latest[self.records[offset].key or b""] > offset
