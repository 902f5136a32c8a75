"""Which partitions a node leads, as the image says, once the image means this process."""

from typing import Any, cast
from uuid import UUID

from brokers.api.context import Context
from brokers.config.broker_config import from_settings
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import TopicPartition
from brokers.metadata.image.image import Image, ImageDelta, PartitionImage, TopicImage
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.replica_lifecycle import ReplicaLifecycle

PARTITION = TopicPartition("t", 0)
LED_HERE = PartitionImage(1, 3, 0, (1, 2), (1, 2))


class Plane:
    """Stands for the metadata plane: an image."""

    def __init__(self) -> None:
        self.image = Image("cluster")


class Node:
    """Broker 1, which holds one partition and leads it."""

    def __init__(self, *, is_registered: bool) -> None:
        plane = Plane()
        topic = TopicImage("t", UUID(int=1), (LED_HERE,))
        plane.image.topics_by_name["t"] = topic
        self.is_registered = is_registered
        self.lifecycle = ReplicaLifecycle()
        self.lifecycle.is_registered = lambda: self.is_registered
        self.lifecycle.context = self.context = Context(
            config=from_settings({"node.id": 1, "log.dirs": "data"}),
            cluster_id="cluster",
            plane=cast(RaftManager, plane),
            groups=cast(GroupCoordinator, None),
            run_groups=lambda effects, now: [],
            run_plane=lambda effects, now: [],
        )

    def hear(self, delta: ImageDelta) -> list[Any]:
        return self.lifecycle.follow(delta, 0)

    @property
    def leads(self) -> bool:
        return not self.context.partitions[PARTITION].follows


def test_what_an_earlier_process_led_is_opened_and_not_led() -> None:
    """It may have lost with its power what others took from it."""
    node = Node(is_registered=False)
    assert node.hear(ImageDelta(topics_created=("t",)))
    assert not node.leads
    node.hear(ImageDelta(partitions_changed=(PARTITION,)))
    assert not node.leads


def test_it_is_led_once_the_image_means_this_process() -> None:
    node = Node(is_registered=False)
    node.hear(ImageDelta(topics_created=("t",)))
    node.is_registered = True
    node.hear(ImageDelta(brokers_changed=(1,)))
    assert node.leads


def test_a_lone_node_leads_at_once() -> None:
    node = Node(is_registered=True)
    node.hear(ImageDelta(topics_created=("t",)))
    assert node.leads
