"""Commands about topics and their partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import NO_ID, BrokerId

DEFAULT = -1  # partition count or replication factor: the region's default


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """`assignments` are (partition, replicas); with them, the count and the replication factor must be `DEFAULT`."""

    name: str
    partition_count: int = DEFAULT
    replication_factor: int = DEFAULT
    assignments: tuple[tuple[int, tuple[BrokerId, ...]], ...] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreateTopics:
    """-> `TopicOutcome` per topic, in order; a repeated name gets one outcome, an error."""

    items: tuple[NewTopic, ...]
    validate_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOutcome:
    """The result for one topic of a request; `error` NONE is success, possibly with a `warning`."""

    name: str | None
    topic_id: UUID = NO_ID
    error: KafkaError = KafkaError.NONE
    because: str | None = None
    warning: str | None = None
    partition_count: int = -1
    replication_factor: int = -1


@dataclass(frozen=True, slots=True)
class DeleteTopics:
    """By name (str) or topic id (UUID) -> `TopicOutcome` per topic, in order; a repeated topic gets one, an error.

    `writer` is the link that sends the command: only a mirror topic's own link may delete it.
    """

    topics: tuple[str | UUID, ...]
    writer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """`count` is the new total; `assignments`, if given, are the replicas of each added partition."""

    name: str
    count: int
    assignments: tuple[tuple[BrokerId, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """-> `TopicOutcome` per topic, in order; a repeated name gets one outcome, an error.

    `writer` is the link that sends the command: only a mirror topic's own link may add partitions.
    """

    items: tuple[NewPartitions, ...]
    validate_only: bool = False
    writer: str | None = None
