"""Metadata at every version: what is asked for, by name or id, and topics that come to be by being asked for."""

from uuid import UUID

import pytest

from brokers.api import metadata
from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.ids import NO_ID, TopicPartition
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.replication.offline_replicas import offline_replicas
from brokers.security.authorized_operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.playbooks.metadata.host import NOW
from tests.unit.brokers.api.asking import Node

ALL_VERSIONS = range(metadata.VERSIONS[0], metadata.VERSIONS[1] + 1)
NOT_ASKED = -(2**31)


def node_with(*names: str) -> Node:
    node = Node()
    node.do(CreateTopics(tuple(NewTopic(name=name, partition_count=2) for name in names)))
    return node


def asked(*names: str | None, create: bool = True, **more: object) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=create, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_a_named_topic_at_every_version(version: int) -> None:
    node = node_with("a", "b")
    answer = node.ask(metadata, version, asked("a"))
    (topic,) = answer.topics
    assert (topic.name, topic.error_code, topic.is_internal) == ("a", 0, False)
    assert [p.partition_index for p in topic.partitions] == [0, 1]
    partition = topic.partitions[0]
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (1, [1], [1])
    assert partition.leader_epoch == (0 if version >= 7 else -1)
    assert topic.topic_id == (node.image.topics_by_name["a"].id if version >= 10 else NO_ID)
    (broker,) = answer.brokers
    assert (broker.node_id, broker.host, broker.port, broker.rack) == (1, "127.0.0.1", 9092, None)
    assert answer.controller_id == (1 if version >= 1 else -1)
    assert answer.cluster_id == ("region-one" if version >= 2 else None)


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_all_topics_are_null_and_in_version_0_the_empty_list(version: int) -> None:
    node = node_with("a", "b")
    everything = MetadataRequest(topics=[] if version == 0 else None)
    assert [topic.name for topic in node.ask(metadata, version, everything).topics] == ["a", "b"]
    if version > 0:
        assert node.ask(metadata, version, MetadataRequest(topics=[])).topics == []


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_a_topic_is_created_and_answered_with_its_leader(version: int) -> None:
    node = Node()
    (topic,) = node.ask(metadata, version, asked("fresh")).topics
    assert (topic.error_code, topic.partitions[0].leader_id) == (0, 1)
    assert "fresh" in node.image.topics_by_name


@pytest.mark.parametrize("version", range(4, 14))
def test_a_client_can_ask_without_creating(version: int) -> None:
    node = Node()
    (topic,) = node.ask(metadata, version, asked("fresh", create=False)).topics
    assert topic.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert not node.image.topics_by_name


def test_a_node_can_forbid_creation() -> None:
    config = from_settings({"node.id": 1, "log.dirs": "d", "auto.create.topics.enable": False})
    (topic,) = Node(config).ask(metadata, 9, asked("fresh")).topics
    assert topic.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", "a b", "..", "x" * 250, "__cluster_metadata"])
def test_an_illegal_name_is_refused_and_creates_nothing(name: str) -> None:
    node = Node()
    answer = node.ask(metadata, 12, asked(name, "good"))
    assert [topic.error_code for topic in answer.topics] == [KafkaError.INVALID_TOPIC_EXCEPTION, 0]
    assert list(node.image.topics_by_name) == ["good"]


def test_a_name_that_collides_is_refused() -> None:
    (topic,) = node_with("a.b").ask(metadata, 9, asked("a_b")).topics
    assert topic.error_code == KafkaError.INVALID_TOPIC_EXCEPTION


def test_a_coordinators_topic_is_created_as_such() -> None:
    node = Node()
    (topic,) = node.ask(metadata, 9, asked("__consumer_offsets")).topics
    assert topic.is_internal and len(topic.partitions) == 50
    assert node.image.config((2, "__consumer_offsets"))["cleanup.policy"] == "compact"


def test_a_topic_that_cannot_be_created_now_has_no_leader_yet() -> None:
    node = Node()
    ticket = node.start_asking(metadata, 9, asked("fresh"))
    node.settle(failing="disk full")
    (topic,) = node.replies[ticket].topics
    assert topic.error_code == KafkaError.LEADER_NOT_AVAILABLE


def test_two_clients_that_create_the_same_topic_both_get_it() -> None:
    node = Node()
    tickets = [node.start_asking(metadata, 9, asked("fresh")) for _ in range(2)]
    node.settle()
    assert [node.replies[ticket].topics[0].error_code for ticket in tickets] == [0, 0]


def test_a_name_asked_twice_is_answered_once() -> None:
    answer = node_with("a").ask(metadata, 9, asked("a", "a", "new", "new"))
    assert [topic.name for topic in answer.topics] == ["a", "new"]


def test_topics_are_found_by_id() -> None:
    node = node_with("a")
    topic_id = node.image.topics_by_name["a"].id
    topics = [
        MetadataRequestTopic(topic_id=topic_id, name=None),
        MetadataRequestTopic(topic_id=UUID(int=5), name=None),
    ]
    known, unknown = node.ask(metadata, 12, MetadataRequest(topics=topics)).topics
    assert (known.name, known.error_code) == ("a", 0)
    assert (unknown.name, unknown.topic_id) == (None, UUID(int=5))
    assert unknown.error_code == KafkaError.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize(
    ("name", "topic_id"), [(None, NO_ID), (None, UUID(int=5)), ("a", UUID(int=5))]
)
def test_ids_are_refused_before_version_12(version: int, name: str | None, topic_id: UUID) -> None:
    topics = [MetadataRequestTopic(topic_id=topic_id, name=name), MetadataRequestTopic(name="new")]
    node = node_with("a")
    answer = node.ask(metadata, version, MetadataRequest(topics=topics))
    assert {topic.error_code for topic in answer.topics} == {KafkaError.INVALID_REQUEST}
    assert "new" not in node.image.topics_by_name


def test_neither_name_nor_id_is_refused() -> None:
    topics = [MetadataRequestTopic(name=None)]
    answer = Node().ask(metadata, 13, MetadataRequest(topics=topics))
    assert answer.error_code == answer.topics[0].error_code == KafkaError.INVALID_REQUEST


def test_operations_are_told_when_asked_for() -> None:
    node = node_with("a")
    plain = node.ask(metadata, 8, asked("a"))
    assert (plain.cluster_authorized_operations, plain.topics[0].topic_authorized_operations) == (
        NOT_ASKED,
        NOT_ASKED,
    )
    full = asked(
        "a",
        "b c",
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    answer = node.ask(metadata, 8, full)
    assert answer.cluster_authorized_operations == CLUSTER_OPERATIONS
    assert [t.topic_authorized_operations for t in answer.topics] == [TOPIC_OPERATIONS, NOT_ASKED]


def test_a_replica_whose_disk_refused_is_offline() -> None:
    node = node_with("a")
    node.open("a", 0)
    node.open("a", 1).failed("disk full", NOW)
    (topic,) = node.ask(metadata, 9, asked("a")).topics
    assert [partition.offline_replicas for partition in topic.partitions] == [[], [1]]
    assert offline_replicas(node.image, node.wiring.partitions, 1, TopicPartition("a", 9)) == []
