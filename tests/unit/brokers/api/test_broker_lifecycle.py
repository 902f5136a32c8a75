"""Registrations, heartbeats and farewells of brokers, as the active controller hears them."""

from typing import Any
from uuid import UUID

import pytest

from brokers.api import broker_heartbeat, broker_registration, unregister_broker
from brokers.errors import KafkaError
from brokers.ids import Instant
from brokers.metadata.cluster.broker_registration import FEATURES
from brokers.wire.messages.broker_lifecycle import (
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    Feature,
    Listener,
    UnregisterBrokerRequest,
)
from tests.unit.brokers.api.asking import Node

LIFE, DISK = UUID(int=7), UUID(int=70)


def registration(**changed: Any) -> BrokerRegistrationRequest:
    told: dict[str, Any] = {
        "broker_id": 2,
        "cluster_id": "region-one",
        "incarnation_id": LIFE,
        "listeners": [
            Listener(name="PLAINTEXT", host="here", port=9092),
            Listener(name="OTHER", host="elsewhere", port=1),
        ],
        "features": [
            Feature(name=each.name, min_supported_version=each.lowest, max_supported_version=each.highest)
            for each in FEATURES
        ],
        "rack": "a",
        "host_label": "machine-3",
        "log_dirs": [DISK],
    }  # fmt: skip
    return BrokerRegistrationRequest(**(told | changed))


def register(node: Node) -> int:
    answer = node.ask(broker_registration, 4, registration())
    assert answer.error_code == KafkaError.NONE
    return int(answer.broker_epoch)


def beat(node: Node, broker_epoch: int, **changed: Any) -> Any:
    told = {"broker_id": 2, "broker_epoch": broker_epoch, "current_metadata_offset": 10_000}
    return node.ask(broker_heartbeat, 2, BrokerHeartbeatRequest(**(told | changed)))


def test_a_new_broker_is_registered_with_all_it_says_and_fenced_at_first() -> None:
    node = Node()
    broker_epoch = register(node)
    broker = node.image.brokers[2]
    assert (broker.broker_epoch, broker.incarnation, broker.log_dirs) == (
        broker_epoch,
        LIFE,
        (DISK,),
    )
    assert (broker.host, broker.port, broker.rack, broker.host_label) == (
        "here",
        9092,
        "a",
        "machine-3",
    )
    assert broker.fenced
    assert broker.endpoints == (("PLAINTEXT", "here", 9092), ("OTHER", "elsewhere", 1))
    assert broker.endpoint("OTHER") == ("OTHER", "elsewhere", 1)
    assert broker.endpoint("CLIENTS") is None


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"cluster_id": "another"}, KafkaError.INCONSISTENT_CLUSTER_ID),
        ({"listeners": []}, KafkaError.INVALID_REGISTRATION),
        ({"features": []}, KafkaError.UNSUPPORTED_VERSION),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_region_is_refused(changed: Any, error: KafkaError) -> None:
    node = Node()
    assert node.ask(broker_registration, 4, registration(**changed)).error_code == error
    assert 2 not in node.image.brokers


def test_a_broker_is_let_in_once_it_knows_of_itself() -> None:
    node = Node()
    broker_epoch = register(node)
    behind = beat(node, broker_epoch, current_metadata_offset=broker_epoch - 1)
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    unready = beat(node, broker_epoch, want_fence=True)
    assert (unready.is_caught_up, unready.is_fenced) == (True, True)
    ready = beat(node, broker_epoch)
    assert (ready.is_fenced, ready.should_shut_down) == (False, False)
    assert not node.image.brokers[2].fenced


def test_a_broker_on_which_nothing_depends_may_leave() -> None:
    node = Node()
    broker_epoch = register(node)
    beat(node, broker_epoch)
    wants = {"want_shut_down": True, "want_fence": True}
    assert any(beat(node, broker_epoch, **wants).should_shut_down for _ in range(2))


def test_another_life_of_it_beats_in_vain() -> None:
    node = Node()
    broker_epoch = register(node)
    assert beat(node, broker_epoch + 1).error_code == KafkaError.STALE_BROKER_EPOCH


def test_every_heartbeat_from_elsewhere_is_heard() -> None:
    node = Node()
    beat(node, register(node))
    assert node.wiring.heard_from == [(2, 2)]


def test_a_node_tells_itself_the_same() -> None:
    node, told = Node(), []

    def then(response: Any, now: Instant) -> list[Any]:
        told.append(response)
        return []

    node._take(node.wiring.channel.send(broker_registration.KEY, registration(), then, 0))
    node.settle()
    assert told[0].broker_epoch == node.image.brokers[2].broker_epoch


def test_a_broker_is_forgotten_where_an_operator_says_so() -> None:
    node = Node()
    register(node)
    answer = node.ask(unregister_broker, 0, UnregisterBrokerRequest(broker_id=2))
    assert (answer.error_code, answer.error_message) == (KafkaError.NONE, None)
    assert 2 not in node.image.brokers
    answer = node.ask(unregister_broker, 0, UnregisterBrokerRequest(broker_id=2))
    assert answer.error_code == KafkaError.BROKER_ID_NOT_REGISTERED
    assert "broker 2" in answer.error_message
