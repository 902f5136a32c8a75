"""`causeway region elect`: what it asks, what it tells of each partition, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from brokers.wire.messages.replication import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from tests.unit.federation.commands.broker_double import Answers, broker_double
from tests.unit.federation.commands.region.test_view import NEW, SEEN, partition, topic

NOT_NEEDED, NOT_AVAILABLE, NOT_CONTROLLER = 84, 83, 41
ORDERS = ReplicaElectionResult(
    topic="orders",
    partition_result=[
        PartitionResult(partition_id=0),
        PartitionResult(partition_id=1, error_code=NOT_NEEDED, error_message="it has a leader"),
        PartitionResult(partition_id=2, error_code=NOT_AVAILABLE, error_message="none is there"),
    ],
)


class Elector:
    """Answers alike whatever it is asked, and keeps it."""

    def __init__(self, response: ElectLeadersResponse, newest: int = 2) -> None:
        self.asked: list[Any] = []
        self._response = response
        self.answers: Answers = {**NEW, 43: (newest, self._answer)}

    def _answer(self, request: Any) -> ElectLeadersResponse:
        self.asked.append(request)
        return self._response

    def run(self, *arguments: str) -> Any:
        with broker_double(self.answers) as broker:
            return broker.run("region", "elect", *arguments)


def listed(request: Any) -> dict[str, list[int]]:
    return {each.topic: each.partitions for each in request.topic_partitions}


def test_each_partition_is_told_and_one_that_is_refused_fails_the_command(tmp_path: Path) -> None:
    path = tmp_path / "which.json"
    named = [{"topic": "orders", "partition": index} for index in (0, 1, 2)]
    path.write_text(json.dumps({"partitions": named}))
    elector = Elector(ElectLeadersResponse(replica_election_results=[ORDERS]))
    wanted = ("--election-type", "UNCLEAN", "--path-to-json-file", str(path))
    ran = elector.run(*wanted, "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout) == {
        "elected": ["orders-0"],
        "not_needed": ["orders-1"],
        "refused": {"orders-2": "none is there (ELIGIBLE_LEADERS_NOT_AVAILABLE)"},
        "waiting": {},
    }
    (request,) = elector.asked
    assert (request.election_type, listed(request)) == (1, {"orders": [0, 1, 2]})
    printed = elector.run(*wanted).output
    assert "unclean leader elected: orders-0\nno election needed: orders-1\n" in printed
    assert "not elected: orders-2: none is there" in printed


def test_what_is_led_by_a_broker_that_is_gone_and_not_fenced_yet_is_to_be_waited_for() -> None:
    """As after `region metadata recover`: the region still takes the brokers that were lost for alive."""
    led = topic("led", partition(0, 1, [1, 2], [1]), partition(1, 9, [9, 1], [9]))
    gone = DescribeClusterBroker(broker_id=9, host="127.0.0.1", port=1)
    fenced = DescribeClusterBroker(broker_id=8, host="127.0.0.1", port=1, is_fenced=True)
    alive = broker_double({})
    with alive as here:
        port = int(here.bootstrap.rpartition(":")[2])
        brokers = [DescribeClusterBroker(broker_id=1, host="127.0.0.1", port=port), fenced, gone]
        elector = Elector(ElectLeadersResponse())
        elector.answers = {
            **elector.answers,
            60: (2, lambda _: DescribeClusterResponse(cluster_id="c", brokers=brokers)),
            75: (0, lambda _: DescribeTopicPartitionsResponse(topics=[led])),
        }
        ran = elector.run("--election-type", "unclean", "--all-topic-partitions")
        assert ran.exit_code == 3
        assert "not elected yet: led-1: led by broker 9, which does not answer" in ran.output
        assert "no partition needs an election" not in ran.output
        ran = elector.run("--election-type", "unclean", "--topic", "led", "--partition", "0")
        assert ran.exit_code == 0


def test_preferred_leaders_are_elected_everywhere() -> None:
    elector = Elector(ElectLeadersResponse(), newest=0)
    ran = elector.run("--election-type", "preferred", "--all-topic-partitions")
    assert (ran.exit_code, ran.output) == (0, "no partition needs an election\n")
    (request,) = elector.asked
    assert request.topic_partitions is None


def test_a_topic_stands_for_its_partitions_and_one_of_them_may_be_named() -> None:
    elector = Elector(ElectLeadersResponse())
    elector.answers = {
        **elector.answers,
        75: (
            0,
            lambda _: DescribeTopicPartitionsResponse(topics=[topic("seen", *SEEN.partitions)]),
        ),
    }
    elector.run("--election-type", "preferred", "--topic", "seen")
    elector.run("--election-type", "preferred", "--topic", "seen", "--partition", "4")
    assert [listed(each) for each in elector.asked] == [{"seen": [0]}, {"seen": [4]}]


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        ((), "Give one of"),
        (("--topic", "orders", "--all-topic-partitions"), "Give one of"),
        (("--all-topic-partitions", "--partition", "1"), "--partition needs --topic"),
    ],
)
def test_which_partitions_is_said_in_one_way(arguments: tuple[str, ...], because: str) -> None:
    ran = Elector(ElectLeadersResponse()).run("--election-type", "preferred", *arguments)
    assert ran.exit_code == 2
    assert because in ran.output


@pytest.mark.parametrize(
    "document",
    [b"{", b"[]", b'{"partitions": [{"topic": "orders"}]}', b'{"partitions": [1]}', b"\xff\xfe",
     b'{"partitions": [{"topic": "orders", "partition": true}]}'],
)  # fmt: skip
def test_a_file_that_lists_no_partitions_is_refused(tmp_path: Path, document: bytes) -> None:
    path = tmp_path / "which.json"
    path.write_bytes(document)
    elector = Elector(ElectLeadersResponse())
    ran = elector.run("--election-type", "unclean", "--path-to-json-file", str(path))
    assert ran.exit_code == 1
    assert "lists no partitions" in ran.output
    assert "Next: write" in ran.output
    assert not elector.asked


def test_a_region_that_holds_no_election_says_why() -> None:
    old = Elector(ElectLeadersResponse(), newest=0)
    ran = old.run("--election-type", "unclean", "--all-topic-partitions")
    assert (ran.exit_code, old.asked) == (1, [])
    assert "holds no unclean elections" in ran.output
    headless = Elector(ElectLeadersResponse(error_code=NOT_CONTROLLER))
    ran = headless.run("--election-type", "preferred", "--all-topic-partitions")
    assert ran.exit_code == 1
    assert "NOT_CONTROLLER" in ran.output
