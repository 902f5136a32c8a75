"""`causeway region log-level`: each broker is asked itself."""

import json
from typing import Any

import pytest

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double

LOGGER = 8


class Region:
    """Broker 1, and broker 2, which is fenced."""

    def __init__(self, error: int = 0) -> None:
        self.changes: list[Any] = []
        self._error = error
        self._broker: BrokerDouble

    def run(self, *arguments: str) -> Any:
        answers = {60: (2, self._cluster), 32: (4, self._describe), 44: (1, self._alter)}
        with broker_double(answers) as self._broker:
            return self._broker.run("region", "log-level", *arguments)

    def _cluster(self, request: Any) -> DescribeClusterResponse:
        port = int(self._broker.bootstrap.rpartition(":")[2])
        brokers = [
            DescribeClusterBroker(broker_id=1, host="127.0.0.1", port=port),
            DescribeClusterBroker(broker_id=2, host="127.0.0.1", port=1, is_fenced=True),
        ]
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)

    def _describe(self, request: Any) -> DescribeConfigsResponse:
        (asked,) = request.resources
        assert (asked.resource_type, asked.resource_name) == (LOGGER, "1")
        levels = {"root": "INFO", "brokers": "INFO", "brokers.shell": "WARN", "brokerage": "INFO"}
        configs = [
            DescribeConfigsResourceResult(name=name, value=level) for name, level in levels.items()
        ]
        result = DescribeConfigsResult(
            resource_type=LOGGER, resource_name="1", configs=configs, error_message=None
        )
        return DescribeConfigsResponse(results=[result])

    def _alter(self, request: Any) -> IncrementalAlterConfigsResponse:
        self.changes.append(request)
        response = IncrementalAlterConfigsResourceResponse(
            resource_type=LOGGER,
            resource_name="1",
            error_code=self._error,
            error_message="no such logger",
        )
        return IncrementalAlterConfigsResponse(responses=[response])


def test_levels_are_listed_by_broker() -> None:
    told = json.loads(Region().run("list", "--logger", "brokers", "--json").stdout)
    assert told == {"brokers": {"1": {"brokers": "INFO", "brokers.shell": "WARN"}}}
    printed = Region().run("list").output
    assert all(part in printed for part in ("Broker 1", "brokerage", "WARN"))


def test_levels_are_set_and_given_back() -> None:
    region = Region()
    ran = region.run("set", "brokers.shell=warning", "brokers=debug", "root=default")
    assert ran.exit_code == 0, ran.output
    (request,) = region.changes
    (resource,) = request.resources
    assert [(each.name, each.config_operation, each.value) for each in resource.configs] == [
        ("brokers.shell", 0, "WARN"), ("brokers", 0, "DEBUG"), ("root", 1, None),
    ]  # fmt: skip
    assert not request.validate_only
    assert region.run("set", "root=INFO", "--dry-run").exit_code == 0
    assert region.changes[1].validate_only


def test_what_a_broker_refuses_is_told() -> None:
    ran = Region(error=40).run("set", "nope=INFO")
    assert ran.exit_code == 1
    assert "broker 1: no such logger (INVALID_CONFIG)" in ran.output
    ran = Region().run("set", "root=INFO", "--broker", "2")
    assert (ran.exit_code, "broker 2 is not active" in ran.output) == (1, True)


@pytest.mark.parametrize("items", [("root",), ("root=LOUD",), ("a=INFO", "a=WARN"), ("=INFO",)])
def test_what_is_no_level_is_a_usage_error(items: tuple[str, ...]) -> None:
    region = Region()
    assert region.run("set", *items).exit_code == 2
    assert region.changes == []
