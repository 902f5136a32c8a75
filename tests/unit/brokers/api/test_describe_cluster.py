"""Who the brokers are."""

import pytest

from brokers.api import describe_cluster
from brokers.errors import KafkaError
from brokers.security.authorized_operations import CLUSTER_OPERATIONS
from brokers.wire.messages.cluster import DescribeClusterRequest
from tests.unit.brokers.api.asking import Node


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_cluster_at_every_version(version: int) -> None:
    answer = Node().ask(describe_cluster, version, DescribeClusterRequest())
    assert (answer.error_code, answer.cluster_id, answer.controller_id) == (0, "region-one", 1)
    (broker,) = answer.brokers
    assert (broker.broker_id, broker.host, broker.port, broker.is_fenced) == (
        1,
        "127.0.0.1",
        9092,
        False,
    )
    assert answer.cluster_authorized_operations == -(2**31)


def test_operations_are_told_when_asked_for() -> None:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    answer = Node().ask(describe_cluster, 2, request)
    assert answer.cluster_authorized_operations == CLUSTER_OPERATIONS


@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [(2, KafkaError.MISMATCHED_ENDPOINT_TYPE), (9, KafkaError.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_only_brokers_are_described_here(endpoint_type: int, error: KafkaError) -> None:
    answer = Node().ask(describe_cluster, 1, DescribeClusterRequest(endpoint_type=endpoint_type))
    assert answer.error_code == error and answer.error_message and answer.brokers == []
