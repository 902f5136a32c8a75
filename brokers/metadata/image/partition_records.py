"""A partition to and from its records: the whole partition, or one change of it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar
from uuid import UUID

from brokers.metadata.image.image import PartitionImage
from brokers.wire.messages.metadata_records import PartitionChangeRecord, PartitionRecord

UNCHANGED_LEADER = -2  # Kafka's NO_LEADER_CHANGE
UNCHANGED_RECOVERY = -1

Member = TypeVar("Member", int, UUID)


def partition_record(topic_id: UUID, index: int, partition: PartitionImage) -> PartitionRecord:
    """The record of a whole partition."""
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing),
        adding_replicas=list(partition.adding),
        leader=partition.leader,
        leader_recovery_state=partition.recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories),
        eligible_leader_replicas=list(partition.elr) or None,
        last_known_elr=list(partition.last_known_elr) or None,
        observers=list(partition.observers),
        promoted=list(partition.promoted),
    )


def change_record(
    topic_id: UUID, index: int, was: PartitionImage, to: PartitionImage
) -> PartitionChangeRecord | None:
    """The change from `was` to `to`; None where they are equal. The leader epoch may rise by at most one."""
    leads = to.leader_epoch - was.leader_epoch
    assert leads == 1 or (leads == 0 and was.leader == to.leader), (was, to)
    is_recovering = to.recovery_state != was.recovery_state
    record = PartitionChangeRecord(
        partition_id=index,
        topic_id=topic_id,
        isr=_if_changed(was.isr, to.isr),
        leader=to.leader if leads else UNCHANGED_LEADER,
        replicas=_if_changed(was.replicas, to.replicas),
        removing_replicas=_if_changed(was.removing, to.removing),
        adding_replicas=_if_changed(was.adding, to.adding),
        leader_recovery_state=to.recovery_state if is_recovering else UNCHANGED_RECOVERY,
        directories=_if_changed(was.directories, to.directories),
        eligible_leader_replicas=_if_changed(was.elr, to.elr),
        last_known_elr=_if_changed(was.last_known_elr, to.last_known_elr),
        observers=_if_changed(was.observers, to.observers),
        promoted=_if_changed(was.promoted, to.promoted),
    )
    return None if to == was else record


def partition_of(record: PartitionRecord) -> PartitionImage:
    """The partition of a record."""
    return PartitionImage(
        leader=record.leader,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        replicas=_shared(tuple(record.replicas)),
        isr=_shared(tuple(record.isr)),
        elr=_shared(tuple(record.eligible_leader_replicas or ())),
        last_known_elr=_shared(tuple(record.last_known_elr or ())),
        observers=_shared(tuple(record.observers)),
        promoted=_shared(tuple(record.promoted)),
        adding=_shared(tuple(record.adding_replicas)),
        removing=_shared(tuple(record.removing_replicas)),
        recovery_state=record.leader_recovery_state,
        directories=_shared(tuple(record.directories)),
    )


def changed_by(was: PartitionImage, record: PartitionChangeRecord) -> PartitionImage:
    """The partition after a change record."""
    leads = record.leader != UNCHANGED_LEADER
    recovers = record.leader_recovery_state != UNCHANGED_RECOVERY
    return PartitionImage(
        leader=record.leader if leads else was.leader,
        leader_epoch=was.leader_epoch + leads,
        partition_epoch=was.partition_epoch + 1,
        replicas=_else(record.replicas, was.replicas),
        isr=_else(record.isr, was.isr),
        elr=_else(record.eligible_leader_replicas, was.elr),
        last_known_elr=_else(record.last_known_elr, was.last_known_elr),
        observers=_else(record.observers, was.observers),
        promoted=_else(record.promoted, was.promoted),
        adding=_else(record.adding_replicas, was.adding),
        removing=_else(record.removing_replicas, was.removing),
        recovery_state=record.leader_recovery_state if recovers else was.recovery_state,
        directories=_else(record.directories, was.directories),
    )


def _if_changed(was: tuple[Member, ...], to: tuple[Member, ...]) -> list[Member] | None:
    return None if was == to else list(to)


def _else(given: Sequence[Member] | None, was: tuple[Member, ...]) -> tuple[Member, ...]:
    return was if given is None else _shared(tuple(given))


@lru_cache(maxsize=4096)
def _shared(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Partitions with equal replicas share one tuple, which saves memory with thousands of partitions."""
    return members
