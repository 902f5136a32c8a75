"""The region's metadata as of one offset of the metadata log: Kafka's MetadataImage.

Only `replay.replay` changes an `Image`; all other code reads it. Its values are immutable, so a value taken from an
image stays as of its offset.
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
    Instant,
    LeaderEpoch,
    Offset,
    Peer,
    ProducerId,
    TopicPartition,
)
from brokers.metadata.commands.config_commands import Resource
from brokers.metadata.commands.operation_commands import ChangedResource
from brokers.metadata.commands.replica_commands import RECOVERED
from brokers.security.origin import Origin

NO_LEADER: BrokerId = -1
# The endpoints of a broker that are not Kafka listeners.
LINK_LISTENER = "link.listener"
ADMIN_LISTENER = "admin.listener"


class PartitionImage(NamedTuple):
    """Kafka's PartitionRegistration. `partition_epoch` counts all changes, `leader_epoch` the new leaderships.

    `replicas` are all brokers with a copy. Those in `observers` never join `isr`; those in `promoted` are observers
    that may join it for now. `elr` are replicas that left `isr` while it was below its minimum: they have every record
    up to the high watermark, which did not advance meanwhile (KIP-966). `last_known_elr` is the last leader once `isr`
    and `elr` are empty. A reassignment waits for `adding`, and will drop `removing`, of `replicas`. `directories` are
    in the order of `replicas`.
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
    def is_reassigning(self) -> bool:
        """Whether a reassignment is in progress."""
        return bool(self.adding or self.removing)

    def effective_min_isr(self, min_isr: int) -> int:
        """How many replicas must be in sync to commit: min.insync.replicas, at most the number of non-observers."""
        followers = len(self.replicas) - len(self.observers) - len(self.promoted)
        return max(1, min(min_isr, followers))

    def directory(self, replica: BrokerId) -> UUID:
        """The log directory of a replica; MIGRATING_DIRECTORY where it is unknown."""
        if replica in self.replicas and len(self.directories) == len(self.replicas):
            return self.directories[self.replicas.index(replica)]
        return MIGRATING_DIRECTORY

    def with_directory(self, replica: BrokerId, directory: UUID) -> "PartitionImage":
        """The partition with the replica in that log directory."""
        directories = (
            directory if each == replica else self.directory(each) for each in self.replicas
        )
        return self._replace(directories=tuple(directories))

    @property
    def all_observers(self) -> tuple[BrokerId, ...]:
        """Observers, promoted or not, in the order of `replicas`."""
        named = {*self.observers, *self.promoted}
        return tuple(replica for replica in self.replicas if replica in named) if named else ()


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic. `writer` is the only link that may write it (a mirror topic); None: producers write it."""

    name: str
    id: UUID
    partitions: tuple[PartitionImage, ...] = field(default=(), repr=False)
    writer: str | None = None

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS

    def each(self) -> list[TopicPartition]:
        """The topic's partitions."""
        return [TopicPartition(self.name, index) for index in range(len(self.partitions))]


class Endpoint(NamedTuple):
    """The advertised address of one listener of a node."""

    name: str
    host: str
    port: int


class FeatureRange(NamedTuple):
    """The levels of a feature that a node supports, both bounds included."""

    name: str
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A registered broker (Kafka's BrokerRegistration). `broker_epoch` is the offset of its registration.

    `host_label` names the broker's machine within its `rack`. A `fenced` broker is in no in-sync set and leads nothing.
    A broker `in_controlled_shutdown` still serves the partitions that it leads and gets no new ones. `log_dirs` are its
    online log directories; those of `cordoned_log_dirs` get no new replicas (KIP-1066), as their disks are nearly full.
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
    cordoned_log_dirs: tuple[UUID, ...] = ()

    def endpoint(self, listener: str) -> Endpoint | None:
        """Where clients of the listener with this name reach the broker; None where it has no such listener."""
        return next((each for each in self.endpoints if each.name == listener), None)

    @property
    def host(self) -> str:
        """The host of the inter-broker listener, which a registration names first."""
        return self.endpoints[0].host

    @property
    def port(self) -> int:
        """The port of the inter-broker listener, which a registration names first."""
        return self.endpoints[0].port

    @property
    def peer(self) -> Peer:
        """The broker's address for other nodes."""
        return Peer(self.id, self.host, self.port)

    @property
    def is_active(self) -> bool:
        """Whether the broker may lead partitions and be in sync."""
        return not (self.fenced or self.in_controlled_shutdown)

    @property
    def is_cordoned(self) -> bool:
        """Whether no log directory of the broker takes new replicas."""
        return bool(self.cordoned_log_dirs) and set(self.log_dirs) <= set(self.cordoned_log_dirs)

    def has_online_dir(self, directory: UUID) -> bool:
        """Whether the broker can serve a replica in this log directory (KIP-858)."""
        if directory in self.log_dirs or not self.log_dirs:
            return directory != LOST_DIRECTORY
        return directory in UNNAMED_DIRECTORIES and directory != LOST_DIRECTORY


@dataclass(frozen=True, slots=True)
class ControllerImage:
    """A registered controller (KIP-919), which need not be a voter."""

    id: BrokerId
    incarnation: UUID
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """An opaque record that links keep in the metadata log, by kind and name; `version` is the offset that wrote it."""

    kind: str
    name: str
    version: Offset
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An entry of the operator log; entries are numbered from 0 on. `operation` is the API or command."""

    number: int
    time: Instant
    origin: Origin
    operation: str
    resources: tuple[ChangedResource, ...]
    details: str


@dataclass(frozen=True, slots=True)
class ImageDelta:
    """Kafka's MetadataDelta: the changes of one committed batch, by topic name. Deletions precede creations.

    `topics_changed`: partitions were added or changed, or the writer changed. `partitions_changed`: the partitions
    that were added or changed. `topic_configs_changed`: effective values may have changed, by the topic's own or by
    brokers' configurations.
    """

    topics_created: tuple[str, ...] = ()
    topics_deleted: tuple[str, ...] = ()
    topics_changed: tuple[str, ...] = ()
    partitions_changed: tuple[TopicPartition, ...] = ()
    topic_configs_changed: tuple[str, ...] = ()
    documents_changed: tuple[tuple[str, str], ...] = ()  # (kind, name)
    brokers_changed: tuple[BrokerId, ...] = ()


class Image:
    """The committed metadata below `next_offset`."""

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
        self.operations: tuple[Operation, ...] = ()  # the oldest first
        self.next_producer_id: ProducerId = first_producer_id(cluster_id)

    def copy(self) -> "Image":
        """An independent copy."""
        other = Image(self.cluster_id)
        for name, value in vars(self).items():
            setattr(other, name, dict(value) if isinstance(value, dict) else value)
        return other

    def partition(self, partition: TopicPartition) -> PartitionImage | None:
        """The partition; None where the topic or the partition does not exist."""
        topic = self.topics_by_name.get(partition.topic)
        if topic is None or not 0 <= partition.partition < len(topic.partitions):
            return None
        return topic.partitions[partition.partition]

    def document_version(self, kind: str, name: str) -> Offset:
        """0 where there is no such document."""
        document = self.documents.get((kind, name))
        return 0 if document is None else document.version

    def config(self, resource: Resource) -> Mapping[str, str]:
        """The values set for a resource itself, without defaults."""
        return self.configs.get(resource, {})

    def everything(self) -> ImageDelta:
        """The delta from an empty image to this one."""
        return ImageDelta(
            topics_created=tuple(self.topics_by_name),
            documents_changed=tuple(self.documents),
            brokers_changed=tuple(self.brokers),
        )


def metric_name(topic: str) -> str:
    """A topic's name in metrics. Kafka's metrics do not distinguish `.` and `_`, so two topic names must not either."""
    return topic.replace(".", "_")


def first_producer_id(cluster_id: str) -> ProducerId:
    """The start of a region's own range of producer ids, so that producers of two regions never clash in a mirror."""
    digest = hashlib.sha256(cluster_id.encode()).digest()
    return (int.from_bytes(digest[:4], "big") & 0x7FFF_FFFF) << 32
