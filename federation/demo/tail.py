"""What west had beyond the cut: the orphan tails that its restore has sealed, and their way back into the topic.

Tails are read and replayed as `causeway orphans list|show|replay` do it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from federation.commands.orphans.classes import OrphanClass, Successors
from federation.commands.orphans.provenance import old_partition_of
from federation.commands.orphans.reading import OrphanRecord, records_of
from federation.commands.orphans.replay import replay
from federation.commands.orphans.stores import Tail, list_tails
from federation.commands.orphans.topics import TopicClient
from federation.commands.region.bootstrap import region_at


@dataclass(frozen=True, slots=True)
class SealedTail:
    """One partition's; each record with what east has of it."""

    tail: Tail
    records: tuple[tuple[OrphanRecord, OrphanClass], ...]

    @property
    def partition(self) -> int:
        return int(self.tail.orphan.partition)

    @property
    def unique(self) -> list[OrphanRecord]:
        """What this partition of east does not have. What has no key may have been sent to another one again."""
        return [orphan for orphan, one in self.records if one is OrphanClass.UNIQUE]


def sealed_tails(west: str, east: str, topic: str) -> list[SealedTail]:
    """By the regions' Kafka addresses; ordered by partition. Raises Failure."""
    found, cluster_id = [], region_at(west).cluster_id
    with TopicClient(east, topic) as client:
        for tail in list_tails(west, topic).tails:
            there = Successors.read(
                client, old_partition_of(tail, cluster_id), tail.orphan.base_offset
            )
            found.append(SealedTail(tail, tuple(there.classify(records_of(tail)))))
    return sorted(found, key=lambda each: each.partition)


def replay_unique(west: str, east: str, topic: str, tails: Iterable[SealedTail]) -> int:
    """Append to east's partitions what they do not have -> records. Raises Failure."""
    cluster_id, appended = region_at(west).cluster_id, 0
    with TopicClient(east, topic) as client:
        for each in tails:
            more, _ = replay(client, each.tail, each.unique, cluster_id, lambda done: None)
            appended += more
    return appended


def list_orphans(path: Path, tails: Iterable[SealedTail]) -> None:
    """Writes each record as a JSON object: where it was, what east has of it, and its value."""
    with path.open("w", encoding="utf-8") as file:
        for each in tails:
            for orphan, one in each.records:
                fields = {
                    "orphan": each.tail.name,
                    "partition": each.partition,
                    "offset": orphan.record.offset,
                    "class": one.value,
                    "value": text_of(orphan),
                }
                file.write(json.dumps(fields) + "\n")


def text_of(orphan: OrphanRecord) -> str:
    """The record's value."""
    return bytes(orphan.record.value or b"").decode("utf-8", "replace")
