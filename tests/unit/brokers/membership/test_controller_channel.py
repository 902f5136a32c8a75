"""Errands to the active controller: here, elsewhere, or to nobody for the moment."""

from collections.abc import Callable
from typing import Any

import pytest

from brokers.effects import Ask, Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, AskFailure
from brokers.ids import Instant, Peer
from brokers.membership.controller_channel import (
    COMMAND_CHANNEL,
    CONTROL_CHANNEL,
    PATIENCE_MS,
    REQUEST_MS,
    TICK_MS,
    ControllerChannel,
)
from brokers.membership.encoding import Outcome, decode_command, encode_outcome
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.commands.topic_commands import DeleteTopics
from brokers.timers import Timers
from brokers.wire.messages.broker_lifecycle import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from brokers.wire.messages.forwarding import EnvelopeRequest, EnvelopeResponse

ONE, TWO = Peer(1, "a", 91), Peer(2, "b", 92)
HEARTBEAT = 63
BLOCK = ProducerIdBlock(10, 20)
IDS, DELETE = AllocateProducerIds(7), DeleteTopics(("a",))
LOST = [AskFailure.CLOSED, AskFailure.TIMEOUT, AskFailure.UNREADABLE]


class Node:
    """A node that knows what a test tells it; `here` is what it was asked to do itself."""

    def __init__(self) -> None:
        self.is_active = False
        self.controller: Peer | None = None
        self.next_offset = 0
        self.now = 1_000
        self.timers = Timers()
        self.channel = ControllerChannel(self, self.timers)
        self.asked: list[Ask] = []
        self.here: list[tuple[object, Callable[[Any, Instant], list[Effect]]]] = []
        self.told: list[Any] = []
        self._then: dict[int, Callable[[Answered, Instant], list[Effect]]] = {}

    # --- what the channel needs ---

    def ask(self, *about: Any) -> list[Effect]:
        *fields, then = about
        ask = Ask(len(self._then), *fields)
        self._then[ask.ticket] = then
        return [ask]

    def serve(self, api_key: int, message: object, then: Any, now: Instant) -> list[Effect]:
        self.here.append((message, then))
        return []

    def decide(self, command: Command, then: Any, now: Instant) -> list[Effect]:
        self.here.append((command, then))
        return []

    def settled(self, then: Any, result: object, now: Instant) -> list[Effect]:
        return [Changed("logs", "open"), *then(result, now)]

    # --- what a test does ---

    def propose(self, command: Command) -> None:
        self._take(self.channel.propose(command, self._tell, self.now))

    def beat(self, patience_ms: int = PATIENCE_MS) -> None:
        message = BrokerHeartbeatRequest(broker_id=7)
        effects = self.channel.control(
            HEARTBEAT, message, self._tell, self.now, patience_ms=patience_ms
        )
        self._take(effects)

    def move(
        self, controller: Peer | None = None, *, active: bool = False, next_offset: int = 0
    ) -> None:
        self.controller, self.is_active, self.next_offset = controller, active, next_offset
        self._take(self.channel.moved(self.now))

    def answer(
        self, message: object | None, failure: AskFailure = AskFailure.NONE, index: int = -1
    ) -> None:
        ticket = self.asked[index].ticket
        self._take(self._then.pop(ticket)(Answered(ticket, message, failure), self.now))

    def finish(self, result: object, index: int = -1) -> None:
        """What was asked of this node itself is done."""
        self._take(self.here[index][1](result, self.now))

    def wait(self, milliseconds: int = TICK_MS) -> None:
        until = self.now + milliseconds
        while (due := self.timers.deadline) is not None and due <= until:
            self.now = due
            for act in self.timers.due(due):
                self._take(act(due))
        self.now = until

    def _tell(self, result: Any, now: Instant) -> list[Effect]:
        self.told.append(result)
        return []

    def _take(self, effects: list[Effect]) -> None:
        self.asked += [effect for effect in effects if isinstance(effect, Ask)]

    def errors(self) -> list[KafkaError]:
        return [each.error for each in self.told if isinstance(each, Refusal)]


@pytest.fixture
def node() -> Node:
    return Node()


def decided(
    result: object, next_offset: int = 5, command: type = AllocateProducerIds
) -> EnvelopeResponse:
    return EnvelopeResponse(response_data=encode_outcome(command, Outcome(result, next_offset)))


def refused(error: int) -> EnvelopeResponse:
    return EnvelopeResponse(error_code=error)


def test_on_the_active_controller_nothing_travels_and_nothing_waits(node: Node) -> None:
    node.move(active=True)
    node.propose(IDS)
    node.beat()
    assert [what for what, _ in node.here] == [IDS, BrokerHeartbeatRequest(broker_id=7)]
    assert node.timers.deadline is None
    node.finish(BLOCK, 0)
    node.finish(BrokerHeartbeatResponse(is_fenced=False), 1)
    assert node.told == [BLOCK, BrokerHeartbeatResponse(is_fenced=False)]
    assert node.asked == []


def test_a_command_travels_and_its_result_waits_for_the_image(node: Node) -> None:
    node.move(ONE)
    node.propose(IDS)
    (ask,) = node.asked
    assert (ask.peer, ask.channel, ask.api_key, ask.api_version) == (ONE, COMMAND_CHANNEL, 58, 0)
    assert isinstance(ask.message, EnvelopeRequest)
    assert decode_command(ask.message.request_data) == IDS
    node.answer(decided(BLOCK, next_offset=5))
    assert node.told == []
    node.move(ONE, next_offset=4)
    assert node.told == []
    node.move(ONE, next_offset=5)
    assert node.told == [BLOCK]
    node.wait(PATIENCE_MS)
    assert node.timers.deadline is None and len(node.told) == len(node.asked) == 1


def test_kafkas_own_requests_travel_as_they_are(node: Node) -> None:
    node.move(ONE)
    node.beat()
    (ask,) = node.asked
    assert (ask.peer, ask.channel, ask.api_key, ask.api_version) == (ONE, CONTROL_CHANNEL, 63, 2)
    assert ask.message == BrokerHeartbeatRequest(broker_id=7)
    assert ask.timeout_ms == REQUEST_MS
    node.answer(BrokerHeartbeatResponse(error_code=KafkaError.STALE_BROKER_EPOCH))
    assert node.told == [BrokerHeartbeatResponse(error_code=KafkaError.STALE_BROKER_EPOCH)]


def test_without_a_controller_everything_waits_for_one_and_goes_in_order(node: Node) -> None:
    node.propose(IDS)
    node.beat()
    node.wait(10 * TICK_MS)
    assert node.asked == []
    node.move(TWO)
    assert [ask.api_key for ask in node.asked] == [58, 63]


def test_waiting_has_an_end(node: Node) -> None:
    node.propose(DELETE)
    node.beat(patience_ms=500)
    node.wait(500)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]
    node.wait(PATIENCE_MS)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT] * 2
    node.move(ONE)
    assert node.asked == [] and node.timers.deadline is None


@pytest.mark.parametrize("command", [IDS, DELETE])
def test_what_was_certainly_not_taken_is_brought_again(node: Node, command: Command) -> None:
    node.move(ONE)
    node.propose(command)
    node.answer(None, AskFailure.REFUSED)
    assert len(node.asked) == 1
    node.wait()
    node.answer(refused(KafkaError.NOT_CONTROLLER))
    assert len(node.asked) == 2
    node.wait()
    node.answer(decided((), 0, DeleteTopics) if command is DELETE else decided(BLOCK, 0))
    assert len(node.asked) == 3 and len(node.told) == 1 and node.errors() == []


@pytest.mark.parametrize("failure", LOST)
def test_what_may_have_been_taken_is_brought_again_only_where_that_is_harmless(
    node: Node, failure: AskFailure
) -> None:
    node.move(ONE)
    node.propose(IDS)
    node.propose(DELETE)
    node.beat()
    for index in range(3):
        node.answer(None, failure, index)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]
    node.wait()
    assert [ask.api_key for ask in node.asked[3:]] == [58, 63]
    assert decode_command(node.asked[3].message.request_data) == IDS  # type: ignore[attr-defined]


def test_a_controller_that_lost_its_place_knows_no_more_than_a_lost_connection(node: Node) -> None:
    node.move(ONE)
    for command in (IDS, DELETE):
        node.propose(command)
        outcome = Refusal(KafkaError.NOT_CONTROLLER, "it leads no more")
        node.answer(decided(outcome, command=type(command)))
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]
    node.wait()
    assert len(node.asked) == 3


def test_the_same_goes_for_this_node_itself(node: Node) -> None:
    node.move(active=True)
    for command in (IDS, DELETE):
        node.propose(command)
        node.finish(Refusal(KafkaError.NOT_CONTROLLER, "it leads no more"))
    node.beat()
    node.finish(BrokerHeartbeatResponse(error_code=KafkaError.NOT_CONTROLLER))
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT] and node.asked == []
    node.move(TWO)
    node.wait()
    assert [(ask.peer, ask.api_key) for ask in node.asked] == [(TWO, 58), (TWO, 63)]


def test_what_is_harmless_leaves_a_controller_that_was_replaced(node: Node) -> None:
    """A stalled one would answer when it wakes up."""
    node.move(ONE)
    node.beat()
    node.propose(DELETE)
    node.move(TWO)
    assert [(ask.peer, ask.api_key) for ask in node.asked] == [(ONE, 63), (ONE, 58), (TWO, 63)]
    node.answer(BrokerHeartbeatResponse(is_fenced=True), index=0)
    assert node.told == []
    node.answer(BrokerHeartbeatResponse(is_fenced=False), index=2)
    assert node.told == [BrokerHeartbeatResponse(is_fenced=False)]
    node.wait(REQUEST_MS)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]  # of the deletion: nobody knows
    node.answer(decided((), 0, DeleteTopics), index=1)
    assert len(node.told) == 2


def test_a_node_that_becomes_the_controller_does_its_errands_itself(node: Node) -> None:
    node.move(ONE)
    node.beat()
    node.answer(None, AskFailure.REFUSED)
    node.propose(DELETE)
    node.answer(None, AskFailure.REFUSED)
    node.move(active=True)
    assert [what for what, _ in node.here] == [BrokerHeartbeatRequest(broker_id=7), DELETE]
    node.finish((), 1)
    assert node.told == [()]
    node.wait(PATIENCE_MS)
    assert len(node.here) == 2 and node.timers.deadline is None


def test_a_refusal_of_the_controller_is_in_force_where_it_was_decided(node: Node) -> None:
    """It may rest on something that this node has not heard of yet."""
    node.move(ONE)
    node.propose(DELETE)
    refusal = Refusal(KafkaError.INVALID_REQUEST, "no")
    node.answer(decided(refusal, next_offset=9, command=DeleteTopics))
    assert node.told == []
    node.move(ONE, next_offset=9)
    assert node.errors() == [KafkaError.INVALID_REQUEST]


def test_a_result_that_never_comes_true_here_is_given_up(node: Node) -> None:
    node.move(ONE)
    node.propose(DELETE)
    node.answer(decided((), 9, DeleteTopics))
    node.wait(PATIENCE_MS + TICK_MS)
    assert node.errors() == [KafkaError.REQUEST_TIMED_OUT]
    node.move(ONE, next_offset=9)
    assert len(node.told) == 1


@pytest.mark.parametrize(
    "response",
    [decided(BLOCK, 0), EnvelopeResponse(), refused(KafkaError.INVALID_REQUEST), refused(999)],
)
def test_an_answer_to_something_else_is_no_result(node: Node, response: EnvelopeResponse) -> None:
    node.move(ONE)
    node.propose(DELETE)
    node.answer(response)
    assert len(node.errors()) == 1
