"""The leader and in-sync set of every partition of a broker that is fenced, unfenced or registered again.

Kafka's ReplicationControlManager.generateLeaderAndIsrUpdates.
"""

from collections.abc import Collection
from uuid import UUID

from brokers.ids import BrokerId
from brokers.metadata.image.image import NO_LEADER, PartitionImage
from brokers.metadata.partitions.partition_changes import PartitionChanges


def remove_from_isrs(
    changes: PartitionChanges, broker_id: BrokerId, *, is_lost: bool = False
) -> None:
    """Removes a broker from every in-sync set; other replicas that may lead take over its leaderships.

    Where `is_lost` the broker's logs may lack records that it acknowledged, so its replicas are not eligible either
    (KIP-966), except for a partition without another replica.
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
    """Moves a broker's leaderships to other replicas that may lead; it stays in the other in-sync sets."""
    for topic, index, partition in changes.partitions():
        if partition.leader == broker_id:
            changes.update(topic, index, remove_from_isr(partition, broker_id))


def handle_directory_failures(
    changes: PartitionChanges, broker_id: BrokerId, directories: Collection[UUID]
) -> None:
    """Kafka's handleDirectoriesOffline: removes a broker from the in-sync sets of its replicas in failed directories.

    The data there may be complete: a replica that was in sync stays eligible, and may lead when its directory is back.
    """
    for topic, index, partition in changes.partitions():
        if broker_id in partition.isr and partition.directory(broker_id) in directories:
            changes.update(topic, index, remove_from_isr(partition, broker_id))


def elect_offline_partitions(changes: PartitionChanges, broker_id: BrokerId) -> None:
    """A broker is unfenced: elects leaders for its partitions without a leader."""
    for topic, index, partition in changes.partitions():
        if partition.leader == NO_LEADER and broker_id in partition.replicas:
            changes.update(topic, index, partition)


def resume_replicas(changes: PartitionChanges, broker_id: BrokerId, *, is_lost: bool) -> None:
    """A broker restarts before it was fenced: it continues to lead partitions that no other replica could have led.

    Each gets a new leader epoch, so that followers recognise records of the old epoch that the crash has lost.
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
    """The partition without the broker in its in-sync set."""
    return partition._replace(isr=tuple(each for each in partition.isr if each != broker_id))
