"""UpdateFeatures, ControllerRegistration and the controllers' DescribeCluster, as their clients read them."""

from typing import Any
from uuid import UUID

import pytest

from brokers.api import controller_registration, update_features
from brokers.config.broker_config import from_settings
from brokers.effects import Reply
from brokers.errors import KafkaError
from brokers.events import Listener, Request
from brokers.wire import codec
from brokers.wire.messages.broker_lifecycle import ControllerRegistrationRequest, Feature
from brokers.wire.messages.broker_lifecycle import Listener as Endpoint
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.playbooks.metadata.host import NOW
from tests.unit.brokers.api.asking import Node

CONTROLLER = from_settings(
    {
        "node.id": 1,
        "log.dirs": "data",
        "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    }
)


def update(version: int, **fields: Any) -> Any:
    wanted = FeatureUpdateKey(**{"feature": "metadata.version", "max_version_level": 30, **fields})
    return Node().ask(update_features, version, UpdateFeaturesRequest(feature_updates=[wanted]))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_levels_that_are_in_force_are_accepted(version: int) -> None:
    answer = update(version)
    assert answer.error_code == 0
    assert [each.feature for each in answer.results] == ["metadata.version"] * (version < 2)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_refusal_is_of_all(version: int) -> None:
    answer = update(version, max_version_level=31)
    assert answer.error_code == KafkaError.INVALID_UPDATE_VERSION
    assert "supports 7 to 30" in answer.error_message
    assert answer.results == []


def test_older_versions_say_otherwise_that_a_downgrade_is_meant() -> None:
    down = {"max_version_level": 29, "allow_downgrade": True}
    assert "may hold what 29 cannot" in update(0, **down).error_message
    assert "must be asked for as one" in update(0, max_version_level=29).error_message
    assert "may hold what 29 cannot" in update(2, max_version_level=29, upgrade_type=2).error_message  # fmt: skip


def test_the_version_of_the_quorum_is_not_for_operators() -> None:
    assert update(2, feature="kraft.version", max_version_level=0).error_code == 0
    refused = update(2, feature="kraft.version", max_version_level=1)
    assert "raised by itself" in refused.error_message


def at_controllers(node: Node, **fields: Any) -> Any:
    message = DescribeClusterRequest(**fields)
    asked = Request(7, 60, 2, "client", "host", message, Listener.CONTROLLER)
    (reply,) = node.wiring.handle(asked, NOW)
    assert isinstance(reply, Reply)
    body = b"".join(map(bytes, codec.encode_response(60, 2, reply.message)))  # type: ignore[arg-type]
    return codec.decode_response(60, 2, body, 0)


def test_controllers_that_registered_are_described_where_controllers_listen() -> None:
    node = Node(CONTROLLER)
    for controller, port in ((2, 94), (1, 93)):
        wanted = ControllerRegistrationRequest(
            controller_id=controller,
            incarnation_id=UUID(int=controller),
            listeners=[
                Endpoint(name="OTHER", host="h", port=1),
                Endpoint(name="CONTROLLER", host=f"h{controller}", port=port),
            ],
            features=[Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
        )  # fmt: skip
        assert node.ask(controller_registration, 0, wanted).error_code == 0
    answer = at_controllers(node, endpoint_type=2)
    assert (answer.error_code, answer.endpoint_type, answer.cluster_id) == (0, 2, "region-one")
    assert answer.controller_id == 1
    found = [(each.broker_id, each.host, each.port) for each in answer.brokers]
    assert found == [(1, "h1", 93), (2, "h2", 94)]


def test_brokers_are_not_described_where_controllers_listen() -> None:
    wrong = at_controllers(Node(CONTROLLER), endpoint_type=1)
    assert wrong.error_code == KafkaError.MISMATCHED_ENDPOINT_TYPE
    unknown = at_controllers(Node(CONTROLLER), endpoint_type=7)
    assert unknown.error_code == KafkaError.UNSUPPORTED_ENDPOINT_TYPE
