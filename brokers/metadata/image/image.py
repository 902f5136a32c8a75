"""What a region agrees on, as of one offset of its metadata log.

`replay.replay` is the only thing that changes an `Image`; everyone else reads. What it holds is immutable, so a value
taken from it stays true to its offset.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from brokers.ids import (
    INTERNAL_TOPICS,
    LOST_DIRECTORY,
    MIGRATING_DIRECTORY,
    UNNAMED_DIRECTORIES,
    BrokerId,
    LeaderEpoch,
    Offset,
    Peer,
    ProducerId,
    TopicPartition,
)
from brokers.metadata.commands.commands import Resource
from brokers.metadata.commands.replica_commands import RECOVERED

NO_LEADER: BrokerId = -1


class PartitionImage(NamedTuple):
    """`partition_epoch` counts changes of any kind, `leader_epoch` those that begin a new leadership.

    `replicas` holds everyone who has a copy: those of `observers` never join `isr`, those of `promoted` are observers
    that may for now. Whoever left `isr` while it was below its minimum is in `elr`, and has everything up to the high
    watermark, which stood still (KIP-966). `last_known_elr` is the last leader, once nobody of either is left. During a
    reassignment `adding` are not yet, and `removing` still, among `replicas`. `directories` go with `replicas`.
    """

    leader: BrokerId
    leader_epoch: LeaderEpoch
    partition_epoch: int
    replicas: tuple[BrokerId, ...]
    isr: tuple[BrokerId, ...]
    elr: tuple[BrokerId, ...] = ()
    last_known_elr: tuple[BrokerId, ...] = ()
    observers: tuple[BrokerId, ...] = ()
    promoted: tuple[BrokerId, ...] = ()
    adding: tuple[BrokerId, ...] = ()
    removing: tuple[BrokerId, ...] = ()
    recovery_state: int = RECOVERED
    directories: tuple[UUID, ...] = ()

    @property
    def is_reassigned(self) -> bool:
        """Whether its replicas are on the move."""
        return bool(self.adding or self.removing)

    def enough(self, min_isr: int) -> int:
        """How many must be in sync before a batch is committed: the topic's minimum, or as many as there can be."""
        followers = len(self.replicas) - len(self.observers) - len(self.promoted)
        return max(1, min(min_isr, followers))

    def home(self, replica: BrokerId) -> UUID:
        """In which of its broker's directories a replica lies, as far as it is known."""
        if replica in self.replicas and len(self.directories) == len(self.replicas):
            return self.directories[self.replicas.index(replica)]
        return MIGRATING_DIRECTORY

    def moved(self, replica: BrokerId, directory: UUID) -> "PartitionImage":
        """With the replica in that directory."""
        homes = (directory if each == replica else self.home(each) for each in self.replicas)
        return self._replace(directories=tuple(homes))

    @property
    def all_observers(self) -> tuple[BrokerId, ...]:
        """Promoted or not, in the order of `replicas`."""
        named = {*self.observers, *self.promoted}
        return tuple(replica for replica in self.replicas if replica in named) if named else ()


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


class Endpoint(NamedTuple):
    """Where a listener of a broker or controller is reached."""

    name: str
    host: str
    port: int


class FeatureRange(NamedTuple):
    """The levels of a feature that a broker supports."""

    name: str
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A registered broker. `broker_epoch` is the offset of its registration.

    `host_label` names the machine it runs on, beside its `rack`. While it is `fenced` nobody counts on it; while it is
    `in_controlled_shutdown` it still serves what it leads, and gets nothing new. `log_dirs` are its directories
    that are online.
    """

    id: BrokerId
    broker_epoch: int
    incarnation: UUID
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    host_label: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    features: tuple[FeatureRange, ...] = ()
    log_dirs: tuple[UUID, ...] = ()

    def endpoint(self, listener: str) -> Endpoint | None:
        """Where clients of the listener with this name reach the broker; None where it has no such listener."""
        return next((each for each in self.endpoints if each.name == listener), None)

    @property
    def host(self) -> str:
        """Of the inter-broker listener, which a registration names first."""
        return self.endpoints[0].host

    @property
    def port(self) -> int:
        """Of the same listener."""
        return self.endpoints[0].port

    @property
    def peer(self) -> Peer:
        """Where other nodes reach it."""
        return Peer(self.id, self.host, self.port)

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in sync."""
        return not (self.fenced or self.in_controlled_shutdown)

    def has(self, directory: UUID) -> bool:
        """Whether a replica that lies there can be served; `log_dirs` are those that are not offline (KIP-858)."""
        if directory in self.log_dirs or not self.log_dirs:
            return directory != LOST_DIRECTORY
        return directory in UNNAMED_DIRECTORIES and directory != LOST_DIRECTORY


@dataclass(frozen=True, slots=True)
class ControllerImage:
    """A controller that has said where it is (KIP-919). It need not be a voter."""

    id: BrokerId
    incarnation: UUID
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...] = ()


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

    `topics_changed` had partitions added or changed or have another writer; `partitions_changed` says which of them
    were added or changed; `topic_configs_changed` may have other effective settings, be it by their own or by their
    brokers' configuration.
    """

    topics_created: tuple[str, ...] = ()
    topics_deleted: tuple[str, ...] = ()
    topics_changed: tuple[str, ...] = ()
    partitions_changed: tuple[TopicPartition, ...] = ()
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
        self.controllers: dict[BrokerId, ControllerImage] = {}
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
        other.controllers = dict(self.controllers)
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
