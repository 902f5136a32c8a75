"""What compacted logs were copied without, as their source's had been cleaned, while nothing in them has replaced it.

A mirror that is failed over before it has come to where its source's log was cleaned up to has neither an older record
of a key nor the later one that replaced it there: that one lies beyond the cut.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from brokers.ids import BrokerId, Offset, TopicPartition
from tests.sim.evidence import Batch

Key: TypeAlias = bytes | None
Log: TypeAlias = tuple[BrokerId, TopicPartition]


class LeftOut:
    """Of the logs of one region, each since it began."""

    def __init__(self) -> None:
        self._keys: dict[Log, dict[Offset, Key]] = {}

    def begins(self, number: BrokerId, partition: TopicPartition) -> None:
        """A log is empty."""
        self._keys.pop((number, partition), None)

    def copied(
        self,
        number: BrokerId,
        partition: TopicPartition,
        batch: Batch,
        missing: Mapping[Offset, Key],
    ) -> None:
        """A batch has come to a log, without these records of its offsets, or of those before it."""
        known = self._keys.setdefault((number, partition), {})
        known.update(missing)
        latest = {record.key: record.offset for record in batch.records()}
        for offset in list(_replaced(known, latest)):
            del known[offset]

    def of(self, number: BrokerId, partition: TopicPartition) -> Collection[Offset]:
        return self._keys.get((number, partition), {}).keys()


def _replaced(known: Mapping[Offset, Key], latest: Mapping[Key, Offset]) -> Iterator[Offset]:
    """By a later record of its key; or it has come after all."""
    for offset, key in known.items():
        if latest.get(key, -1) >= offset:
            yield offset
