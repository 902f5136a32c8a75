"""Brokers that come and go, and what that does to every partition they hold."""

from collections.abc import Collection
from uuid import UUID

from brokers.ids import BrokerId
from brokers.metadata.image.image import NO_LEADER, PartitionImage
from brokers.metadata.partitions.partition_changes import PartitionChanges


def remove_from_isrs(
    changes: PartitionChanges, broker_id: BrokerId, *, is_lost: bool = False
) -> None:
    """Take a broker out of every in-sync set; others lead what it led, as far as they may.

    Where `is_lost` its disk may miss what it had acknowledged, so it is not eligible either (KIP-966). A partition
    without another replica has nothing better than that disk.
    """
    for topic, index, partition in changes.partitions():
        has_lost = is_lost and len(partition.replicas) > 1
        if broker_id in partition.isr or (has_lost and broker_id in partition.elr):
            changes.update(
                topic,
                index,
                remove_from_isr(partition, broker_id),
                lost=(broker_id,) if has_lost else (),
            )


def move_leaderships(changes: PartitionChanges, broker_id: BrokerId) -> None:
    """Others lead what a broker led, as far as they may; what it follows it goes on following."""
    for topic, index, partition in changes.partitions():
        if partition.leader == broker_id:
            changes.update(topic, index, remove_from_isr(partition, broker_id))


def handle_directory_failures(
    changes: PartitionChanges, broker_id: BrokerId, directories: Collection[UUID]
) -> None:
    """Take a broker out of the in-sync sets of what lies in these of its directories; others lead it where they may.

    What is in them may be whole: whoever was in sync stays eligible, and may lead when the directory is back.
    """
    for topic, index, partition in changes.partitions():
        if broker_id in partition.isr and partition.directory(broker_id) in directories:
            changes.update(topic, index, remove_from_isr(partition, broker_id))


def elect_offline_partitions(changes: PartitionChanges, broker_id: BrokerId) -> None:
    """A broker is counted on again: what nobody leads may find a leader."""
    for topic, index, partition in changes.partitions():
        if partition.leader == NO_LEADER and broker_id in partition.replicas:
            changes.update(topic, index, partition)


def resume_replicas(changes: PartitionChanges, broker_id: BrokerId, *, is_lost: bool) -> None:
    """A broker comes back before anybody missed it, and goes on with what nobody else could have gone on with.

    Each under a new leader epoch: what a crash may have torn off was of the old one, and others can tell.
    """
    for topic, index, partition in changes.partitions():
        if broker_id not in (*partition.isr, *partition.elr):
            continue
        if any(member != broker_id for member in (*partition.isr, *partition.elr)):
            lost = (broker_id,) if is_lost else ()
            changes.update(topic, index, remove_from_isr(partition, broker_id), lost=lost)
        elif not changes.elector.is_available(partition, broker_id):
            changes.update(topic, index, remove_from_isr(partition, broker_id))
        elif partition.leader == broker_id:
            changes.bump_leader_epoch(topic, index)
        else:
            changes.update(topic, index, partition)


def remove_from_isr(partition: PartitionImage, broker_id: BrokerId) -> PartitionImage:
    """The partition with the broker out of its in-sync set."""
    return partition._replace(isr=tuple(each for each in partition.isr if each != broker_id))
