"""DescribeConfigs: everything, with where it comes from."""

import pytest

from brokers.api import describe_configs
from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.wire.messages.configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.unit.brokers.api.asking import Node


def node_with_t(**settings: object) -> Node:
    node = Node(from_settings({"node.id": 1, "log.dirs": "d", **settings}))
    node.do(CreateTopics((NewTopic(name="t", configs={"retention.ms": "5"}),)))
    return node


def request(
    kind: int, name: str, keys: list[str] | None = None, **more: bool
) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    return DescribeConfigsRequest(resources=[resource], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topic_has_every_key_at_every_version(version: int) -> None:
    (result,) = node_with_t().ask(describe_configs, version, request(2, "t")).results
    configs = {config.name: config for config in result.configs}
    assert configs.keys() == {name for name, key in TOPIC_KEYS.items() if key.is_listed}
    own, default = configs["retention.ms"], configs["segment.ms"]
    assert (own.value, own.config_source, own.read_only, own.is_sensitive) == ("5", 1, False, False)
    assert (default.value, default.config_source) == ("604800000", 5)
    assert own.synonyms == [] and not own.documentation
    assert own.config_type == (5 if version >= 3 else 0)
    assert (configs["cleanup.policy"].value, configs["compression.type"].value) == (
        "delete",
        "producer",
    )


def test_synonyms_and_documentation_come_when_asked_for() -> None:
    node = node_with_t(**{"log.retention.ms": 7})
    asked = request(2, "t", ["retention.ms"], include_synonyms=True, include_documentation=True)
    (config,) = node.ask(describe_configs, 4, asked).results[0].configs
    assert [(s.name, s.value, s.source) for s in config.synonyms] == [
        ("retention.ms", "5", 1),
        ("log.retention.ms", "7", 4),
        ("log.retention.ms", "604800000", 5),
    ]
    assert config.documentation == TOPIC_KEYS["retention.ms"].documentation


def test_keys_filter_and_unknown_keys_are_left_out() -> None:
    asked = request(2, "t", ["segment.ms", "no.such.key"])
    (result,) = node_with_t().ask(describe_configs, 2, asked).results
    assert [config.name for config in result.configs] == ["segment.ms"]
    (result,) = node_with_t().ask(describe_configs, 2, request(2, "t", [])).results
    assert (result.error_code, result.configs) == (0, [])


def test_a_hidden_key_is_shown_once_it_is_set() -> None:
    node = Node()
    node.do(CreateTopics((NewTopic(name="t", configs={"internal.segment.bytes": "99"}),)))
    (result,) = node.ask(describe_configs, 4, request(2, "t")).results
    assert {
        config.value for config in result.configs if config.name == "internal.segment.bytes"
    } == {"99"}


def test_a_broker_has_its_settings_with_their_sources() -> None:
    node = node_with_t(**{"admin.listener": "127.0.0.1:9094"})
    node.do(
        AlterConfigs((ConfigChange((4, "1"), {"log.retention.ms": (ConfigOperation.SET, "9")}),))
    )
    (result,) = node.ask(describe_configs, 4, request(4, "1", include_synonyms=True)).results
    configs = {config.name: config for config in result.configs}
    admin, retention = configs["admin.listener"], configs["log.retention.ms"]
    assert (admin.value, admin.config_source, admin.read_only) == ("127.0.0.1:9094", 4, True)
    assert (retention.value, retention.config_source, retention.read_only) == ("9", 2, False)
    assert [synonym.source for synonym in retention.synonyms] == [2, 5]
    assert {"log.dirs", "num.partitions", "inter.broker.protocol.version"} <= configs.keys()


def test_the_default_of_all_brokers_has_what_was_set_for_all() -> None:
    node = Node()
    assert node.ask(describe_configs, 4, request(4, "")).results[0].configs == []
    node.do(
        AlterConfigs((ConfigChange((4, ""), {"log.retention.ms": (ConfigOperation.SET, "9")}),))
    )
    (config,) = node.ask(describe_configs, 4, request(4, "")).results[0].configs
    assert (config.name, config.value, config.config_source) == ("log.retention.ms", "9", 3)


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (2, "nope", KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        (2, "a b", KafkaError.INVALID_TOPIC_EXCEPTION),
        (4, "2", KafkaError.INVALID_REQUEST),
        (4, "one", KafkaError.INVALID_REQUEST),
        (8, "2", KafkaError.INVALID_REQUEST),
        (99, "1", KafkaError.INVALID_REQUEST),
    ],
)
def test_what_has_no_settings_says_so(kind: int, name: str, error: KafkaError) -> None:
    (result,) = Node().ask(describe_configs, 4, request(kind, name)).results
    assert (result.error_code, result.configs) == (error, [])
    assert (result.resource_type, result.resource_name) == (kind, name) and result.error_message


def test_a_resource_asked_twice_is_answered_once() -> None:
    asked = request(2, "t")
    asked.resources *= 2
    assert len(node_with_t().ask(describe_configs, 4, asked).results) == 1
