"""DeleteTopics by name and by id."""

from uuid import UUID

import pytest

from brokers.api import delete_topics
from brokers.errors import KafkaError
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.topics import DeleteTopicsRequest, DeleteTopicState
from tests.unit.brokers.api.asking import Node


def node_with(*names: str) -> Node:
    node = Node()
    node.do(CreateTopics(tuple(NewTopic(name=name) for name in names)))
    return node


@pytest.mark.parametrize("version", range(1, 6))
def test_names_before_version_6(version: int) -> None:
    node = node_with("a", "b")
    request = DeleteTopicsRequest(topic_names=["a", "nope"])
    known, unknown = node.ask(delete_topics, version, request).responses
    assert (known.name, known.error_code) == ("a", 0)
    assert (unknown.name, unknown.error_code) == ("nope", KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    assert (unknown.error_message is not None) == (version >= 5)
    assert list(node.image.topics_by_name) == ["b"]


def test_names_and_ids_from_version_6() -> None:
    node = node_with("a", "b")
    ids = {name: topic.id for name, topic in node.image.topics_by_name.items()}
    request = DeleteTopicsRequest(
        topics=[
            DeleteTopicState(name="a"),
            DeleteTopicState(topic_id=ids["b"]),
            DeleteTopicState(topic_id=UUID(int=5)),
            DeleteTopicState(),
            DeleteTopicState(name="a", topic_id=ids["a"]),
        ]
    )
    answer = node.ask(delete_topics, 6, request)
    found = {(item.name, item.topic_id, item.error_code) for item in answer.responses}
    assert found == {
        ("a", ids["a"], 0),
        ("b", ids["b"], 0),
        (None, UUID(int=5), KafkaError.UNKNOWN_TOPIC_ID),
        (None, UUID(int=0), KafkaError.INVALID_REQUEST),
        ("a", ids["a"], KafkaError.INVALID_REQUEST),
    }
    assert len(answer.responses) == 5


def test_a_mirror_is_refused_with_its_links_name() -> None:
    node = Node()
    node.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    (item,) = node.ask(delete_topics, 5, DeleteTopicsRequest(topic_names=["m"])).responses
    assert item.error_code == KafkaError.POLICY_VIOLATION and "link east" in item.error_message


def test_a_disk_that_refuses_refuses_every_topic() -> None:
    node = node_with("a")
    ticket = node.start_asking(delete_topics, 5, DeleteTopicsRequest(topic_names=["a"]))
    node.settle(failing="disk full")
    (item,) = node.replies[ticket].responses
    assert (item.name, item.error_code) == ("a", KafkaError.KAFKA_STORAGE_ERROR)
    assert "a" in node.image.topics_by_name
