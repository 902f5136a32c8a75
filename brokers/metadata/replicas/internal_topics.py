"""Coordinators' topics that were created when a region was small, or still starting, get the replicas they should have.

Without this a consumer that comes before the second broker would leave every group of a large region on one disk.
"""

from brokers.config.broker_config import BrokerConfig
from brokers.ids import INTERNAL_TOPICS
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import Image, PartitionImage, TopicImage
from brokers.metadata.partitions.partition_changes import PartitionChanges
from brokers.metadata.partitions.replica_placer import Assignment, extended
from brokers.metadata.replicas.reassignments import moving
from brokers.metadata.topics.assignments import internal_factor, placement_of


def grow_internal_topics(config: BrokerConfig, image: Image, changes: PartitionChanges) -> None:
    """As many replicas as a topic created now would get, as far as there are brokers to hold them."""
    active = len(changes.elector.active)
    for name in INTERNAL_TOPICS:
        topic = image.topics_by_name.get(name)
        if topic is not None and placement_of(image.config((ResourceType.TOPIC, name))) is None:
            factor = internal_factor(config, name, active)
            _grow(image, changes, topic, min(factor, active))


def _grow(image: Image, changes: PartitionChanges, topic: TopicImage, factor: int) -> None:
    small = {
        index: partition
        for index, partition in enumerate(topic.partitions)
        if len(partition.replicas) < factor and not partition.removing
    }
    have = [partition.replicas for partition in small.values()]
    for index, replicas in zip(
        small, extended(image, have, factor, changes.elector.active), strict=True
    ):
        was = changes.partition(topic, index)
        assert isinstance(was, PartitionImage)
        # Leaders are spread again: those that were alone all began on the same few brokers.
        turn = index % factor
        spread = (*replicas[turn:], *replicas[:turn])
        changes.update(topic, index, moving(image, was, Assignment(spread)))
