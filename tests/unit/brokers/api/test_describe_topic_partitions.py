"""Topics page by page."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from brokers.api import describe_topic_partitions
from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.metadata.commands.broker_commands import RegisterBroker
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.security.authorized_operations import TOPIC_OPERATIONS
from brokers.wire.messages.metadata import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestTopic,
)
from tests.unit.brokers.api.asking import Node


def node_with(**topics: int) -> Node:
    node = Node()
    items = tuple(NewTopic(name=name, partition_count=count) for name, count in topics.items())
    node.do(CreateTopics(items))
    return node


def test_topics_are_described_in_order_of_their_names() -> None:
    node = node_with(b=1, a=2)
    request = DescribeTopicPartitionsRequest(
        topics=[
            DescribeTopicPartitionsRequestTopic(name=name)
            for name in ("b", "nope", "a", "b", "x y")
        ]
    )
    answer = node.ask(describe_topic_partitions, 0, request)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("a", 0),
        ("b", 0),
        ("nope", KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ("x y", KafkaError.INVALID_TOPIC_EXCEPTION),
    ]
    first = answer.topics[0]
    assert first.topic_id == node.image.topics_by_name["a"].id
    assert first.topic_authorized_operations == TOPIC_OPERATIONS and not first.is_internal
    assert [(p.partition_index, p.leader_id, p.isr_nodes) for p in first.partitions] == [
        (0, 1, [1]),
        (1, 1, [1]),
    ]
    assert answer.next_cursor is None


@given(
    limit=st.integers(-1, 6),
    counts=st.dictionaries(st.sampled_from("abcd"), st.integers(1, 5), min_size=1),
    by_name=st.booleans(),
)
def test_pages_joined_are_everything_once(
    limit: int, counts: dict[str, int], by_name: bool
) -> None:
    node = node_with(**counts)
    topics = [DescribeTopicPartitionsRequestTopic(name=name) for name in counts] if by_name else []
    cursor, seen = None, []
    for _ in range(40):
        request = DescribeTopicPartitionsRequest(
            topics=topics, response_partition_limit=limit, cursor=cursor
        )
        answer = node.ask(describe_topic_partitions, 0, request)
        page = [
            (topic.name, p.partition_index) for topic in answer.topics for p in topic.partitions
        ]
        assert 0 < len(page) <= max(1, limit)
        seen += page
        cursor = answer.next_cursor
        if cursor is None:
            break
    assert seen == [(name, index) for name in sorted(counts) for index in range(counts[name])]


def test_a_cursor_beyond_everything_finds_nothing() -> None:
    request = DescribeTopicPartitionsRequest(cursor=Cursor(topic_name="zzz", partition_index=5))
    assert node_with(a=1).ask(describe_topic_partitions, 0, request).topics == []
    request = DescribeTopicPartitionsRequest(cursor=Cursor(topic_name="a", partition_index=-7))
    (topic,) = node_with(a=1).ask(describe_topic_partitions, 0, request).topics
    assert len(topic.partitions) == 1


def test_a_page_is_no_longer_than_the_brokers_settings_say() -> None:
    node = Node(
        from_settings({"node.id": 1, "log.dirs": "d", "max.request.partition.size.limit": 2})
    )
    node.do(CreateTopics((NewTopic(name="a", partition_count=3),)))
    answer = node.ask(describe_topic_partitions, 0, DescribeTopicPartitionsRequest())
    assert len(answer.topics[0].partitions) == 2
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == ("a", 2)


def test_observers_are_told_as_the_partition_has_them() -> None:
    node = Node()
    for broker_id, rack in ((2, "a"), (3, "b")):
        told = {"incarnation": UUID(int=broker_id), "directory": UUID(int=broker_id + 200)}
        endpoints = (("PLAINTEXT", "127.0.0.1", 9090 + broker_id),)
        node.do(RegisterBroker(broker_id=broker_id, endpoints=endpoints, rack=rack, **told))
    placement = (
        '{"version": 2, "replicas": [{"count": 1, "constraints": {"rack": "a"}}],'
        ' "observers": [{"count": 1, "constraints": {"rack": "b"}}]}'
    )
    placed = NewTopic(name="placed", configs={"confluent.placement.constraints": placement})
    node.do(CreateTopics((placed, NewTopic(name="plain"))))
    answer = node.ask(describe_topic_partitions, 0, DescribeTopicPartitionsRequest())
    plain, seen = answer.topics[1].partitions[0], answer.topics[0].partitions[0]
    assert (seen.replica_nodes, seen.observers, plain.observers) == ([2, 3], [3], [])
