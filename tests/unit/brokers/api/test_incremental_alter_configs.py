"""IncrementalAlterConfigs: one key at a time."""

import pytest

from brokers.api import incremental_alter_configs
from brokers.errors import KafkaError
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from tests.unit.brokers.api.asking import Node

SET, DELETE, APPEND, SUBTRACT = range(4)


def node_with_t() -> Node:
    node = Node()
    configs = {"retention.ms": "5", "segment.ms": "6"}
    node.do(CreateTopics((NewTopic(name="t", configs=configs),)))
    return node


def resource(
    name: str, *changes: tuple[str, int, str | None], kind: int = 2
) -> IncrementalAlterConfigsResource:
    configs = [
        IncrementalAlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    return IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


@pytest.mark.parametrize("version", range(2))
def test_what_is_not_named_stays(version: int) -> None:
    node = node_with_t()
    changes = (
        ("retention.ms", SET, "9"),
        ("segment.ms", DELETE, None),
        ("flush.messages", SET, "1"),
    )
    request = IncrementalAlterConfigsRequest(resources=[resource("t", *changes)])
    (item,) = node.ask(incremental_alter_configs, version, request).responses
    assert (item.resource_type, item.resource_name, item.error_code) == (2, "t", 0)
    assert node.image.config((2, "t")) == {"retention.ms": "9", "flush.messages": "1"}


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (
            resource("t", ("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
            KafkaError.INVALID_REQUEST,
        ),
        (resource("t", ("retention.ms", 7, "1")), KafkaError.INVALID_REQUEST),
        (resource("t", ("retention.ms", SET, None)), KafkaError.INVALID_REQUEST),
        (resource("t", ("retention.ms", APPEND, "1")), KafkaError.INVALID_CONFIG),
        (resource("t", ("cleanup.policy", SUBTRACT, "delete")), KafkaError.INVALID_CONFIG),
        (resource("t", ("remote.storage.enable", SET, "true")), KafkaError.INVALID_CONFIG),
        (resource("nope"), KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        (resource("1", ("num.partitions", SET, "1"), kind=4), KafkaError.INVALID_REQUEST),
        (resource("1", kind=16), KafkaError.INVALID_REQUEST),
        (resource("m", ("retention.ms", SET, "1")), KafkaError.POLICY_VIOLATION),
    ],
)
def test_each_flaw_has_its_error_and_changes_nothing(
    item: IncrementalAlterConfigsResource, error: KafkaError
) -> None:
    node = node_with_t()
    node.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    request = IncrementalAlterConfigsRequest(resources=[item])
    (answer,) = node.ask(incremental_alter_configs, 1, request).responses
    assert answer.error_code == error and answer.error_message
    assert node.image.config((2, "t")) == {"retention.ms": "5", "segment.ms": "6"}


def test_good_and_bad_resources_are_both_answered() -> None:
    node = node_with_t()
    bad = resource("1", ("log.retention.ms", 9, "1"), kind=4)
    good = resource("t", ("retention.ms", SET, "9"))
    answer = node.ask(
        incremental_alter_configs, 1, IncrementalAlterConfigsRequest(resources=[bad, good])
    )
    assert {item.resource_name: item.error_code for item in answer.responses} == {
        "1": KafkaError.INVALID_REQUEST,
        "t": 0,
    }


def test_validation_only_changes_nothing() -> None:
    node = node_with_t()
    item = resource("t", ("retention.ms", SET, "9"))
    request = IncrementalAlterConfigsRequest(resources=[item], validate_only=True)
    assert node.ask(incremental_alter_configs, 1, request).responses[0].error_code == 0
    assert node.image.config((2, "t"))["retention.ms"] == "5"
