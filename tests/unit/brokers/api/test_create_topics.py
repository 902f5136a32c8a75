"""CreateTopics as clients of every age send it."""

import pytest

from brokers.api import create_topics
from brokers.errors import KafkaError
from brokers.ids import NO_ID
from brokers.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.unit.brokers.api.asking import Node


def topic(name: str, partitions: int = 1, factor: int = 1, **configs: str) -> CreatableTopic:
    settings = [CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()]
    return CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=factor, configs=settings
    )


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_at_every_version(version: int) -> None:
    node = Node()
    request = CreateTopicsRequest(topics=[topic("t", 3, retention_ms="5"), topic("b d")])
    good, bad = node.ask(create_topics, version, request).topics
    assert (good.name, good.error_code, good.error_message) == ("t", 0, None)
    assert (
        bad.error_code == KafkaError.INVALID_TOPIC_EXCEPTION and "characters" in bad.error_message
    )
    made = node.image.topics_by_name["t"]
    assert len(made.partitions) == 3
    assert good.topic_id == (made.id if version >= 7 else NO_ID)
    if version >= 5:
        assert (good.num_partitions, good.replication_factor) == (3, 1)
        configs = {config.name: config for config in good.configs}
        assert (configs["retention.ms"].value, configs["retention.ms"].config_source) == ("5", 1)
        assert (configs["segment.ms"].value, configs["segment.ms"].config_source) == (
            "604800000",
            5,
        )
        assert "internal.segment.bytes" not in configs
        assert (bad.num_partitions, bad.replication_factor, bad.configs) == (-1, -1, None)


def test_defaults_and_assignments() -> None:
    node = Node()
    assigned = CreatableTopic(
        name="a",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=i, broker_ids=[1]) for i in (1, 0)],
    )
    twice = CreatableTopic(
        name="b",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1])] * 2,
    )
    request = CreateTopicsRequest(topics=[topic("d", -1, -1), assigned, twice])
    answer = node.ask(create_topics, 5, request)
    assert [(item.error_code, item.num_partitions) for item in answer.topics] == [
        (0, 1),
        (0, 2),
        (KafkaError.INVALID_REPLICA_ASSIGNMENT, -1),
    ]


def test_validation_only_tells_what_would_be() -> None:
    node = Node()
    request = CreateTopicsRequest(topics=[topic("t", 2, retention_ms="5")], validate_only=True)
    (item,) = node.ask(create_topics, 7, request).topics
    assert (item.error_code, item.num_partitions) == (0, 2)
    assert {config.value for config in item.configs if config.name == "retention.ms"} == {"5"}
    assert not node.image.topics_by_name


def test_a_topic_given_twice_is_answered_once() -> None:
    (item,) = (
        Node().ask(create_topics, 7, CreateTopicsRequest(topics=[topic("t"), topic("t")])).topics
    )
    assert item.error_code == KafkaError.INVALID_REQUEST


def test_a_disk_that_refuses_refuses_every_topic() -> None:
    node = Node()
    ticket = node.start_asking(
        create_topics, 7, CreateTopicsRequest(topics=[topic("t"), topic("u")])
    )
    assert not node.replies, "not before it is committed"
    node.settle(failing="disk full")
    answer = node.replies[ticket]
    assert [(item.name, item.error_code) for item in answer.topics] == [
        ("t", KafkaError.KAFKA_STORAGE_ERROR),
        ("u", KafkaError.KAFKA_STORAGE_ERROR),
    ]
    assert answer.topics[0].error_message == "disk full"


def test_no_topics_is_no_error() -> None:
    assert Node().ask(create_topics, 7, CreateTopicsRequest(topics=[])).topics == []
