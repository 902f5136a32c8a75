"""Commands that arrive from other nodes."""

from typing import Any
from uuid import UUID

from brokers.api import envelope
from brokers.errors import KafkaError, Refusal
from brokers.membership.encoding import decode_outcome, encode_command
from brokers.metadata.commands.broker_commands import RegisterController
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.forwarding import EnvelopeRequest
from tests.unit.brokers.api.asking import Node


def send(node: Node, command: Any) -> Any:
    """The outcome, as the sender reads it."""
    answer = node.ask(envelope, 0, EnvelopeRequest(request_data=encode_command(command)))
    assert answer.error_code == KafkaError.NONE
    return decode_outcome(type(command), answer.response_data)


def test_a_command_is_decided_and_its_outcome_says_where_it_is_in_force() -> None:
    node = Node()
    before = node.context.image.next_offset
    outcome = send(node, CreateTopics((NewTopic(name="a", partition_count=2),)))
    assert [each.name for each in outcome.result] == ["a"]
    assert before < outcome.next_offset == node.context.image.next_offset
    assert len(node.context.image.topics_by_name["a"].partitions) == 2


def test_a_refusal_of_the_rules_is_an_outcome_too() -> None:
    outcome = send(Node(), RaiseLeaderEpochs(topic="nowhere", leader_epochs={}))
    assert isinstance(outcome.result, Refusal)
    assert outcome.result.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def test_no_two_nodes_get_the_same_producer_ids() -> None:
    node = Node()
    first, second = (send(node, AllocateProducerIds(1)).result for _ in range(2))
    assert isinstance(first, ProducerIdBlock) and first.bound <= second.first


def test_what_is_no_command_is_refused() -> None:
    answer = Node().ask(envelope, 0, EnvelopeRequest(request_data=b"{}"))
    assert answer.error_code == KafkaError.INVALID_REQUEST and answer.response_data is None


def test_what_has_no_place_in_a_record_is_refused_and_changes_nothing() -> None:
    node = Node()
    before = node.context.image.next_offset
    command = RegisterController(
        controller_id=1,
        incarnation=UUID(int=1),
        endpoints=(("CONTROLLER", "here", 1 << 40),),
        features=(),
    )
    result = send(node, command).result
    assert isinstance(result, Refusal) and result.error is KafkaError.INVALID_REQUEST
    assert node.context.image.next_offset == before
    assert send(node, CreateTopics((NewTopic(name="a"),))).next_offset > before
