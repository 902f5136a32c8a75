"""Configurations of any resource: described (DescribeConfigs), and changed one by one (KIP-339)."""

from collections.abc import Mapping, Sequence
from typing import Any

from brokers.errors import KafkaError
from brokers.metadata.commands.config_commands import ConfigOperation, ResourceType
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from federation.commands.answers import Failure
from federation.commands.outcomes import reason_of
from federation.commands.region.client import Client

AT_ONCE = 1_000  # resources in one request


def config_changes(
    wanted: Mapping[str, str], removed: Sequence[str]
) -> list[IncrementalAlterableConfig]:
    """Sets these, and removes those."""
    return [
        *(_change(key, ConfigOperation.SET, value) for key, value in wanted.items()),
        *(_change(key, ConfigOperation.DELETE, None) for key in removed),
    ]


def alter_configs(
    client: Client,
    kind: ResourceType,
    names: Sequence[str],
    changes: list[IncrementalAlterableConfig],
    *,
    validate_only: bool = False,
) -> dict[str, Any]:
    """The responses of the resources that are refused, by name."""
    resources = [
        IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=changes)
        for name in names
    ]
    request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)
    responses = client.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, request).responses
    return {each.resource_name: each for each in responses if each.error_code}


def describe_configs(
    client: Client, kind: ResourceType, names: Sequence[str]
) -> dict[str, list[Any]]:
    """Every configuration of each resource. Raises Failure where one is refused."""
    found: dict[str, list[Any]] = {}
    for start in range(0, len(names), AT_ONCE):
        resources = [
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
            for name in names[start : start + AT_ONCE]
        ]
        answer = client.ask(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=resources))
        for result in answer.results:
            if result.error_code != KafkaError.NONE:
                raise Failure(
                    f"{result.resource_name}: {reason_of(result)}",
                    hint="look at what the message names, and at the broker's log",
                )
            found[result.resource_name] = result.configs
    return found


def _change(key: str, operation: ConfigOperation, value: str | None) -> IncrementalAlterableConfig:
    return IncrementalAlterableConfig(name=key, config_operation=operation, value=value)
