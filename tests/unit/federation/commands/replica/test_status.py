"""`causeway replica status`: whom it asks, what it prints, and that nothing is missing silently."""

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.broker_double import Answers, BrokerDouble, broker_double
from tests.unit.federation.commands.region.test_view import described
from tests.unit.federation.commands.region_double import RegionDouble, region_double

_BROKER = 4


def status(topic: str, partition: int, replica: int, **more: Any) -> pb.ReplicaStatus:
    known = {"is_isr_eligible": True, "is_in_isr": True, "is_caught_up": True, "log_end_offset": 9}
    return pb.ReplicaStatus(topic=topic, partition=partition, replica=replica, **{**known, **more})


LED_BY_1 = [
    status("__consumer_offsets", 0, 1, is_leader=True),
    status("odd", 0, 1, is_leader=True),
    status("orders", 0, 1, is_leader=True),
    status(
        "orders",
        0,
        2,
        last_caught_up_lag_ms=7,
        last_fetch_lag_ms=3,
        lag=2,
        cluster_link="west-east",
    ),
    status("orders", 0, 3, last_caught_up_lag_ms=-1, is_caught_up=False),
    status("seen", 0, 1, is_leader=True),
    status("seen", 0, 2, is_observer=True, is_isr_eligible=False, is_in_isr=False),
]


@dataclass
class Stage:
    """Broker 1 answers, broker 2 does not listen, broker 3 is not named; `orders` 3 has no leader."""

    broker: BrokerDouble
    administration: RegionDouble
    settings: Callable[[Any], str | None]
    dead: int  # the port at which broker 2 does not listen

    def run(self, *arguments: str) -> Result:
        return self.broker.run("replica", "status", *arguments)

    def rows(self, *arguments: str) -> list[Any]:
        return list(json.loads(self.run(*arguments, "--json").stdout)["replicas"])


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with region_double(tmp_path) as administration, socket.create_server(("127.0.0.1", 0)) as dead:
        nobody = dead.getsockname()[1]
        dead.close()
        administration.replies["DescribeReplicas"] = [pb.ReplicasReply(replicas=LED_BY_1)]
        stage = Stage(BrokerDouble(0), administration, lambda _: _admin(administration), nobody)

        def cluster(_: Any) -> DescribeClusterResponse:
            port = int(stage.broker.bootstrap.rpartition(":")[2])
            brokers = [
                DescribeClusterBroker(broker_id=1, host="127.0.0.1", port=port),
                DescribeClusterBroker(broker_id=2, host="127.0.0.1", port=nobody),
            ]
            return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)

        def configs(request: Any) -> DescribeConfigsResponse:
            return DescribeConfigsResponse(
                results=[_settings(asked, stage.settings) for asked in request.resources]
            )

        def nobody_leads(_: Any) -> Any:
            raise AssertionError("the quorum need not be asked")

        answers: Answers = {60: (2, cluster), 32: (4, configs), 55: (2, nobody_leads), 75: (0, described)}  # fmt: skip
        with broker_double(answers) as broker:
            stage.broker = broker
            yield stage


def _settings(asked: Any, admin: Callable[[Any], str | None]) -> DescribeConfigsResult:
    configs = []
    if asked.resource_type == _BROKER:
        assert (asked.resource_name, asked.configuration_keys) == ("1", ["admin.listener"])
        configs = [DescribeConfigsResourceResult(name="admin.listener", value=admin(asked))]
    return DescribeConfigsResult(
        resource_type=asked.resource_type, resource_name=asked.resource_name, configs=configs
    )


def _admin(administration: RegionDouble) -> str:
    return (
        f"0.0.0.0:{administration.admin.rpartition(':')[2]}"  # reached where its Kafka listener was
    )


def test_what_leaders_tell_and_what_nobody_tells(stage: Stage) -> None:
    ran = stage.run("--json")
    assert ran.exit_code == 4
    told = json.loads(ran.stdout)
    rows = {(each["topic"], each["partition"], each["replica"]): each for each in told["replicas"]}
    assert len(rows) == 1 + 1 + 4 * 3 + 2
    assert rows["orders", 0, 2] == {
        "topic": "orders", "partition": 0, "replica": 2, "cluster_link": "west-east", "is_leader": False,
        "is_observer": False, "is_isr_eligible": True, "is_in_isr": True, "is_caught_up": True,
        "last_caught_up_lag_ms": 7, "last_fetch_lag_ms": 3, "log_start_offset": 0, "log_end_offset": 9, "lag": 2,
    }  # fmt: skip
    assert rows["orders", 0, 3]["last_caught_up_lag_ms"] is None
    led_by_2 = rows["orders", 1, 2]
    assert (led_by_2["is_leader"], led_by_2["is_in_isr"]) == (True, True)
    assert (led_by_2["is_observer"], led_by_2["log_end_offset"]) == (None, None)
    assert not any(rows["orders", 3, replica]["is_leader"] for replica in (1, 2, 3))
    reasons = {each["broker"]: each["because"] for each in told["silent"]}
    assert set(reasons) == {2, 3, None}
    assert "refused" in reasons[2].lower()
    assert reasons[None] == "nobody leads orders-3"


def test_a_leader_that_leads_no_more_says_nothing_of_it(stage: Stage) -> None:
    left = [each for each in LED_BY_1 if each.topic != "odd"]
    stage.administration.replies["DescribeReplicas"] = [pb.ReplicasReply(replicas=left)]
    told = json.loads(stage.run("--json", "--topics", "odd,seen").stdout)
    reasons = {each["broker"]: each["because"] for each in told["silent"]}
    assert reasons[1] == "it no longer leads odd-0: ask again"


def test_the_leaders_image_counts_where_it_is_newer(stage: Stage) -> None:
    newer = [*LED_BY_1[:3], status("orders", 0, 7)]
    stage.administration.replies["DescribeReplicas"] = [pb.ReplicasReply(replicas=newer)]
    found = [each for each in stage.rows("--partitions", "0") if each["topic"] == "orders"]
    assert [each["replica"] for each in found] == [1, 7]


def test_a_leader_that_is_frozen_is_not_waited_for(stage: Stage) -> None:
    """It accepts connections, and never answers."""
    with socket.create_server(("127.0.0.1", stage.dead)):
        told = json.loads(stage.run("--json", "--timeout", "0.3").stdout)
    reasons = {each["broker"]: each["because"] for each in told["silent"]}
    assert "timed out" in reasons[2]


def test_a_broker_is_asked_for_the_topics_that_it_leads(stage: Stage) -> None:
    stage.run()
    ((method, request),) = stage.administration.asked
    assert method == "DescribeReplicas"
    assert list(request.topics) == ["__consumer_offsets", "odd", "orders", "seen"]


def test_what_was_asked_for_and_is_known_ends_well(stage: Stage) -> None:
    ran = stage.run("--partitions", "0", "--no-internal", "--json")
    assert ran.exit_code == 0
    assert len(json.loads(ran.stdout)["replicas"]) == 6


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (["--leaders"], [("odd", 1), ("orders", 1), ("seen", 1)]),
        (["--leaders", "exclude"], [("orders", 2), ("orders", 3), ("seen", 2)]),
        (["--observers"], [("seen", 2)]),
        (["--observers", "exclude", "--leaders", "exclude"], [("orders", 2), ("orders", 3)]),
    ],
)
def test_roles_may_be_chosen(
    stage: Stage, filters: list[str], wanted: list[tuple[str, int]]
) -> None:
    found = stage.rows("--partitions", "0", "--no-internal", *filters)
    assert [(each["topic"], each["replica"]) for each in found] == wanted


def test_people_see_the_tools_columns_and_who_does_not_tell(stage: Stage) -> None:
    printed = stage.run().output.splitlines()
    assert printed[0].split() == [
        "Topic", "Partition", "Replica", "ClusterLink", "IsLeader", "IsObserver", "IsIsrEligible", "IsInIsr",
        "IsCaughtUp", "LastCaughtUpLagMs", "LastFetchLagMs", "LogStartOffset", "LogEndOffset", "Lag",
    ]  # fmt: skip
    rows = [line.split() for line in printed if line.startswith("orders")]
    assert " ".join(rows[1]) == "orders 0 2 west-east false false true true true 7 3 0 9 2"
    assert rows[3] == ["orders", "1", "1", "-", "false", "unknown", "unknown", "false", *["unknown"] * 6]  # fmt: skip
    assert any(line.startswith("broker 2 does not tell: 127.0.0.1:") for line in printed)


def test_a_broker_that_is_not_ours_says_so(stage: Stage) -> None:
    stage.settings = lambda _: None
    told = json.loads(stage.run("--json").stdout)
    assert "it is no broker of ours" in told["silent"][0]["because"]


def test_a_refusal_is_told(stage: Stage) -> None:
    error = pb.Error(code="NOT_CONTROLLER", message="the node is still starting")
    stage.administration.replies["DescribeReplicas"] = [pb.ReplicasReply(error=error)]
    told = json.loads(stage.run("--json").stdout)
    assert told["silent"][0]["because"] == "the node is still starting (NOT_CONTROLLER)"


def test_nobody_is_waited_for_longer_than_there_is_time(stage: Stage) -> None:
    for seconds in ("0", "inf", "1e12"):
        assert stage.run("--timeout", seconds).exit_code == 2, seconds


def test_partitions_that_are_none_are_refused(stage: Stage) -> None:
    ran = stage.run("--partitions", "0,2-4")
    assert ran.exit_code == 1
    assert "no topic asked for has a partition 4" in ran.output
    billions = stage.run("--partitions", "0-99999999999999")
    assert "no topic asked for has a partition 4" in billions.output
    for nonsense in ("1-", "x", "-1", "3-2"):
        assert stage.run("--partitions", nonsense).exit_code == 2, nonsense


def test_a_partition_of_some_topics_is_shown_of_those(stage: Stage) -> None:
    found = stage.rows("--partitions", "2-3")
    assert {(each["topic"], each["partition"]) for each in found} == {("orders", 2), ("orders", 3)}
