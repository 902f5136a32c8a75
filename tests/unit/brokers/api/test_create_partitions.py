"""CreatePartitions: every topic asked is answered."""

import pytest

from brokers.api import create_partitions
from brokers.errors import KafkaError
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.topics import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from tests.unit.brokers.api.asking import Node


def node_with_t() -> Node:
    node = Node()
    node.do(CreateTopics((NewTopic(name="t"),)))
    return node


def grow(name: str, count: int, *brokers: int) -> CreatePartitionsTopic:
    assignments = [CreatePartitionsAssignment(broker_ids=[broker]) for broker in brokers] or None
    return CreatePartitionsTopic(name=name, count=count, assignments=assignments)


@pytest.mark.parametrize("version", range(4))
def test_growth_at_every_version(version: int) -> None:
    node = node_with_t()
    request = CreatePartitionsRequest(topics=[grow("t", 3), grow("nope", 2)])
    good, bad = node.ask(create_partitions, version, request).results
    assert (good.name, good.error_code, good.error_message) == ("t", 0, None)
    assert (bad.name, bad.error_code) == ("nope", KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    assert len(node.image.topics_by_name["t"].partitions) == 3


def test_assignments_and_validation() -> None:
    node = node_with_t()
    request = CreatePartitionsRequest(topics=[grow("t", 3, 1, 1)], validate_only=True)
    assert node.ask(create_partitions, 1, request).results[0].error_code == 0
    assert len(node.image.topics_by_name["t"].partitions) == 1
    request = CreatePartitionsRequest(topics=[grow("t", 3, 1)])
    (item,) = node.ask(create_partitions, 1, request).results
    assert item.error_code == KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_a_disk_that_refuses_refuses_every_topic() -> None:
    node = node_with_t()
    request = CreatePartitionsRequest(topics=[grow("t", 3), grow("u", 3)])
    ticket = node.start_asking(create_partitions, 1, request)
    node.settle(failing="disk full")
    assert [(item.name, item.error_code) for item in node.replies[ticket].results] == [
        ("t", KafkaError.KAFKA_STORAGE_ERROR),
        ("u", KafkaError.KAFKA_STORAGE_ERROR),
    ]
