"""What one may ask of the controller about replicas, the in-sync set and leadership."""

from dataclasses import dataclass
from enum import IntEnum
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, TopicPartition

RECOVERED, RECOVERING = (
    0,
    1,
)  # after an unclean election the leader is RECOVERING until it says otherwise


@dataclass(frozen=True, slots=True)
class InSyncMember:
    """A member of an in-sync set, in that life of it; -1 where the life isn't known."""

    broker_id: BrokerId
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InSyncChange:
    """The in-sync set that a leader proposes, and which state of the partition it goes by."""

    partition: int
    leader_epoch: LeaderEpoch
    partition_epoch: int
    isr: tuple[InSyncMember, ...]
    recovery_state: int = RECOVERED


@dataclass(frozen=True, slots=True)
class AlterPartition:
    """A leader proposes in-sync sets -> `InSyncOutcome` per partition, by topic and in order, or `Refusal`."""

    broker_id: BrokerId
    broker_epoch: int
    topics: tuple[tuple[UUID, tuple[InSyncChange, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InSyncOutcome:
    """The partition as it is now, unless `error` says why nothing came of the proposal."""

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
    """In which of its directories a broker keeps replicas -> `AssignedReplica` for each, in order, or `Refusal`.

    `replicas` are (directory, topic id, partition).
    """

    broker_id: BrokerId
    broker_epoch: int
    replicas: tuple[tuple[UUID, UUID, int], ...]


@dataclass(frozen=True, slots=True)
class AssignedReplica:
    """What became of one replica of a report; `error` NONE is success."""

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
    """-> `PartitionOutcome` per partition, in order; `partitions` None is all whose leader would change."""

    election: ElectionType
    partitions: tuple[TopicPartition, ...] | None


@dataclass(frozen=True, slots=True)
class BalanceLeaders:
    """Leadership goes back to the preferred replicas that are in sync -> how many partitions are still to do (int)."""


@dataclass(frozen=True, slots=True)
class Reassignment:
    """`replicas` is the new set, the preferred leader first; None cancels what is under way."""

    partition: TopicPartition
    replicas: tuple[BrokerId, ...] | None


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignments:
    """-> `PartitionOutcome` per item, in order; a partition given twice has one, which refuses it."""

    items: tuple[Reassignment, ...]
    may_change_factor: bool = True


@dataclass(frozen=True, slots=True)
class PartitionOutcome:
    """What became of one partition of a request; `error` NONE is success."""

    partition: TopicPartition
    error: KafkaError = KafkaError.NONE
    because: str | None = None
