"""The committed offsets of one group, as the log has them where they were loaded from it.

A coordinator may load millions, few of which are ever asked for: what is loaded is kept as bytes, and decoded when it
is read. Bytes take less memory than tuples of numbers, and the garbage collector does not look at them.
"""

from collections.abc import Collection, Iterator, MutableMapping
from typing import NamedTuple, TypeAlias

from brokers.groups.records import decode_current_value, time_in_current_value
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition


class ExpiringOffset(NamedTuple):
    """An offset whose commit had a retention time of its own."""

    committed: OffsetAndMetadata
    expires_at: Instant


# Bytes: a value of the log for which `is_current_value` holds.
Stored: TypeAlias = bytes | OffsetAndMetadata | ExpiringOffset


class CommittedOffsets(MutableMapping[TopicPartition, OffsetAndMetadata]):
    """By partition. Only `offset_commits.replay` and the loader change it."""

    __slots__ = ("_by_topic",)

    def __init__(self) -> None:
        self._by_topic: dict[str, dict[int, Stored]] = {}

    def __getitem__(self, partition: TopicPartition) -> OffsetAndMetadata:
        stored = self._by_topic[partition.topic][partition.partition]
        if isinstance(stored, bytes):
            return decode_current_value(stored)
        return stored.committed if isinstance(stored, ExpiringOffset) else stored

    def __setitem__(self, partition: TopicPartition, committed: OffsetAndMetadata) -> None:
        self.of_topic(partition.topic)[partition.partition] = committed

    def __delitem__(self, partition: TopicPartition) -> None:
        del self._by_topic[partition.topic][partition.partition]  # who loads may hold the inner one

    def __iter__(self) -> Iterator[TopicPartition]:
        for topic, of_topic in self._by_topic.items():
            for partition in of_topic:
                yield TopicPartition(topic, partition)

    def __len__(self) -> int:
        return sum(map(len, self._by_topic.values()))

    def put(
        self, partition: TopicPartition, committed: OffsetAndMetadata, expires_at: Instant | None
    ) -> None:
        """`expires_at` where the commit had a retention time of its own."""
        stored = committed if expires_at is None else ExpiringOffset(committed, expires_at)
        self.of_topic(partition.topic)[partition.partition] = stored

    def times(self) -> Iterator[tuple[TopicPartition, Instant, Instant | None]]:
        """Of each partition when its offset was committed, and its expiry if it has one; nothing is decoded for it."""
        for topic, of_topic in self._by_topic.items():
            for number, stored in of_topic.items():
                partition = TopicPartition(topic, number)
                if isinstance(stored, bytes):
                    yield partition, time_in_current_value(stored), None
                elif isinstance(stored, ExpiringOffset):
                    yield partition, stored.committed.committed_at, stored.expires_at
                else:
                    yield partition, stored.committed_at, None

    def of_topic(self, topic: str) -> dict[int, Stored]:
        """The offsets of a topic by partition, to be added to."""
        return self._by_topic.setdefault(topic, {})

    def within(self, topics: Collection[str]) -> list[TopicPartition]:
        """The partitions of these topics that have an offset."""
        return [
            TopicPartition(topic, partition)
            for topic in topics
            for partition in self._by_topic.get(topic, ())
        ]

    def copy(self) -> "CommittedOffsets":
        """As they are now; nothing is decoded for it."""
        other = CommittedOffsets()
        other._by_topic = {topic: dict(of_topic) for topic, of_topic in self._by_topic.items()}
        return other

    def __repr__(self) -> str:
        return f"CommittedOffsets({dict(self)})"
