"""`causeway region unregister`: what it refuses, and what it asks."""

import json
from typing import Any

from brokers.wire.messages.broker_lifecycle import UnregisterBrokerResponse
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from tests.unit.federation.commands.broker_double import broker_double
from tests.unit.federation.commands.region.test_view import ORDERS, SEEN, configs, quorum


class Region:
    """Broker 1 is active and 3 is fenced; `orders` has replicas on both, `seen` none on 3."""

    def __init__(self, topic: Any = SEEN) -> None:
        self.asked: list[int] = []
        self.error = 0
        self._topic = topic

    def run(self, *arguments: str) -> Any:
        answers = {
            55: (2, quorum), 60: (2, self._cluster), 32: (4, configs), 64: (0, self._unregister),
            75: (0, lambda _: DescribeTopicPartitionsResponse(topics=[self._topic])),
        }  # fmt: skip
        with broker_double(answers) as broker:
            return broker.run("region", "unregister", *arguments)

    def _cluster(self, request: Any) -> DescribeClusterResponse:
        brokers = [
            DescribeClusterBroker(broker_id=1, host="h1", port=1),
            DescribeClusterBroker(broker_id=3, host="h3", port=3, is_fenced=True),
        ]
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)

    def _unregister(self, request: Any) -> UnregisterBrokerResponse:
        self.asked.append(request.broker_id)
        return UnregisterBrokerResponse(error_code=self.error, error_message=None)


def test_a_broker_that_is_gone_and_empty_is_forgotten() -> None:
    region = Region()
    ran = region.run("3", "--dry-run")
    assert (ran.exit_code, region.asked) == (0, [])
    ran = region.run("3")
    assert (ran.exit_code, region.asked) == (0, [3])
    assert "broker 3: unregistered" in ran.output
    assert "`causeway region voters remove 3`" in ran.output, "it is a voter of this quorum"
    assert json.loads(region.run("3", "--json").stdout) == {
        "unregistered": 3, "is_voter": True, "validate_only": False,
    }  # fmt: skip


def test_a_broker_that_runs_or_has_replicas_or_is_none_is_refused_unless_forced() -> None:
    for region, broker, because in (
        (Region(), "1", "broker 1 is active"),
        (Region(ORDERS), "3", "broker 3 has replicas of 4 partitions, such as orders-0"),
        (Region(), "9", "broker 9 is not registered"),
    ):
        ran = region.run(broker)
        assert (ran.exit_code, region.asked) == (1, [])
        assert because in ran.output
        assert region.run(broker, "--force").exit_code == 0
        assert region.asked == [int(broker)]


def test_what_the_region_refuses_is_told() -> None:
    region = Region()
    region.error = 102
    ran = region.run("3")
    assert ran.exit_code == 1
    assert "broker 3 is not unregistered: BROKER_ID_NOT_REGISTERED" in ran.output
