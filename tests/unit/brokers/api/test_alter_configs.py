"""AlterConfigs: the whole set at once."""

import pytest

from brokers.api import alter_configs, describe_configs
from brokers.errors import KafkaError
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from tests.unit.brokers.api.asking import Node


def node_with_t() -> Node:
    node = Node()
    configs = {"retention.ms": "5", "segment.ms": "6"}
    node.do(CreateTopics((NewTopic(name="t", configs=configs),)))
    return node


def resource(name: str, **configs: str | None) -> AlterConfigsResource:
    settings = [AlterableConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()]
    return AlterConfigsResource(resource_type=2, resource_name=name, configs=settings)


@pytest.mark.parametrize("version", range(3))
def test_what_is_not_named_goes(version: int) -> None:
    node = node_with_t()
    request = AlterConfigsRequest(resources=[resource("t", retention_ms="9"), resource("nope")])
    good, bad = node.ask(alter_configs, version, request).responses
    assert (good.resource_name, good.error_code, good.error_message) == ("t", 0, None)
    assert (bad.resource_name, bad.error_code) == ("nope", KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    assert node.image.config((2, "t")) == {"retention.ms": "9"}


def test_validation_only_and_no_value() -> None:
    node = node_with_t()
    request = AlterConfigsRequest(resources=[resource("t", segment_ms="9")], validate_only=True)
    assert node.ask(alter_configs, 2, request).responses[0].error_code == 0
    request = AlterConfigsRequest(resources=[resource("t", segment_ms=None)])
    assert node.ask(alter_configs, 2, request).responses[0].error_code == KafkaError.INVALID_REQUEST
    assert node.image.config((2, "t")) == {"retention.ms": "5", "segment.ms": "6"}


def test_an_old_tool_can_write_back_everything_it_read() -> None:
    node = node_with_t()
    described = DescribeConfigsResource(resource_type=2, resource_name="t", configuration_keys=None)
    read = (
        node.ask(describe_configs, 1, DescribeConfigsRequest(resources=[described]))
        .results[0]
        .configs
    )
    settings = [AlterableConfig(name=config.name, value=config.value) for config in read]
    written = AlterConfigsResource(resource_type=2, resource_name="t", configs=settings)
    (item,) = node.ask(alter_configs, 0, AlterConfigsRequest(resources=[written])).responses
    assert item.error_code == 0, item.error_message
    assert node.image.config((2, "t"))["retention.ms"] == "5"


def test_a_disk_that_refuses_refuses_every_resource() -> None:
    node = node_with_t()
    request = AlterConfigsRequest(resources=[resource("t", retention_ms="9")])
    ticket = node.start_asking(alter_configs, 2, request)
    node.settle(failing="disk full")
    (item,) = node.replies[ticket].responses
    assert (item.resource_name, item.error_code) == ("t", KafkaError.KAFKA_STORAGE_ERROR)
