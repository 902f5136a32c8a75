"""A node's loggers as configurations of Kafka's resource type BROKER_LOGGER."""

from collections.abc import Mapping
from typing import Any

import pytest

from brokers.api import describe_configs, incremental_alter_configs
from brokers.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from tests.unit.brokers.api.asking import Node

LOGGER, TOPIC = 8, 2
SET, DELETE, APPEND = 0, 1, 2
INVALID_CONFIG, INVALID_REQUEST = 40, 42


class Levels:
    """Loggers that stand beside each other: without a level of its own, one has the root's."""

    def __init__(self) -> None:
        self._own: dict[str, str | None] = {
            "root": "INFO",
            "brokers": None,
            "brokers.shell.peers": "WARN",
        }

    def levels(self) -> Mapping[str, str]:
        return {name: level or str(self._own["root"]) for name, level in self._own.items()}

    def set_level(self, logger: str, level: str | None) -> None:
        self._own[logger] = level


@pytest.fixture
def node() -> Node:
    return Node(log_levels=Levels())


def described(node: Node, name: str = "1", keys: list[str] | None = None) -> Any:
    resource = DescribeConfigsResource(
        resource_type=LOGGER, resource_name=name, configuration_keys=keys
    )
    (result,) = node.ask(describe_configs, 4, DescribeConfigsRequest(resources=[resource])).results
    return result


def levels(node: Node) -> dict[str, str]:
    return {each.name: each.value for each in described(node).configs}


def alter(node: Node, *changes: tuple[str, int, str | None], name: str = "1", **more: Any) -> Any:
    configs = [
        IncrementalAlterableConfig(name=logger, config_operation=operation, value=value)
        for logger, operation, value in changes
    ]
    resource = IncrementalAlterConfigsResource(
        resource_type=LOGGER, resource_name=name, configs=configs
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], **more)
    (response,) = node.ask(incremental_alter_configs, 1, request).responses
    return response


def test_every_logger_is_described_with_its_level(node: Node) -> None:
    assert levels(node) == {"brokers": "INFO", "brokers.shell.peers": "WARN", "root": "INFO"}
    (config,) = described(node, keys=["root"]).configs
    assert (config.config_source, config.read_only, config.is_sensitive) == (6, False, False)


def test_levels_are_set_and_given_back_and_the_operator_is_told(node: Node) -> None:
    assert (
        alter(node, ("brokers", SET, "TRACE"), ("brokers.shell.peers", DELETE, None)).error_code
        == 0
    )
    assert levels(node) == {"brokers": "TRACE", "brokers.shell.peers": "INFO", "root": "INFO"}
    assert [(each.what, each.to) for each in node.changes] == [
        ("logger brokers", "TRACE"), ("logger brokers.shell.peers", "the level of its parent"),
    ]  # fmt: skip
    assert node.image.configs == {} == dict(node.image.config((LOGGER, "1"))), (
        "it is the node's alone"
    )


def test_a_trial_changes_nothing(node: Node) -> None:
    assert alter(node, ("brokers", SET, "TRACE"), validate_only=True).error_code == 0
    assert levels(node)["brokers"] == "INFO"


@pytest.mark.parametrize(
    ("change", "error", "because"),
    [
        (("nope", SET, "INFO"), INVALID_CONFIG, "there is no logger nope"),
        (("brokers", SET, "LOUD"), INVALID_CONFIG, "a level is one of TRACE"),
        (("brokers", SET, None), INVALID_CONFIG, "a level is one of TRACE"),
        (("brokers", APPEND, "INFO"), INVALID_REQUEST, "set or deleted"),
        (("brokers", 9, "INFO"), INVALID_REQUEST, "brokers"),
        (("root", SET, "INFO"), INVALID_REQUEST, "root appears twice"),
    ],
)
def test_what_is_no_level_of_a_logger_is_refused_and_nothing_is_set(
    node: Node, change: tuple[str, int, str | None], error: int, because: str
) -> None:
    before = levels(node)
    response = alter(node, ("root", SET, "FATAL"), change)
    assert response.error_code == error
    assert because in response.error_message
    assert levels(node) == before


def test_the_root_logger_keeps_a_level(node: Node) -> None:
    response = alter(node, ("brokers", SET, "FATAL"), ("root", DELETE, None))
    assert response.error_code == INVALID_REQUEST
    assert "has no parent" in response.error_message
    assert levels(node)["brokers"] == "INFO"


def test_another_node_is_to_be_asked_itself(node: Node) -> None:
    assert described(node, "2").error_code == INVALID_REQUEST
    assert alter(node, ("root", SET, "INFO"), name="2").error_code == INVALID_REQUEST


def test_a_request_about_loggers_and_topics_is_the_controllers() -> None:
    node = Node(log_levels=Levels())
    level = IncrementalAlterableConfig(name="root", config_operation=SET, value="FATAL")
    resources = [
        IncrementalAlterConfigsResource(resource_type=LOGGER, resource_name="1", configs=[level]),
        IncrementalAlterConfigsResource(resource_type=TOPIC, resource_name="nope", configs=[]),
    ]
    answer = node.ask(
        incremental_alter_configs, 1, IncrementalAlterConfigsRequest(resources=resources)
    )
    assert {each.resource_type: each.error_code for each in answer.responses} == {
        LOGGER: INVALID_REQUEST,
        TOPIC: 3,
    }
    assert levels(node)["root"] == "INFO"


def test_a_node_without_loggers_has_none() -> None:
    assert described(Node()).configs == []
