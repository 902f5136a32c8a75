"""Whose disk a storm must spare: of the replicas that are in sync one always keeps what it was given.

A controller tells a process that was killed from a disk that lost something as little as Kafka's does: both come back
uncleanly. So whoever alone keeps records must not end either while another that lost them may still be chosen.
"""

from collections.abc import Iterator

from brokers.ids import METADATA_PARTITION, BrokerId, Offset, TopicPartition
from brokers.metadata.image.image import Image, PartitionImage
from brokers.metadata.image.partition_records import changed_by
from brokers.metadata.image.record_batches import read_batches
from brokers.wire.messages.metadata_records import PartitionChangeRecord
from tests.sim.disks import Disk
from tests.sim.evidence import batches
from tests.sim.regions.cluster import Cluster


class Keepers:
    """What controllers decided, and which disks lost what."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.leaving: dict[BrokerId, None] = {}  # asked to stop, and still there
        # Replicas that lost something, each with the broker epoch of the life that had it.
        self._damaged: dict[tuple[BrokerId, TopicPartition], int] = {}
        self.newest: Image | None = None  # of whoever has heard most of the metadata log

    def learn(self) -> None:
        """What controllers decided last, which not all nodes have heard of."""
        for node in self._cluster.nodes.values():
            image = node.broker.view.image if node.life else None
            if image is not None and (
                self.newest is None or image.next_offset > self.newest.next_offset
            ):
                self.newest = image
        for (number, partition), broker_epoch in list(self._damaged.items()):
            # Until it is registered anew it may still be let in for what it had.
            is_known = self._broker_epoch(number) > broker_epoch
            if is_known and number not in self._candidates(partition):
                del self._damaged[number, partition]

    def placed(self) -> Iterator[tuple[TopicPartition, PartitionImage]]:
        topics = {} if self.newest is None else self.newest.topics_by_name
        for name, topic in topics.items():
            for index, placed in enumerate(topic.partitions):
                yield TopicPartition(name, index), placed

    def is_needed(self, number: BrokerId) -> bool:
        """Another replica has lost something, and is still taken for one that has not."""
        self.learn()
        damaged = {partition for _, partition in self._damaged}
        return any(
            partition in damaged and number in candidates(placed)
            for partition, placed in self._possible()
        )

    def can_spare(self, number: BrokerId) -> bool:
        """Wherever it may lead another may, too, and lives, and will for a while.

        Where one in-sync replica is enough nobody may be spared: until the region has heard of its loss the others may
        be put out of the set, and be no longer eligible.
        """
        self.learn()
        others_will_do = self._cluster.scenario.min_insync > 1
        return all(
            number not in candidates(placed)
            or (
                others_will_do
                and any(self._keeps(each, partition) for each in in_sync(placed) if each != number)
            )
            for partition, placed in self._possible()
        )

    def damage(self, number: BrokerId) -> None:
        """Its disk loses something, or all."""
        for partition, placed in self.placed():
            if number in placed.replicas:
                self._damaged[number, partition] = self._broker_epoch(number)

    def _broker_epoch(self, number: BrokerId) -> int:
        broker = None if self.newest is None else self.newest.brokers.get(number)
        return -1 if broker is None else int(broker.broker_epoch)

    def _candidates(self, partition: TopicPartition) -> tuple[BrokerId, ...]:
        placed = None if self.newest is None else self.newest.partition(partition)
        return () if placed is None else candidates(placed)

    def _keeps(self, number: BrokerId, partition: TopicPartition) -> bool:
        node = self._cluster.node(number)
        room = node.disk.space()
        is_well = not node.disk.ailing and room.usable_bytes == room.total_bytes
        is_there = node.is_ready and number not in self.leaving
        return is_there and is_well and (number, partition) not in self._damaged

    def _possible(self) -> Iterator[tuple[TopicPartition, PartitionImage]]:
        """As decided, and as a controller wrote what may be decided yet."""
        yield from self.placed()
        if self.newest is not None:
            for number in self._cluster.controllers:
                yield from undecided(self.newest, self._cluster.node(number).disk)


def in_sync(placed: PartitionImage) -> tuple[BrokerId, ...]:
    """Or so lately that they are chosen all the same; where there is nobody, the last leader is."""
    return (*placed.isr, *placed.elr) or placed.last_known_elr


def candidates(placed: PartitionImage) -> tuple[BrokerId, ...]:
    """Those, and who may be chosen once they have come back uncleanly."""
    return (*placed.isr, *placed.elr, *placed.last_known_elr)


def undecided(image: Image, disk: Disk) -> Iterator[tuple[TopicPartition, PartitionImage]]:
    """Partitions of the image as each change makes them that a node's metadata log holds behind the image."""
    names = {topic.id: name for name, topic in image.topics_by_name.items()}
    seen: dict[TopicPartition, PartitionImage] = {}
    for record in _changes(disk, image.next_offset):
        partition = TopicPartition(names.get(record.topic_id, ""), record.partition_id)
        placed = seen.get(partition) or image.partition(partition)
        if placed is not None:
            seen[partition] = changed_by(placed, record)
            yield partition, seen[partition]


def _changes(disk: Disk, begin: Offset) -> Iterator[PartitionChangeRecord]:
    for batch in batches(disk, METADATA_PARTITION):
        if batch.base_offset >= begin and not batch.is_control:
            for _, records in read_batches(batch.data):
                yield from (each for each in records if isinstance(each, PartitionChangeRecord))
