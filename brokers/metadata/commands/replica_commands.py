"""Commands about replicas, in-sync sets and leaders."""

from dataclasses import dataclass
from enum import IntEnum
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, TopicPartition

# Kafka's LeaderRecoveryState: RECOVERING after an unclean election, until the leader reports RECOVERED.
RECOVERED, RECOVERING = 0, 1


@dataclass(frozen=True, slots=True)
class InSyncMember:
    """A member of an in-sync set; `broker_epoch` is -1 where it is unknown."""

    broker_id: BrokerId
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InSyncChange:
    """The in-sync set that a leader proposes for a partition, as of this leader epoch and partition epoch."""

    partition: int
    leader_epoch: LeaderEpoch
    partition_epoch: int
    isr: tuple[InSyncMember, ...]
    recovery_state: int = RECOVERED


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """A leader proposes in-sync sets -> `InSyncOutcome` per partition, in order, or `Refusal`."""

    broker_id: BrokerId
    broker_epoch: int
    topics: tuple[tuple[UUID, tuple[InSyncChange, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InSyncOutcome:
    """The partition after the proposal, or the `error` for which the proposal was rejected."""

    topic_id: UUID
    partition: int
    error: KafkaError = KafkaError.NONE
    leader: BrokerId = -1
    leader_epoch: LeaderEpoch = -1
    partition_epoch: int = -1
    isr: tuple[BrokerId, ...] = ()
    recovery_state: int = RECOVERED


@dataclass(frozen=True, slots=True)
class AssignReplicasToDirs:
    """A broker reports the log directories of replicas (KIP-858) -> `AssignedReplica` for each, in order, or `Refusal`.

    `replicas` are (directory, topic id, partition).
    """

    broker_id: BrokerId
    broker_epoch: int
    replicas: tuple[tuple[UUID, UUID, int], ...]


@dataclass(frozen=True, slots=True)
class AssignedReplica:
    """The result for one replica of a report; `error` NONE is success."""

    directory: UUID
    topic_id: UUID
    partition: int
    error: KafkaError = KafkaError.NONE


class ElectionType(IntEnum):
    """By Kafka's codes (KIP-460)."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class ElectLeaders:
    """-> `PartitionOutcome` per partition, in order; `partitions` None: all partitions whose leader changes."""

    election: ElectionType
    partitions: tuple[TopicPartition, ...] | None


@dataclass(frozen=True, slots=True)
class BalanceLeaders:
    """Moves leaderships to preferred replicas that are in sync -> the number of partitions still to do (int)."""


@dataclass(frozen=True, slots=True)
class Reassignment:
    """`replicas` are the new replicas, the preferred leader first; None cancels a reassignment in progress."""

    partition: TopicPartition
    replicas: tuple[BrokerId, ...] | None


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignments:
    """-> `PartitionOutcome` per partition, in order; a repeated partition gets one outcome, an error."""

    items: tuple[Reassignment, ...]
    may_change_factor: bool = True


@dataclass(frozen=True, slots=True)
class PartitionOutcome:
    """The result for one partition of a request; `error` NONE is success."""

    partition: TopicPartition
    error: KafkaError = KafkaError.NONE
    because: str | None = None
