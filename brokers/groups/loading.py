"""Groups from the records of one partition, after a start or when the partition comes here."""

from collections.abc import Iterable
from typing import Protocol

from brokers.effects import Changed
from brokers.groups.effects import GroupEffect
from brokers.groups.membership import Group
from brokers.groups.offsets import replay
from brokers.groups.records import GroupRecord, OffsetRecord, RecordError, decode
from brokers.groups.snapshots import restore
from brokers.ids import Buffer


class KeyAndValue(Protocol):
    """A record of the log, as far as it matters here."""

    @property
    def key(self) -> Buffer | None: ...

    @property
    def value(self) -> Buffer | None: ...


class Loading:
    """Replays records in the order of the log; the last word on each key counts."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._groups: dict[str, Group] = {}
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
        """Something in the log cannot be read."""
        self._unreadable += 1
        self._why = why

    def _apply(self, record: OffsetRecord | GroupRecord) -> None:
        group = self._groups.get(record.group)
        if group is None:
            group = self._groups[record.group] = Group(record.group, self._partition)
        if isinstance(record, OffsetRecord):
            replay(group, record)
        elif record.image is not None:
            restore(group, record.image)
        else:
            self._groups[record.group] = Group(
                record.group, self._partition, offsets=group.offsets, expiries=group.expiries
            )

    def groups(self) -> list[Group]:
        """Those of which something is left."""
        return [group for group in self._groups.values() if group.has_record or not group.is_blank]

    def report(self) -> list[GroupEffect]:
        """For the operator: what could not be read."""
        if not self._unreadable:
            return []
        what = f"group records of __consumer_offsets-{self._partition}"
        return [Changed(what, "partly unreadable", f"{self._unreadable} skipped: {self._why}")]
