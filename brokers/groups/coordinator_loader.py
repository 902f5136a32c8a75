"""Rebuilds groups from the records of one partition of `__consumer_offsets`."""

from collections.abc import Iterable

from brokers.coordinator.effects import CoordinatorEffect
from brokers.effects import Changed
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.commit_runs import commit_runs
from brokers.groups.committed_offsets import Stored
from brokers.groups.group_metadata_records import restore
from brokers.groups.offset_commits import replay
from brokers.groups.records import (
    PARTITION_BYTES,
    GroupMetadataRecord,
    OffsetCommitRecord,
    RecordError,
    decode,
    is_current_value,
    split_offset_key,
)
from brokers.records.raw_records import KeyAndValue, OpenedBatch, keys_and_values


class GroupLoader:
    """Kafka's GroupLoader, for one partition: replays records in log order; the last record of a key counts."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._groups: dict[str, ClassicGroup] = {}
        # Where the offsets of a group and topic go, by what their keys have before the partition.
        self._places: dict[bytes, dict[int, Stored]] = {}
        self._unreadable = 0
        self._why = ""

    def replay(self, batch: OpenedBatch) -> None:
        """All of it, or `BatchError` where it is damaged."""
        runs, position, left = commit_runs(*batch)
        rest = keys_and_values(batch.data, left, position)
        for run in runs:
            place = self._places.get(run.key[:-PARTITION_BYTES])
            if place is None:
                place = self._place(run.key)
            assert place is not None, "a run has the key of an offset"
            place.update(run.stored)
        self._replay_each(rest)

    def _replay_each(self, records: Iterable[KeyAndValue]) -> None:
        """Nearly all are offsets of groups and topics that were seen before: these are stored as they are."""
        places, read_number = self._places, int.from_bytes
        for key, value in records:
            if key is not None and value is not None:
                place = places.get(key[:-PARTITION_BYTES])
                if place is None:
                    place = self._place(key)
                if place is not None and is_current_value(value):
                    place[read_number(key[-PARTITION_BYTES:], signed=True)] = value
                    continue
            self._replay_any(key, value)

    def _place(self, key: bytes) -> dict[int, Stored] | None:
        """Where the offset with this key goes; None for another key."""
        names = split_offset_key(key)
        if names is None:
            return None
        group, topic, _ = names
        place = self._group(group).offsets.of_topic(topic)
        self._places[key[:-PARTITION_BYTES]] = place
        return place

    def _replay_any(self, key: bytes | None, value: bytes | None) -> None:
        try:
            stored = decode(key, value)
        except RecordError as error:
            self.skip(str(error))
            return
        if stored is not None:
            self._apply(stored)

    def _group(self, name: str) -> ClassicGroup:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = ClassicGroup(name, self._partition)
        return group

    def skip(self, why: str) -> None:
        """A part of the log cannot be decoded."""
        self._unreadable += 1
        self._why = why

    def _apply(self, record: OffsetCommitRecord | GroupMetadataRecord) -> None:
        group = self._group(record.group)
        if isinstance(record, OffsetCommitRecord):
            replay(group, record)
        elif record.image is not None:
            restore(group, record.image)
        else:
            self._groups[record.group] = ClassicGroup(
                record.group, self._partition, offsets=group.offsets
            )

    def groups(self) -> list[ClassicGroup]:
        """The groups that have a group metadata record or committed offsets."""
        return [group for group in self._groups.values() if group.has_record or not group.is_unused]

    def report(self) -> list[CoordinatorEffect]:
        """For the operator: how many records could not be decoded, and the last reason."""
        if not self._unreadable:
            return []
        what = f"group records of __consumer_offsets-{self._partition}"
        return [Changed(what, "partly unreadable", f"{self._unreadable} skipped: {self._why}")]
