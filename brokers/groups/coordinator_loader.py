"""Rebuilds groups from the records of one partition of `__consumer_offsets`."""

from collections.abc import Iterable
from typing import Protocol

from brokers.coordinator.effects import CoordinatorEffect
from brokers.effects import Changed
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.group_metadata_records import restore
from brokers.groups.offset_commits import replay
from brokers.groups.records import GroupMetadataRecord, OffsetCommitRecord, RecordError, decode
from brokers.ids import Buffer


class KeyAndValue(Protocol):
    """The parts of a log record that are read here."""

    @property
    def key(self) -> Buffer | None: ...

    @property
    def value(self) -> Buffer | None: ...


class GroupLoader:
    """Kafka's GroupLoader, for one partition: replays records in log order; the last record of a key counts."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._groups: dict[str, ClassicGroup] = {}
        self._unreadable = 0
        self._why = ""

    def replay(self, records: Iterable[KeyAndValue]) -> None:
        for record in records:
            try:
                stored = decode(record.key, record.value)
            except RecordError as error:
                self.skip(str(error))
                continue
            if stored is not None:
                self._apply(stored)

    def skip(self, why: str) -> None:
        """A part of the log cannot be decoded."""
        self._unreadable += 1
        self._why = why

    def _apply(self, record: OffsetCommitRecord | GroupMetadataRecord) -> None:
        group = self._groups.get(record.group)
        if group is None:
            group = self._groups[record.group] = ClassicGroup(record.group, self._partition)
        if isinstance(record, OffsetCommitRecord):
            replay(group, record)
        elif record.image is not None:
            restore(group, record.image)
        else:
            self._groups[record.group] = ClassicGroup(
                record.group, self._partition, offsets=group.offsets, expiries=group.expiries
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
