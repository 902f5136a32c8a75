"""What one may ask of the controller, and what it answers when the change is committed.

Every command is all or nothing per item: an item is either decided or carries the error that a client prints. A
command that cannot be decided at all is answered with a `Refusal`. Commands about brokers and replicas have files of
their own, and are found here too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, Offset, ProducerId
from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    FenceBroker,
    RegisterBroker,
    RegisterController,
    UnregisterBroker,
    UpdateFeatures,
)
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AlterReassignments,
    AssignReplicas,
    BalanceLeaders,
    ElectLeaders,
)

__all__ = [
    "AlterPartition", "AlterReassignments", "AssignReplicas", "BalanceLeaders", "BrokerHeartbeat",
    "ElectLeaders", "FenceBroker", "RegisterBroker", "RegisterController", "UnregisterBroker", "UpdateFeatures",
]  # fmt: skip

NO_ID = UUID(int=0)
DEFAULT = -1  # "use the cluster's default", for partition counts and replication factors


class ResourceType(IntEnum):
    """What a configuration belongs to, by Kafka's codes."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


Resource: TypeAlias = tuple[
    int, str
]  # (type, name); a broker's name is its id, "" the default of all


class ConfigOperation(IntEnum):
    """How one key of an incremental change is meant. KIP-339."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


# --- topics ---


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
class Growth:
    """`count` is the new total; `assignments`, if any, the replicas of each partition added."""

    name: str
    count: int
    assignments: tuple[tuple[BrokerId, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class CreatePartitions:
    """-> `TopicOutcome` per item, in order; a name given twice has one, which refuses it.

    `writer` is the link that asks: a mirror's own link may grow it, nobody else.
    """

    items: tuple[Growth, ...]
    validate_only: bool = False
    writer: str | None = None


# --- mirrors ---


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMirrorTopic:
    """A topic that only `writer`, a link, writes -> `TopicOutcome`, or `Refusal`.

    `leader_epochs` are the lowest leader epochs that the partitions may begin with.
    """

    name: str
    partition_count: int
    writer: str
    configs: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTopicWriter:
    """Hand the pen over: None gives the topic to producers -> {partition: its new leader epoch}, or `Refusal`.

    Every partition's leader epoch rises, to at least what `leader_epochs` asks for. `expected_writer` must hold it now.
    """

    topic: str
    expected_writer: str | None
    writer: str | None
    leader_epochs: Mapping[int, LeaderEpoch] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseLeaderEpochs:
    """Raise leader epochs to at least these -> {partition: its leader epoch now}, or `Refusal`."""

    topic: str
    leader_epochs: Mapping[int, LeaderEpoch]


# --- configurations ---


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """`changes` is key -> (operation, value); `replace` first drops every key that is not named."""

    resource: Resource
    changes: Mapping[str, tuple[ConfigOperation, str | None]]
    replace: bool = False


@dataclass(frozen=True, slots=True)
class AlterConfigs:
    """-> `ConfigOutcome` per resource, in order; a resource given twice has one, which refuses it.

    `writer` is the link that asks: a mirror's own link may set what it keeps in step, nobody else.
    """

    items: tuple[ConfigChange, ...]
    validate_only: bool = False
    writer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOutcome:
    resource: Resource
    error: KafkaError = KafkaError.NONE
    because: str | None = None


# --- producers, documents ---


@dataclass(frozen=True, slots=True)
class AllocateProducerIds:
    """-> `ProducerIdBlock` that nobody else has or will have."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """Producer ids from `first` to below `bound`."""

    first: ProducerId
    bound: ProducerId


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """`expected_version` 0 is "absent", None is "whatever it is"; a `body` of None deletes."""

    kind: str
    name: str
    body: bytes | None = field(repr=False)
    expected_version: Offset | None = None


@dataclass(frozen=True, slots=True)
class PutDocuments:
    """All or none -> {(kind, name): its version now, 0 if deleted}, or `Refusal` INVALID_UPDATE_VERSION."""

    items: tuple[DocumentChange, ...]


Command: TypeAlias = (
    CreateTopics | DeleteTopics | CreatePartitions | CreateMirrorTopic | SetTopicWriter
    | RaiseLeaderEpochs | AlterConfigs | AllocateProducerIds | PutDocuments
    | RegisterBroker | BrokerHeartbeat | FenceBroker | UnregisterBroker | RegisterController | UpdateFeatures
    | AlterPartition | ElectLeaders | BalanceLeaders | AlterReassignments | AssignReplicas
)  # fmt: skip

# What code in the process of a broker may submit. Deleting, growing and settings: as a link, `writer` is not None.
Submitted: TypeAlias = (
    CreateTopics | DeleteTopics | CreatePartitions | CreateMirrorTopic | SetTopicWriter
    | RaiseLeaderEpochs | AlterConfigs | PutDocuments
)  # fmt: skip
