"""Requests of a node's own to the active controller: here, elsewhere, or to nobody for the moment."""

import sys

import pytest

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import AskFailure
from brokers.ids import Instant
from brokers.membership.controller_channel import OWN_CHANNEL, REQUEST_MS, RETRY_MS, TIMEOUT_MS
from brokers.wire.messages.broker_lifecycle import (
    AllocateProducerIdsRequest,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from tests.unit.brokers.membership.controller_node import ONE, TWO, ControllerNode, Then

HEARTBEAT, ALLOCATE = 63, 67
BEAT, IDS = BrokerHeartbeatRequest(broker_id=7), AllocateProducerIdsRequest(broker_id=7)
FENCED, FREE = BrokerHeartbeatResponse(is_fenced=True), BrokerHeartbeatResponse(is_fenced=False)
NOT_TAKEN = BrokerHeartbeatResponse(error_code=KafkaError.NOT_CONTROLLER)


class Node(ControllerNode):
    def beat(self, timeout_ms: int = TIMEOUT_MS) -> None:
        self.take(
            self.channel.send(HEARTBEAT, BEAT, self.received, self.now, timeout_ms=timeout_ms)
        )

    def allocate(self) -> None:
        self.take(self.channel.send(ALLOCATE, IDS, self.received, self.now))


@pytest.fixture
def node() -> Node:
    return Node()


def test_on_the_active_controller_nothing_travels_and_nothing_waits(node: Node) -> None:
    node.move(active=True)
    node.beat()
    assert [what for what, _ in node.here] == [BEAT]
    assert node.timers.deadline is None
    node.finish(FREE)
    assert node.results == [FREE]
    assert node.asked == []


def test_requests_travel_as_they_are_in_the_highest_version(node: Node) -> None:
    node.move(ONE)
    node.beat()
    (ask,) = node.asked
    assert (ask.peer, ask.channel, ask.api_key, ask.api_version) == (ONE, OWN_CHANNEL, 63, 2)
    assert ask.message == BEAT
    assert ask.timeout_ms == REQUEST_MS
    node.answer(BrokerHeartbeatResponse(error_code=KafkaError.STALE_BROKER_EPOCH))
    assert node.results == [BrokerHeartbeatResponse(error_code=KafkaError.STALE_BROKER_EPOCH)]
    node.wait(TIMEOUT_MS)
    assert node.timers.deadline is None and len(node.results) == len(node.asked) == 1


def test_without_a_controller_everything_waits_for_one_and_goes_in_order(node: Node) -> None:
    node.allocate()
    node.beat()
    node.wait(10 * RETRY_MS)
    assert node.asked == []
    node.move(TWO)
    assert [ask.api_key for ask in node.asked] == [67, 63]


def test_waiting_has_an_end(node: Node) -> None:
    node.allocate()
    node.beat(timeout_ms=500)
    node.wait(500)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]
    node.wait(TIMEOUT_MS)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT] * 2
    node.move(ONE)
    assert node.asked == [] and node.timers.deadline is None


def test_what_was_certainly_not_taken_is_sent_again(node: Node) -> None:
    node.move(ONE)
    node.beat()
    node.answer(None, AskFailure.REFUSED)
    assert len(node.asked) == 1
    node.wait()
    node.answer(NOT_TAKEN)
    assert len(node.asked) == 2
    node.wait()
    node.answer(FREE)
    assert len(node.asked) == 3 and node.results == [FREE]


@pytest.mark.parametrize("failure", [AskFailure.CLOSED, AskFailure.TIMEOUT, AskFailure.UNREADABLE])
def test_what_may_have_been_taken_is_sent_again_too(node: Node, failure: AskFailure) -> None:
    node.move(ONE)
    node.allocate()
    node.answer(None, failure)
    assert node.results == []
    node.wait()
    assert [ask.api_key for ask in node.asked] == [67, 67]
    assert node.asked[1].message == IDS


def test_a_controller_that_does_not_know_the_request_is_not_asked_again(node: Node) -> None:
    node.move(ONE)
    node.allocate()
    node.answer(None, AskFailure.UNSUPPORTED_VERSION)
    (refusal,) = node.results
    assert isinstance(refusal, Refusal) and refusal.error is KafkaError.UNSUPPORTED_VERSION
    node.wait(TIMEOUT_MS)
    assert len(node.asked) == 1


def test_a_controller_that_ceases_to_be_active_here_leaves_the_request_to_the_next(
    node: Node,
) -> None:
    node.move(active=True)
    node.beat()
    node.finish(NOT_TAKEN)
    assert node.results == [] and node.asked == []
    node.move(TWO)
    node.wait()
    assert [(ask.peer, ask.api_key) for ask in node.asked] == [(TWO, 63)]


def test_a_request_leaves_a_controller_that_was_replaced(node: Node) -> None:
    """A stalled one would answer when it wakes up."""
    node.move(ONE)
    node.beat()
    node.move(TWO)
    assert [(ask.peer, ask.api_key) for ask in node.asked] == [(ONE, 63), (TWO, 63)]
    node.answer(FENCED, index=0)
    assert node.results == []
    node.answer(FREE, index=1)
    assert node.results == [FREE]


def test_a_node_that_becomes_the_controller_answers_itself(node: Node) -> None:
    node.move(ONE)
    node.beat()
    node.answer(None, AskFailure.REFUSED)
    node.move(active=True)
    assert [what for what, _ in node.here] == [BEAT]
    node.wait(TIMEOUT_MS)
    assert len(node.here) == 1 and node.timers.deadline is None
    node.finish(FREE)
    assert node.results == [FREE] and len(node.asked) == 1


def test_an_answer_from_elsewhere_comes_too_late_for_the_new_controller(node: Node) -> None:
    node.move(ONE)
    node.beat()
    node.move(active=True)
    node.answer(FENCED)
    assert node.results == []
    node.finish(FREE)
    assert node.results == [FREE]


class Deciding(Node):
    """Decides at once; after each change of the metadata log a node looks again who the controller is."""

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        return self.channel.progressed(now) + then(FREE, now)


def test_however_many_requests_wait_for_a_node_that_becomes_the_controller() -> None:
    node, count = Deciding(), sys.getrecursionlimit()
    for _ in range(count):
        node.beat()
    node.move(active=True)
    assert node.results == [FREE] * count
    assert node.timers.deadline is not None  # the tick that was armed while they waited
    node.wait()
    assert node.timers.deadline is None
