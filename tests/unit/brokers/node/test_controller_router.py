"""Requests that only the active controller decides: decided here, forwarded, or refused in the words of their API."""

from typing import Any

import pytest

from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, AskFailure, Listener, Request
from brokers.ids import Peer
from brokers.membership.envelopes import enclose, enclose_response
from brokers.metadata.image.image import Image
from brokers.metadata.requests.conversions import OWN_APIS
from brokers.wire import codec
from brokers.wire.layout import Layout
from brokers.wire.messages.forwarding import EnvelopeResponse
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.unit.brokers.wiring import Wiring

CREATE, ENVELOPE, NOW = 19, 58, 5_000
TWO = Peer(2, "h2", 9093)
ASKED = CreateTopicsRequest(topics=[CreatableTopic(name="a")])
REQUEST = Request(9, CREATE, 7, "admin", "10.1.2.3", ASKED)


class Raft:
    """Stands for `RaftManager`: a test says who is active; `proposed` is never decided."""

    def __init__(self) -> None:
        self.image = Image("region-one")
        self.is_active = False
        self.controller: Peer | None = TWO
        self.proposed: list[Any] = []

    def propose(self, command: Any, token: int, now: int, origin: Any = None) -> list[Any]:
        self.proposed.append((command, token))
        return []


class Node:
    def __init__(self) -> None:
        self.raft = Raft()
        self.wiring = Wiring(from_settings({"node.id": 1, "log.dirs": "data"}), self.raft)
        self.apis = self.wiring.handlers.controller_apis

    def receive(self, request: Request) -> list[Effect]:
        return self.wiring.handlers.by_listener[request.listener][request.api_key](request, NOW)

    def answer(self, ask: Ask, message: object, failure: AskFailure = AskFailure.NONE) -> Any:
        answered = Answered(ask.ticket, message, failure)
        return self.wiring.continuations.peer_answered(answered, NOW)


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.mark.parametrize("listener", Listener)
def test_elsewhere_the_request_is_forwarded_and_the_response_passed_on(
    node: Node, listener: Listener
) -> None:
    (ask,) = node.receive(Request(9, CREATE, 7, "admin", "10.1.2.3", ASKED, listener))
    assert isinstance(ask, Ask) and (ask.peer, ask.api_key) == (TWO, ENVELOPE)
    assert ask.message == enclose(REQUEST)
    response = CreateTopicsResponse(topics=[CreatableTopicResult(name="a")])
    effects = node.answer(ask, enclose_response(REQUEST, response, 0))
    assert effects == [Reply(9, response)]


def test_where_nobody_knows_the_outcome_each_topic_is_answered_with_it(node: Node) -> None:
    (ask,) = node.receive(REQUEST)
    assert isinstance(ask, Ask)
    (reply,) = node.answer(ask, None, AskFailure.CLOSED)
    (topic,) = reply.message.topics
    assert (topic.name, topic.error_code) == ("a", KafkaError.REQUEST_TIMED_OUT)


def test_the_active_controller_decides(node: Node) -> None:
    node.raft.is_active = True
    assert node.receive(REQUEST) == []
    ((command, token),) = node.raft.proposed
    assert [item.name for item in command.items] == ["a"]
    refusal = Refusal(KafkaError.POLICY_VIOLATION, "no")
    (reply,) = node.wiring.controller.decided(token, refusal, NOW)
    assert isinstance(reply, Reply) and reply.ticket == 9
    assert reply.message.topics[0].error_code == KafkaError.POLICY_VIOLATION  # type: ignore[attr-defined]


def test_a_decision_that_another_node_may_have_undone_is_no_reason_to_ask_again(
    node: Node,
) -> None:
    """With NOT_CONTROLLER a client would repeat what may have been done."""
    node.raft.is_active = True
    node.receive(REQUEST)
    ((_, token),) = node.raft.proposed
    (reply,) = node.wiring.controller.decided(token, Refusal(KafkaError.NOT_CONTROLLER), NOW)
    assert isinstance(reply, Reply)
    assert reply.message.topics[0].error_code == KafkaError.REQUEST_TIMED_OUT  # type: ignore[attr-defined]


def test_a_node_that_is_not_the_active_controller_takes_no_envelope(node: Node) -> None:
    request = Request(9, ENVELOPE, 0, None, "", enclose(REQUEST), Listener.CONTROLLER)
    assert node.receive(request) == [
        Reply(9, EnvelopeResponse(error_code=KafkaError.NOT_CONTROLLER))
    ]
    assert node.raft.proposed == []


def test_requests_of_our_own_are_served_in_envelopes_only(node: Node) -> None:
    assert set(OWN_APIS) < set(node.apis)
    for served in node.wiring.handlers.by_listener.values():
        assert not set(OWN_APIS) & set(served)


def layouts() -> list[Layout]:
    keys = Node().apis
    return [
        codec.layout(f"{codec.API_NAMES[key]}Request", version)
        for key in keys
        for version in range(codec.VERSIONS[key][0], codec.VERSIONS[key][1] + 1)
    ]


@pytest.mark.parametrize("layout", layouts(), ids=lambda layout: layout.title)
def test_every_api_has_a_response_in_every_version_where_nobody_decided(
    node: Node, layout: Layout
) -> None:
    key = layout.schema.key
    assert key is not None
    message = layout.python_class(layout.schema.name)()
    refusal = Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody has answered")
    request = Request(1, key, layout.version, None, "", message)
    response = node.apis[key].refusal(request, refusal)
    data = b"".join(map(bytes, codec.encode_response(key, layout.version, response)))
    assert codec.decode_response(key, layout.version, data, 0) == response
