"""What a region agrees on, as of one offset of its metadata log.

`replay.replay` is the only thing that changes an `Image`; everyone else reads. What it holds is immutable, so a value
taken from it stays true to its offset.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from brokers.ids import INTERNAL_TOPICS, BrokerId, LeaderEpoch, Offset, ProducerId, TopicPartition
from brokers.metadata.commands import Resource

NO_LEADER: BrokerId = -1


class PartitionImage(NamedTuple):
    """`partition_epoch` counts changes of any kind, `leader_epoch` those that begin a new leadership."""

    leader: BrokerId
    leader_epoch: LeaderEpoch
    partition_epoch: int
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic. `writer` names the link that alone may write it (the topic is then a mirror); None means producers."""

    name: str
    id: UUID
    partitions: tuple[PartitionImage, ...] = field(default=(), repr=False)
    writer: str | None = None

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    def each(self) -> list[TopicPartition]:
        """The names of its partitions."""
        return [TopicPartition(self.name, index) for index in range(len(self.partitions))]


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A registered broker, by its advertised address. `broker_epoch` is the offset of its registration."""

    id: BrokerId
    broker_epoch: int
    incarnation: UUID
    directory: UUID
    host: str
    port: int
    rack: str | None
    fenced: bool


@dataclass(frozen=True, slots=True)
class Document:
    """Something that upper layers keep in the metadata log; its `version` is the offset that wrote it."""

    kind: str
    name: str
    version: Offset
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ImageDelta:
    """What one committed change did, by topic name; deletions come before creations.

    `topics_changed` had partitions added, leader epochs raised or another writer; `topic_configs_changed` may have
    other effective settings, be it by their own or by their brokers' configuration.
    """

    topics_created: tuple[str, ...] = ()
    topics_deleted: tuple[str, ...] = ()
    topics_changed: tuple[str, ...] = ()
    topic_configs_changed: tuple[str, ...] = ()
    documents_changed: tuple[tuple[str, str], ...] = ()  # (kind, name)
    brokers_changed: tuple[BrokerId, ...] = ()


class Image:
    """Everything agreed on below `next_offset`."""

    def __init__(self, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.next_offset: Offset = 0
        self.topics_by_name: dict[str, TopicImage] = {}
        self.topics_by_id: dict[UUID, TopicImage] = {}
        self.topic_names_by_metric: dict[str, str] = {}
        self.configs: dict[Resource, Mapping[str, str]] = {}
        self.brokers: dict[BrokerId, BrokerImage] = {}
        self.features: dict[str, int] = {}
        self.documents: dict[tuple[str, str], Document] = {}
        self.next_producer_id: ProducerId = first_producer_id(cluster_id)

    def copy(self) -> "Image":
        """An image that changes apart from this one."""
        other = Image(self.cluster_id)
        other.next_offset = self.next_offset
        other.topics_by_name = dict(self.topics_by_name)
        other.topics_by_id = dict(self.topics_by_id)
        other.topic_names_by_metric = dict(self.topic_names_by_metric)
        other.configs = dict(self.configs)
        other.brokers = dict(self.brokers)
        other.features = dict(self.features)
        other.documents = dict(self.documents)
        other.next_producer_id = self.next_producer_id
        return other

    def partition(self, partition: TopicPartition) -> PartitionImage | None:
        """None where the topic or the partition does not exist."""
        topic = self.topics_by_name.get(partition.topic)
        if topic is None or not 0 <= partition.partition < len(topic.partitions):
            return None
        return topic.partitions[partition.partition]

    def config(self, resource: Resource) -> Mapping[str, str]:
        """What was set for a resource itself, without any default."""
        return self.configs.get(resource, {})

    def everything(self) -> ImageDelta:
        """The delta from nothing to this image."""
        return ImageDelta(
            topics_created=tuple(self.topics_by_name),
            documents_changed=tuple(self.documents),
            brokers_changed=tuple(self.brokers),
        )


def metric_name(topic: str) -> str:
    """Kafka's metrics cannot tell `.` from `_`, so two topics must not differ only there."""
    return topic.replace(".", "_")


def first_producer_id(cluster_id: str) -> ProducerId:
    """Regions count producers in ranges of their own, so that a mirrored log never mixes two producers up."""
    digest = hashlib.sha256(cluster_id.encode()).digest()
    return (int.from_bytes(digest[:4], "big") & 0x7FFF_FFFF) << 32
