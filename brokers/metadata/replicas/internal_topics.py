"""Adds replicas to the coordinators' topics that were created while the region had fewer brokers.

Otherwise a consumer that starts before the second broker would leave all groups of a large region with one replica.
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
    """Extends them to the replication factor that a topic created now would get, limited by the active brokers."""
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
        # Leaders are spread again, as all partitions began on the same few brokers.
        turn = index % factor
        spread = (*replicas[turn:], *replicas[:turn])
        changes.update(topic, index, moving(image, was, Assignment(spread)))
