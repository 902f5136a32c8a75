"""Elections, reassignments and in-sync sets as clients and brokers ask for them."""

from typing import Any
from uuid import UUID

from brokers.api import (
    alter_partition,
    alter_partition_reassignments,
    create_partitions,
    create_topics,
    describe_topic_partitions,
    elect_leaders,
    list_partition_reassignments,
    metadata,
)
from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.broker_commands import FenceBroker, RegisterBroker
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.metadata import DescribeTopicPartitionsRequest, MetadataRequest
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    BrokerState,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
    ReassignablePartition,
    ReassignableTopic,
    TopicPartitions,
)
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
)
from tests.unit.brokers.api.asking import Node


def region() -> Node:
    """Brokers 1, 2 and 3, the last two on one machine; topic `t` of two partitions."""
    node = Node()
    for broker_id in (2, 3):
        node.do(register(broker_id))
    assignments = ((0, (1, 2)), (1, (2, 3)))
    node.do(CreateTopics((NewTopic(name="t", assignments=assignments),)))
    return node


def register(broker_id: int, life: int = 0) -> RegisterBroker:
    return RegisterBroker(
        broker_id=broker_id,
        incarnation=UUID(int=100 + broker_id + life),
        directory=UUID(int=200 + broker_id),
        endpoints=(("PLAINTEXT", "here", 9090 + broker_id),),
        host_label="machine",
    )


def partition(node: Node, index: int) -> Any:
    return node.image.partition(TopicPartition("t", index))


def reassign(node: Node, replicas: list[int] | None, **more: Any) -> Any:
    topic = ReassignableTopic(
        name="t", partitions=[ReassignablePartition(partition_index=0, replicas=replicas)]
    )
    message = AlterPartitionReassignmentsRequest(topics=[topic], **more)
    response = node.ask(alter_partition_reassignments, 1, message)
    assert (response.error_code, response.error_message) == (KafkaError.NONE, None)
    ((outcome,),) = [each.partitions for each in response.responses]
    return outcome


def ongoing(node: Node, *indexes: int) -> list[Any]:
    topics = [ListPartitionReassignmentsTopics(name="t", partition_indexes=list(indexes))]
    unknown = ListPartitionReassignmentsTopics(name="nope", partition_indexes=[0])
    message = ListPartitionReassignmentsRequest(topics=[*topics, unknown] if indexes else None)
    response = node.ask(list_partition_reassignments, 0, message)
    return [each for topic in response.topics for each in topic.partitions]


def test_a_move_begins_is_listed_and_can_be_called_off() -> None:
    node = region()
    assert ongoing(node) == []
    assert reassign(node, [3, 1]).error_code == KafkaError.NONE
    (listed,) = ongoing(node)
    assert (listed.partition_index, listed.replicas) == (0, [3, 1, 2])
    assert (listed.adding_replicas, listed.removing_replicas) == ([3], [2])
    assert len(ongoing(node, 0, 1, 7)) == 1 and ongoing(node, 1) == []
    assert reassign(node, None).error_code == KafkaError.NONE
    assert partition(node, 0).replicas == (1, 2) and ongoing(node) == []
    again = reassign(node, None)
    assert again.error_code == KafkaError.NO_REASSIGNMENT_IN_PROGRESS and again.error_message


def test_a_move_that_cannot_be_is_refused_with_the_reason() -> None:
    node = region()
    assert "broker 9" in reassign(node, [9]).error_message
    refused = reassign(node, [3], allow_replication_factor_change=False)
    assert refused.error_code == KafkaError.INVALID_REPLICATION_FACTOR


def elect(node: Node, version: int = 2, **more: Any) -> Any:
    return node.ask(elect_leaders, version, ElectLeadersRequest(**more))


def test_preferred_leaders_are_elected_one_by_one_or_all_at_once() -> None:
    node = region()
    asked = [TopicPartitions(topic="t", partitions=[0, 5])]
    response = elect(node, topic_partitions=asked)
    (topic,) = response.replica_election_results
    assert [each.error_code for each in topic.partition_result] == [
        KafkaError.ELECTION_NOT_NEEDED,
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert all(each.error_message for each in topic.partition_result)
    node.do(FenceBroker(2, node.image.brokers[2].broker_epoch))
    assert partition(node, 1).leader == 3
    node.do(register(2, life=10))
    response = elect(node, version=0, topic_partitions=None)
    (topic,) = response.replica_election_results
    (result,) = topic.partition_result
    assert result.error_code == KafkaError.PREFERRED_LEADER_NOT_AVAILABLE


def test_an_election_of_an_unknown_type_is_refused() -> None:
    asked = [TopicPartitions(topic="t", partitions=[0])]
    response = elect(region(), election_type=7, topic_partitions=asked)
    assert response.error_code == KafkaError.INVALID_REQUEST
    (topic,) = response.replica_election_results
    assert topic.partition_result[0].error_code == KafkaError.INVALID_REQUEST


def test_an_old_client_is_told_of_a_failure_partition_by_partition() -> None:
    node = region()
    reassign(node, [2, 1])
    asked = [TopicPartitions(topic="t", partitions=[0])]
    ticket = node.start_asking(elect_leaders, 0, ElectLeadersRequest(topic_partitions=asked))
    node.settle(failing="no room")
    (topic,) = node.replies.pop(ticket).replica_election_results
    assert topic.partition_result[0].error_code == KafkaError.KAFKA_STORAGE_ERROR


def propose(node: Node, members: list[BrokerState], version: int = 3, **more: Any) -> Any:
    topic = node.image.topics_by_name["t"]
    was = topic.partitions[0]
    told: dict[str, Any] = {
        "partition_index": 0,
        "leader_epoch": was.leader_epoch,
        "partition_epoch": was.partition_epoch,
        "new_isr_with_epochs" if version == 3 else "new_isr": members
        if version == 3
        else [each.broker_id for each in members],
    }
    item = AlterPartitionRequestPartition(**(told | more))
    message = AlterPartitionRequest(
        broker_id=1,
        broker_epoch=node.image.brokers[1].broker_epoch,
        topics=[AlterPartitionRequestTopic(topic_id=topic.id, partitions=[item])],
    )
    return node.ask(alter_partition, version, message)


def member(node: Node, broker_id: int) -> BrokerState:
    broker_epoch = node.image.brokers[broker_id].broker_epoch
    return BrokerState(broker_id=broker_id, broker_epoch=broker_epoch)


def test_a_leaders_proposal_is_answered_with_what_became_of_it() -> None:
    node = region()
    shrunk = propose(node, [member(node, 1)]).topics[0].partitions[0]
    assert (shrunk.error_code, shrunk.isr, shrunk.partition_epoch) == (KafkaError.NONE, [1], 1)
    grown = propose(node, [member(node, 1), member(node, 2)], version=2).topics[0].partitions[0]
    assert (grown.error_code, grown.isr, grown.leader_id) == (KafkaError.NONE, [1, 2], 1)
    late = propose(node, [member(node, 1)], partition_epoch=1).topics[0].partitions[0]
    assert late.error_code == KafkaError.INVALID_UPDATE_VERSION
    assert partition(node, 0).isr == (1, 2)


def test_another_life_of_a_leader_proposes_in_vain() -> None:
    node = region()
    message = AlterPartitionRequest(broker_id=1, broker_epoch=99)
    assert node.ask(alter_partition, 3, message).error_code == KafkaError.STALE_BROKER_EPOCH


def test_copies_that_share_a_host_are_told_of() -> None:
    node = region()
    topic = CreatableTopic(name="u", num_partitions=1, replication_factor=3)
    node.ask(create_topics, 7, CreateTopicsRequest(topics=[topic]))
    grown = CreatePartitionsTopic(
        name="t", count=3, assignments=[CreatePartitionsAssignment(broker_ids=[3, 2])]
    )
    node.ask(create_partitions, 3, CreatePartitionsRequest(topics=[grown]))
    assert [change.what for change in node.changes] == ["topic u", "topic t"]
    assert all("one host" in change.why for change in node.changes)


def test_clients_are_told_who_is_away_and_who_is_eligible() -> None:
    node = region()
    minimum = {"min.insync.replicas": (ConfigOperation.SET, "2")}
    node.do(AlterConfigs((ConfigChange((2, "t"), minimum),)))
    node.do(FenceBroker(2, node.image.brokers[2].broker_epoch))
    described = node.ask(describe_topic_partitions, 0, DescribeTopicPartitionsRequest())
    first = described.topics[0].partitions[0]
    assert (first.isr_nodes, first.eligible_leader_replicas, first.last_known_elr) == ([1], [2], [])
    assert first.offline_replicas == [2]
    asked = node.ask(metadata, 12, MetadataRequest(topics=None))
    assert asked.topics[0].partitions[1].offline_replicas == [2]
