"""Requests and commands on their way to the active controller in an Envelope, and what comes back."""

from dataclasses import replace
from typing import Any

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.events import AskFailure, Listener, Request
from brokers.membership.controller_channel import (
    FORWARDING_CHANNEL,
    REPEATED_CHANNEL,
    REQUEST_MS,
    RETRY_MS,
    TIMEOUT_MS,
)
from brokers.membership.envelopes import disclose, enclose_response
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs, SetTopicWriter
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic, TopicOutcome
from brokers.metadata.requests.conversions import conversion_of
from brokers.security.principal import KafkaPrincipal
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages.forwarding import EnvelopeResponse
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.unit.brokers.membership.controller_node import ONE, TWO, ControllerNode

CREATE, DELETE = 19, 20
SERVED = dict(codec.VERSIONS)
ANN = KafkaPrincipal("User", "ann")
ASKED = CreateTopicsRequest(topics=[CreatableTopic(name="a", num_partitions=3)])
REQUEST = Request(9, CREATE, 7, "admin", "10.1.2.3", ASKED, Listener.DATA, ANN)
CREATED = CreateTopicsResponse(topics=[CreatableTopicResult(name="a", num_partitions=3)])
PEN = SetTopicWriter(topic="a", expected_writer=None, writer="link", leader_epochs={0: 4})
RAISE = RaiseLeaderEpochs(topic="a", leader_epochs={0: 4})
LOST = [AskFailure.CLOSED, AskFailure.TIMEOUT, AskFailure.UNREADABLE]
UNKNOWN = KafkaError.REQUEST_TIMED_OUT


class Node(ControllerNode):
    def forward(self, request: Request = REQUEST) -> None:
        self.take(self.forwarding.forward(request, self.received, self.now))

    def submit(self, command: Submitted) -> None:
        self.take(self.forwarding.submit(command, self.received, self.now))

    def enclosed(self, index: int = -1) -> Request:
        """The request in an envelope that was sent, as the controller reads it."""
        request = Request(REQUEST.ticket, 58, 0, None, "", self.asked[index].message, Listener.DATA)
        found = disclose(request, SERVED)
        assert isinstance(found, Request)
        return found

    def respond(self, response: Message, metadata_offset: int = 0, index: int = -1) -> None:
        """The controller has handled the request."""
        self.answer(enclose_response(self.enclosed(index), response, metadata_offset), index=index)

    def decided(self, command: Submitted, result: Any, metadata_offset: int = 0) -> None:
        self.respond(conversion_of(command).to_response(command, result), metadata_offset)

    def refuse(self, error: KafkaError, index: int = -1, **about: Any) -> None:
        self.answer(EnvelopeResponse(error_code=error, **about), index=index)


@pytest.fixture
def node() -> Node:
    return Node()


# --- clients' requests ---


def test_a_clients_request_travels_as_it_is_and_its_response_waits_for_the_image(
    node: Node,
) -> None:
    node.move(ONE)
    node.forward()
    (ask,) = node.asked
    assert (ask.peer, ask.channel, ask.api_key, ask.api_version) == (ONE, FORWARDING_CHANNEL, 58, 0)
    assert ask.timeout_ms == TIMEOUT_MS
    assert node.enclosed() == REQUEST
    node.respond(CREATED, metadata_offset=5)
    assert node.results == []
    node.move(ONE, next_offset=4)
    assert node.results == []
    node.move(ONE, next_offset=5)
    assert node.results == [CREATED]
    node.wait(TIMEOUT_MS)
    assert node.timers.deadline is None and len(node.results) == len(node.asked) == 1


def test_what_another_implementation_answers_waits_for_nothing(node: Node) -> None:
    """It names no offset."""
    node.move(ONE)
    node.forward()
    node.respond(CREATED, metadata_offset=-1)
    assert node.results == [CREATED]


def test_responses_are_passed_on_in_the_order_in_which_they_came(node: Node) -> None:
    node.move(ONE)
    node.forward()
    node.forward(replace(REQUEST, api_key=DELETE, api_version=6, message=DeleteTopicsRequest()))
    deleted = DeleteTopicsResponse(responses=[DeletableTopicResult(name="b")])
    node.respond(deleted, metadata_offset=8, index=1)
    node.respond(CREATED, metadata_offset=6, index=0)
    node.move(ONE, next_offset=6)
    assert node.results == [CREATED]
    node.move(ONE, next_offset=8)
    assert node.results == [CREATED, deleted]


def test_a_response_that_never_comes_into_force_here_is_given_up(node: Node) -> None:
    node.move(ONE)
    node.forward()
    node.respond(CREATED, metadata_offset=9)
    node.wait(TIMEOUT_MS)
    assert node.errors() == [UNKNOWN]
    node.move(ONE, next_offset=9)
    assert len(node.results) == 1 and node.timers.deadline is None


@pytest.mark.parametrize("failure", LOST)
def test_a_clients_request_that_may_have_been_taken_is_not_sent_again(
    node: Node, failure: AskFailure
) -> None:
    node.move(ONE)
    node.forward()
    node.answer(None, failure)
    assert node.errors() == [UNKNOWN]
    node.wait(TIMEOUT_MS)
    assert len(node.asked) == 1


def test_a_clients_request_that_was_certainly_not_taken_is_sent_again(node: Node) -> None:
    node.move(ONE)
    node.forward()
    node.answer(None, AskFailure.REFUSED)
    node.wait()
    node.refuse(KafkaError.NOT_CONTROLLER)
    node.wait()
    assert len(node.asked) == 3 and node.enclosed() == REQUEST
    node.respond(CREATED)
    assert node.results == [CREATED]


def test_nobody_waits_long_for_a_controller_that_was_replaced(node: Node) -> None:
    node.move(ONE)
    node.forward()
    node.move(TWO)
    assert len(node.asked) == 1
    node.wait(REQUEST_MS)
    assert node.errors() == [UNKNOWN]
    node.respond(CREATED, index=0)
    assert len(node.results) == 1


def test_a_controller_that_was_unknown_for_a_while_has_its_time(node: Node) -> None:
    """It was busy, and its followers asked for votes meanwhile."""
    node.move(ONE)
    node.forward()
    node.move()
    node.wait(2 * REQUEST_MS)
    node.move(ONE)
    node.wait(2 * REQUEST_MS)
    assert node.results == []
    node.respond(CREATED)
    assert node.results == [CREATED] and len(node.asked) == 1


def test_one_that_was_unknown_before_another_was_elected_is_not_waited_for(node: Node) -> None:
    node.move(ONE)
    node.forward()
    node.move()
    node.wait(2 * REQUEST_MS)
    node.move(TWO)
    node.wait(REQUEST_MS)
    assert node.errors() == [UNKNOWN]


def test_a_request_waits_for_a_controller_and_not_for_ever(node: Node) -> None:
    node.forward()
    node.wait(10 * RETRY_MS)
    assert node.asked == []
    node.move(TWO)
    assert [ask.peer for ask in node.asked] == [TWO]
    node.refuse(KafkaError.NOT_CONTROLLER)
    node.move()
    node.wait(TIMEOUT_MS)
    assert node.errors() == [UNKNOWN] and len(node.asked) == 1


def test_a_node_that_becomes_the_controller_handles_what_waits(node: Node) -> None:
    node.forward()
    node.submit(PEN)
    node.move(active=True)
    (request, _), (submitted, _) = node.here
    assert request == REQUEST
    assert isinstance(submitted, Request) and submitted.api_key == conversion_of(PEN).api_key
    node.finish(CREATED, 0)
    node.finish(conversion_of(PEN).to_response(PEN, {0: 5}), 1)
    assert node.results == [CREATED, {0: 5}]
    assert node.asked == [] and node.timers.deadline is not None
    node.wait(TIMEOUT_MS)
    assert node.timers.deadline is None


# --- nodes of two releases ---


def test_a_controller_of_an_older_release_gets_the_highest_version_that_it_serves(
    node: Node,
) -> None:
    node.move(ONE)
    node.forward()
    node.refuse(KafkaError.UNSUPPORTED_VERSION, highest_version=4)
    assert len(node.asked) == 2
    assert node.enclosed() == replace(REQUEST, api_version=4)
    node.respond(CreateTopicsResponse(topics=[CreatableTopicResult(name="a")]), 3)
    node.move(ONE, next_offset=3)
    assert node.results == [CreateTopicsResponse(topics=[CreatableTopicResult(name="a")])]


def test_what_an_older_version_cannot_say_is_refused_and_not_lost(node: Node) -> None:
    message = DeleteTopicsRequest(topics=[DeleteTopicState(name="a")])
    node.move(ONE)
    node.forward(replace(REQUEST, api_key=DELETE, api_version=6, message=message))
    node.refuse(KafkaError.UNSUPPORTED_VERSION, highest_version=5)
    assert node.errors() == [KafkaError.UNSUPPORTED_VERSION] and len(node.asked) == 1


@pytest.mark.parametrize("highest", [-1, 0, 7, 8])
def test_an_api_that_the_controller_does_not_have_is_refused(node: Node, highest: int) -> None:
    node.move(ONE)
    command = RAISE if highest == 0 else None
    if command is None:
        node.forward()
    else:
        node.submit(command)
    node.refuse(KafkaError.UNSUPPORTED_VERSION, highest_version=highest)
    assert node.errors() == [KafkaError.UNSUPPORTED_VERSION] and len(node.asked) == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (KafkaError.INVALID_REQUEST, KafkaError.INVALID_REQUEST),
        (999, KafkaError.UNKNOWN_SERVER_ERROR),
    ],
)
def test_an_envelope_that_is_refused_is_not_sent_again(
    node: Node, code: int, error: KafkaError
) -> None:
    node.move(ONE)
    node.forward()
    node.answer(EnvelopeResponse(error_code=code))
    assert node.errors() == [error] and len(node.asked) == 1


@pytest.mark.parametrize("data", [None, b"", b"\0\0\0\0\0\xff"])
def test_an_answer_that_cannot_be_read_is_an_unknown_outcome(
    node: Node, data: bytes | None
) -> None:
    node.move(ONE)
    node.forward()
    node.answer(EnvelopeResponse(response_data=data))
    assert node.errors() == [UNKNOWN]


# --- commands ---


def test_a_command_is_decided_here_by_the_active_controller(node: Node) -> None:
    node.move(active=True)
    node.submit(PEN)
    assert [what for what, _ in node.here] == [PEN]
    node.finish({0: 5})
    assert node.results == [{0: 5}] and node.asked == [] and node.timers.deadline is None


def test_a_command_travels_as_its_request_and_its_result_waits_for_the_image(node: Node) -> None:
    node.move(ONE)
    node.submit(PEN)
    enclosed = node.enclosed()
    assert (enclosed.api_key, enclosed.client_host) == (10_001, "")
    assert conversion_of(PEN).to_command(enclosed.message) == PEN
    node.decided(PEN, {0: 5}, metadata_offset=3)
    assert node.results == []
    node.move(ONE, next_offset=3)
    assert node.results == [{0: 5}]


def test_a_topic_that_a_node_needs_is_created_by_kafkas_own_request(node: Node) -> None:
    command = CreateTopics((NewTopic(name="a", partition_count=3),))
    node.move(ONE)
    node.submit(command)
    assert (node.enclosed().api_key, node.enclosed().api_version) == (19, 7)
    outcome = TopicOutcome(name="a", partition_count=3, replication_factor=1)
    node.decided(command, (outcome,))
    assert node.results == [(outcome,)]


def test_a_refusal_of_the_controller_waits_for_the_image_too(node: Node) -> None:
    """It may rest on something that this node has not read yet."""
    node.move(ONE)
    node.submit(PEN)
    node.decided(PEN, Refusal(KafkaError.POLICY_VIOLATION, "no"), metadata_offset=9)
    assert node.results == []
    node.move(ONE, next_offset=9)
    assert node.errors() == [KafkaError.POLICY_VIOLATION]
    assert node.results[0].because == "no"


@pytest.mark.parametrize("failure", LOST)
def test_a_command_that_may_have_been_taken_is_sent_again_only_where_that_is_harmless(
    node: Node, failure: AskFailure
) -> None:
    node.move(ONE)
    node.submit(RAISE)
    node.submit(PEN)
    assert [ask.timeout_ms for ask in node.asked] == [REQUEST_MS, TIMEOUT_MS]
    node.answer(None, failure, 0)
    node.answer(None, failure, 1)
    assert node.errors() == [UNKNOWN]
    node.wait()
    assert len(node.asked) == 3
    assert conversion_of(RAISE).to_command(node.enclosed().message) == RAISE


def test_a_command_that_may_be_repeated_has_a_channel_of_its_own(node: Node) -> None:
    """It is late sooner, and a late request ends all others of its channel, whose outcome is unknown then."""
    node.move(ONE)
    node.submit(PEN)
    node.submit(RAISE)
    assert [ask.channel for ask in node.asked] == [FORWARDING_CHANNEL, REPEATED_CHANNEL]
    assert node.asked[0].timeout_ms > node.asked[1].timeout_ms


@pytest.mark.parametrize("command", [RAISE, PEN])
def test_a_controller_that_lost_its_place_knows_no_more_than_a_lost_connection(
    node: Node, command: Submitted
) -> None:
    node.move(ONE)
    node.submit(command)
    node.decided(command, Refusal(UNKNOWN, "another node decides now"))
    node.wait()
    assert (len(node.asked), node.errors()) == ((2, []) if command is RAISE else (1, [UNKNOWN]))


@pytest.mark.parametrize("command", [RAISE, PEN])
def test_the_same_goes_for_this_node_itself(node: Node, command: Submitted) -> None:
    node.move(active=True)
    node.submit(command)
    node.finish(Refusal(UNKNOWN, "another node decides now"))
    node.move(TWO)
    node.wait()
    assert (len(node.asked), node.errors()) == ((1, []) if command is RAISE else (0, [UNKNOWN]))


def test_a_command_that_may_be_repeated_is_not_repeated_for_ever(node: Node) -> None:
    node.move(active=True)
    node.submit(RAISE)
    for _ in range(3):
        node.finish(Refusal(UNKNOWN))
        node.wait()
    assert len(node.here) == 4 and node.results == []
    node.wait(TIMEOUT_MS)
    node.finish(Refusal(UNKNOWN))
    assert node.errors() == [UNKNOWN] and node.timers.deadline is None
