"""Which partitions a node leads, as the image says, once the image means this process."""

import random
from typing import Any
from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.effects import ConfigureLog, OpenLog
from brokers.ids import TopicPartition
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import (
    BrokerImage,
    Endpoint,
    ImageDelta,
    PartitionImage,
    TopicImage,
)
from brokers.node.broker import Broker

PARTITION = TopicPartition("t", 0)
DIRECTORY = UUID(int=9)
SETTINGS = {
    "node.id": 1,
    "log.dirs": "data",
    "cluster.id": "cluster",
    "listeners": "PLAINTEXT://h:9092,CONTROLLER://h:9093",
    "controller.quorum.voters": "1@h:9093,2@i:9093",
}
LED_HERE = PartitionImage(1, 3, 0, (1, 2), (1, 2))


class Node:
    """Broker 1, which holds one partition and leads it."""

    def __init__(self, *, has_others: bool) -> None:
        config = from_settings(SETTINGS if has_others else {"node.id": 1, "log.dirs": "data"})
        directory = OwnDirectory("data", DIRECTORY)
        log_dirs = OwnDirectories((directory,), DIRECTORY)
        self.parts = Broker(config, "cluster", random.Random(1), directories=log_dirs).parts
        self.image = self.parts.raft.image
        self.image.topics_by_name["t"] = TopicImage("t", UUID(int=1), (LED_HERE,))

    def hear(self, delta: ImageDelta) -> list[Any]:
        return self.parts.replicas.follow(delta, 0)

    def register(self) -> None:
        """The controller has registered this very process."""
        incarnation = self.parts.registration._incarnation
        assert incarnation is not None
        self.image.brokers[1] = BrokerImage(
            1, 0, incarnation, (Endpoint("PLAINTEXT", "h", 9092),), fenced=False
        )

    @property
    def leads(self) -> bool:
        return not self.parts.partitions.all[PARTITION].follows


def test_what_an_earlier_process_led_is_opened_and_not_led() -> None:
    """It may have lost with its power what others took from it."""
    node = Node(has_others=True)
    assert node.hear(ImageDelta(topics_created=("t",)))
    assert not node.leads
    node.hear(ImageDelta(partitions_changed=(PARTITION,)))
    assert not node.leads


def test_it_is_led_once_the_image_means_this_process() -> None:
    node = Node(has_others=True)
    node.hear(ImageDelta(topics_created=("t",)))
    node.register()
    node.hear(ImageDelta(brokers_changed=(1,)))
    assert node.leads


def test_a_lone_node_leads_at_once() -> None:
    node = Node(has_others=False)
    node.hear(ImageDelta(topics_created=("t",)))
    assert node.leads


def test_a_log_hears_how_long_its_deleted_files_stay() -> None:
    node = Node(has_others=False)
    [opened] = [each for each in node.hear(ImageDelta(topics_created=("t",))) if is_open(each)]
    assert opened.file_delete_delay_ms == 60_000
    node.image.configs[(ResourceType.TOPIC, "t")] = {"file.delete.delay.ms": "5"}
    assert ConfigureLog(PARTITION, 5) in node.hear(ImageDelta(topic_configs_changed=("t",)))
    node.image.configs[(ResourceType.TOPIC, "t")] |= {"retention.ms": "5"}  # type: ignore[operator]
    effects = node.hear(ImageDelta(topic_configs_changed=("t",)))
    assert not any(isinstance(each, ConfigureLog) for each in effects)


def test_a_log_hears_whether_its_segments_take_their_disk_at_once() -> None:
    node = Node(has_others=False)
    [opened] = [each for each in node.hear(ImageDelta(topics_created=("t",))) if is_open(each)]
    assert opened.preallocate_bytes == 0
    node.image.configs[(ResourceType.TOPIC, "t")] = {
        "preallocate": "true",
        "segment.bytes": "1048576",
    }
    effects = node.hear(ImageDelta(topic_configs_changed=("t",)))
    assert ConfigureLog(PARTITION, 60_000, 1 << 20) in effects


def is_open(effect: Any) -> bool:
    return isinstance(effect, OpenLog)
