"""Requests that other nodes forward to the active controller."""

from typing import Any

import pytest

from brokers.api import create_topics, envelope
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.membership.envelopes import disclose_response, enclose
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    RaiseLeaderEpochs,
    SetTopicWriter,
)
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.requests.conversions import conversion_of
from brokers.wire.codec import VERSIONS
from brokers.wire.message import Message
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.features import FeatureUpdateKey, UpdateFeaturesRequest
from brokers.wire.messages.forwarding import EnvelopeRequest
from brokers.wire.messages.topics import CreatableTopic, CreateTopicsRequest, DeleteTopicsRequest
from tests.unit.brokers.api.asking import Node


def request_of(key: int, version: int, message: Message) -> Request:
    return Request(0, key, version, "admin", "10.1.2.3", message)


def send(node: Node, key: int, version: int, message: Message) -> tuple[Any, int]:
    """The response as the sender reads it, and the offset that it waits for."""
    request = request_of(key, version, message)
    answer = node.ask(envelope, 0, enclose(request))
    assert answer.error_code == KafkaError.NONE
    return disclose_response(request, answer), answer.metadata_offset


def submit(node: Node, command: Submitted) -> Any:
    """The result as the sender reads it."""
    conversion = conversion_of(command)
    key = conversion.api_key
    response, _ = send(node, key, VERSIONS[key][1], conversion.to_request(command))
    return conversion.to_result(response)


def refused(node: Node, request: Request) -> tuple[int, int]:
    answer = node.ask(envelope, 0, enclose(request))
    assert answer.response_data is None
    return answer.error_code, answer.highest_version


@pytest.mark.parametrize("version", range(2, 8))
def test_a_clients_request_is_handled_as_if_it_had_come_here(version: int) -> None:
    node, direct = Node(), Node()
    message = CreateTopicsRequest(
        topics=[CreatableTopic(name="a", num_partitions=2, replication_factor=1)]
    )
    before = node.image.next_offset
    response, metadata_offset = send(node, create_topics.KEY, version, message)
    expected = direct.ask(create_topics, version, message)
    for answer in (response, expected):
        answer.topics[0].topic_id = None
    assert response == expected
    assert before < metadata_offset == node.image.next_offset
    assert len(node.image.topics_by_name["a"].partitions) == 2


def test_a_refusal_of_the_rules_is_a_response_too() -> None:
    outcome = submit(Node(), RaiseLeaderEpochs(topic="nowhere", leader_epochs={}))
    assert isinstance(outcome, Refusal)
    assert outcome.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def test_what_links_ask_is_decided() -> None:
    node = Node()
    outcome = submit(node, CreateMirrorTopic(name="m", partition_count=2, writer="link"))
    assert (outcome.name, outcome.error, outcome.partition_count) == ("m", KafkaError.NONE, 2)
    assert node.image.topics_by_name["m"].writer == "link"
    pen = SetTopicWriter(topic="m", expected_writer="link", writer=None, leader_epochs={1: 9})
    assert submit(node, pen) == {0: 1, 1: 9}
    versions = submit(node, PutDocuments((DocumentChange(kind="k", name="n", body=b"x"),)))
    assert versions["k", "n"] == node.image.documents["k", "n"].version


def test_of_a_topic_that_exists_the_same_is_said_as_here() -> None:
    node = Node()
    create = CreateTopics((NewTopic(name="a"),))
    submit(node, create)
    (outcome,) = submit(node, create)
    assert outcome.error is KafkaError.TOPIC_ALREADY_EXISTS


@pytest.mark.parametrize("data", [b"{}", b"", b"\0\x13\0\7"])
def test_what_is_no_request_is_refused(data: bytes) -> None:
    request = enclose(request_of(create_topics.KEY, 7, CreateTopicsRequest()))
    request.request_data = data
    answer = Node().ask(envelope, 0, request)
    assert answer.error_code in (KafkaError.INVALID_REQUEST, KafkaError.UNSUPPORTED_VERSION)
    assert answer.response_data is None


def test_a_principal_that_cannot_be_read_is_refused() -> None:
    request = enclose(request_of(create_topics.KEY, 7, CreateTopicsRequest()))
    answer = Node().ask(
        envelope, 0, EnvelopeRequest(request_data=request.request_data, request_principal=b"\0")
    )
    assert answer.error_code == KafkaError.PRINCIPAL_DESERIALIZATION_FAILURE


def test_what_any_broker_answers_is_not_taken_from_an_envelope() -> None:
    describe = request_of(60, 1, DescribeClusterRequest())
    assert refused(Node(), describe) == (KafkaError.UNSUPPORTED_VERSION, -1)
    nested = request_of(58, 0, enclose(describe))
    assert refused(Node(), nested) == (KafkaError.UNSUPPORTED_VERSION, -1)


def test_a_version_of_a_later_release_is_refused_with_the_highest_of_this_one() -> None:
    request = enclose(request_of(20, 6, DeleteTopicsRequest()))
    data = request.request_data
    request.request_data = data[:2] + (9).to_bytes(2, "big") + data[4:]
    answer = Node().ask(envelope, 0, request)
    assert (answer.error_code, answer.highest_version) == (KafkaError.UNSUPPORTED_VERSION, 6)


def test_what_has_no_place_in_a_record_is_refused_and_changes_nothing() -> None:
    node = Node()
    before = node.image.next_offset
    update = FeatureUpdateKey(feature="x" * 40_000, max_version_level=1, upgrade_type=1)
    response, _ = send(node, 57, 2, UpdateFeaturesRequest(feature_updates=[update]))
    assert response.error_code != KafkaError.NONE
    assert node.image.next_offset == before
