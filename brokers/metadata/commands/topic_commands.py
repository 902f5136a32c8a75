"""Commands about topics and their partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import NO_ID, BrokerId

DEFAULT = -1  # partition count or replication factor: the region's default


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """`assignments` is (partition, replicas); with it, count and factor stay at `DEFAULT`."""

    name: str
    partition_count: int = DEFAULT
    replication_factor: int = DEFAULT
    assignments: tuple[tuple[int, tuple[BrokerId, ...]], ...] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreateTopics:
    """-> `TopicOutcome` per item, in order; a name given twice has one, which refuses it."""

    items: tuple[NewTopic, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOutcome:
    """What became of one topic of a request; `error` NONE is success, of which `warning` tells the shortcomings."""

    name: str | None
    topic_id: UUID = NO_ID
    error: KafkaError = KafkaError.NONE
    because: str | None = None
    warning: str | None = None
    partition_count: int = -1
    replication_factor: int = -1


@dataclass(frozen=True, slots=True)
class DeleteTopics:
    """By name (str) or by topic id (UUID) -> `TopicOutcome` per item, in order; a topic named twice has one, which
    refuses it.

    `writer` is the link that asks: a mirror's own link may delete it, nobody else.
    """

    topics: tuple[str | UUID, ...]
    writer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """`count` is the new total; `assignments`, if any, the replicas of each partition added."""

    name: str
    count: int
    assignments: tuple[tuple[BrokerId, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """-> `TopicOutcome` per item, in order; a name given twice has one, which refuses it.

    `writer` is the link that asks: a mirror's own link may grow it, nobody else.
    """

    items: tuple[NewPartitions, ...]
    validate_only: bool = False
    writer: str | None = None
