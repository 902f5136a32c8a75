"""`causeway region reassign`: what it asks brokers to do and in which order, what it prints, how it ends."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from brokers.errors import KafkaError
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from tests.unit.federation.commands.broker_double import Answers, BrokerDouble, broker_double
from tests.unit.federation.commands.region.test_view import partition, quorum, topic

RATES = ["leader.replication.throttled.rate", "follower.replication.throttled.rate"]
RACKS = {1: "a", 2: "a", 3: "b", 4: "b"}
HOSTS = {1: "one", 2: "two", 3: "three", 4: "three"}
SET, DELETE = 0, 1


@dataclass
class Region:
    """Plays all of four brokers: `done` is what was asked of it, `moving` what it says is on the move."""

    broker: BrokerDouble = field(default_factory=lambda: BrokerDouble(0))
    done: list[Any] = field(default_factory=list)
    moving: list[Any] = field(default_factory=list)
    refused: dict[tuple[str, int], int] = field(default_factory=dict)
    held: dict[int, list[int]] = field(default_factory=lambda: {0: [1, 2], 1: [2, 3]})
    placement: str = ""

    def run(self, *arguments: str) -> Result:
        return self.broker.run("region", "reassign", *arguments)

    def answers(self) -> Answers:
        return {
            32: (4, self.configs), 44: (1, self.settings), 45: (1, self.reassign), 46: (0, self.ongoing),
            55: (2, quorum), 60: (2, self.cluster), 75: (0, self.described),
        }  # fmt: skip

    def cluster(self, _: Any) -> DescribeClusterResponse:
        port = int(self.broker.bootstrap.rpartition(":")[2])
        brokers = [
            DescribeClusterBroker(broker_id=each, host="127.0.0.1", port=port, rack=rack)
            for each, rack in RACKS.items()
        ]
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=brokers)

    def described(self, request: Any) -> DescribeTopicPartitionsResponse:
        parts = [partition(index, have[0], have, have) for index, have in self.held.items()]
        return DescribeTopicPartitionsResponse(topics=[topic("orders", *parts)])

    def configs(self, request: Any) -> DescribeConfigsResponse:
        results = []
        for asked in request.resources:
            (name,) = asked.configuration_keys[-1:]
            value = self.placement if name.startswith("confluent") else HOSTS[int(asked.resource_name)]  # fmt: skip
            told = [DescribeConfigsResourceResult(name=name, value=value)]
            results.append(DescribeConfigsResult(resource_name=asked.resource_name, configs=told))
        return DescribeConfigsResponse(results=results)

    def settings(self, request: Any) -> IncrementalAlterConfigsResponse:
        answer = IncrementalAlterConfigsResponse()
        for asked in request.resources:
            changes = {each.name: (each.config_operation, each.value) for each in asked.configs}
            self.done.append((asked.resource_type, asked.resource_name, changes))
            answer.responses.append(IncrementalAlterConfigsResourceResponse())
        return answer

    def reassign(self, request: Any) -> AlterPartitionReassignmentsResponse:
        answer = AlterPartitionReassignmentsResponse(error_message=None)
        for asked in request.topics:
            told = ReassignableTopicResponse(name=asked.name)
            answer.responses.append(told)
            for each in asked.partitions:
                self.done.append((asked.name, each.partition_index, each.replicas))
                error = self.refused.get((asked.name, each.partition_index), 0)
                told.partitions.append(
                    ReassignablePartitionResponse(
                        partition_index=each.partition_index, error_code=error, error_message="no" if error else None
                    )
                )  # fmt: skip
        return answer

    def ongoing(self, _: Any) -> ListPartitionReassignmentsResponse:
        topics = [OngoingTopicReassignment(name="orders", partitions=self.moving)]
        return ListPartitionReassignmentsResponse(error_message=None, topics=topics)


@pytest.fixture
def region() -> Iterator[Region]:
    one = Region()
    with broker_double(one.answers()) as broker:
        one.broker = broker
        yield one


def plan(tmp_path: Path, replicas: dict[int, list[int]], topic: str = "orders") -> str:
    path = tmp_path / "plan.json"
    partitions = [
        {"topic": topic, "partition": index, "replicas": have} for index, have in replicas.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def moving(index: int, replicas: list[int], adding: list[int]) -> OngoingPartitionReassignment:
    return OngoingPartitionReassignment(
        partition_index=index, replicas=replicas, adding_replicas=adding
    )


def to_move(tmp_path: Path) -> str:
    path = tmp_path / "topics.json"
    path.write_text('{"version": 1, "topics": [{"topic": "orders"}]}')
    return str(path)


# --- generate ---


def proposed(region: Region, tmp_path: Path, brokers: str, *options: str) -> Any:
    arguments = ["--topics-to-move-json-file", to_move(tmp_path), "--broker-list", brokers]
    ran = region.run("generate", *arguments, *options, "--json")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert [each["replicas"] for each in told["current"]["partitions"]] == [[1, 2], [2, 3]]
    return [each["replicas"] for each in told["proposed"]["partitions"]]


def test_a_proposal_spreads_over_racks(region: Region, tmp_path: Path) -> None:
    for replicas in proposed(region, tmp_path, "1,2,3,4"):
        assert {RACKS[replica] for replica in replicas} == {"a", "b"}


def test_without_racks_it_spreads_over_hosts(region: Region, tmp_path: Path) -> None:
    for replicas in proposed(region, tmp_path, "2,3,4", "--disable-rack-aware"):
        assert len({HOSTS[replica] for replica in replicas}) == 2


def test_a_topic_with_a_placement_gets_what_it_says(region: Region, tmp_path: Path) -> None:
    region.placement = json.dumps({
        "version": 2, "replicas": [{"count": 2, "constraints": {"rack": "b"}}],
        "observers": [{"count": 1, "constraints": {"rack": "a"}}],
    })  # fmt: skip
    for replicas in proposed(region, tmp_path, "1,3,4"):
        assert ({*replicas[:2]}, replicas[2:]) == ({3, 4}, [1])


def test_another_number_of_replicas_may_be_asked_for(region: Region, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    named = ("--topics", "orders", "--broker-list", "1,2,3,4", "--replication-factor", "3")
    ran = region.run("generate", *named, "--save", str(saved))
    assert ran.exit_code == 0
    replicas = [each["replicas"] for each in json.loads(saved.read_text())["partitions"]]
    assert [len({*each}) for each in replicas] == [3, 3]
    assert ran.output.splitlines()[-1] == saved.read_text().strip()
    region.placement = '{"version": 1, "replicas": [{"count": 1, "constraints": {"rack": "a"}}]}'
    ran = region.run("generate", *named)
    assert ran.exit_code == 1
    assert "leave --replication-factor out" in ran.output
    assert region.run("generate", "--broker-list", "1").exit_code == 2


def test_too_few_brokers_are_refused(region: Region, tmp_path: Path) -> None:
    named = ["--topics-to-move-json-file", to_move(tmp_path), "--broker-list"]
    ran = region.run("generate", *named, "3")
    assert ran.exit_code == 1
    assert "2 replicas need as many brokers; --broker-list names 1" in ran.output
    assert "broker 9 is not registered" in region.run("generate", *named, "1,9").output
    assert region.run("generate", *named, "1,1").exit_code == 2


def test_no_topics_are_not_all_topics(region: Region) -> None:
    for nothing in ("", " , "):
        ran = region.run("generate", "--topics", nothing, "--broker-list", "1,2,3")
        assert (ran.exit_code, "names no topic" in ran.output) == (2, True), ran.output


def test_a_proposal_that_cannot_be_saved_is_refused(region: Region, tmp_path: Path) -> None:
    unsaved = str(tmp_path / "nowhere" / "plan.json")
    ran = region.run(
        "generate", "--topics", "orders", "--broker-list", "1,2,3", "--save", unsaved, "--json"
    )
    assert ran.exit_code == 1
    assert (
        json.loads(ran.stdout)["error"] == f"{unsaved} cannot be written: No such file or directory"
    )


def test_current_and_proposed_are_printed_as_plans(region: Region, tmp_path: Path) -> None:
    named = ["--topics-to-move-json-file", to_move(tmp_path), "--broker-list", "1,3"]
    lines = region.run("generate", *named).output.splitlines()
    assert lines[0] == "Current partition replica assignment"
    assert json.loads(lines[1])["partitions"][0]["replicas"] == [1, 2]
    assert lines[3] == "Proposed partition reassignment configuration"
    assert {*json.loads(lines[4])["partitions"][0]["replicas"]} == {1, 3}


# --- execute ---


def execute(region: Region, path: str, *options: str) -> Result:
    return region.run("execute", "--reassignment-json-file", path, *options)


def test_what_was_there_is_printed_and_the_moves_begin(region: Region, tmp_path: Path) -> None:
    ran = execute(region, plan(tmp_path, {1: [4, 2], 0: [1, 3]}))
    assert ran.exit_code == 0
    assert region.done == [("orders", 1, [4, 2]), ("orders", 0, [1, 3])]
    lines = ran.output.splitlines()
    assert [each["replicas"] for each in json.loads(lines[2])["partitions"]] == [[2, 3], [1, 2]]
    assert "Successfully started partition reassignments for orders-1,orders-0" in lines


def test_a_throttle_is_set_before_anything_moves(region: Region, tmp_path: Path) -> None:
    ran = execute(region, plan(tmp_path, {0: [1, 4]}), "--throttle", "1000")
    assert "The inter-broker throttle limit was set to 1000 B/s" in ran.output
    topics, *brokers, last = region.done
    assert topics == (2, "orders", {
        "leader.replication.throttled.replicas": (SET, "0:1,0:2"),
        "follower.replication.throttled.replicas": (SET, "0:4"),
    })  # fmt: skip
    rates = dict.fromkeys(RATES, (SET, "1000"))
    assert brokers == [(4, "1", rates), (4, "2", rates), (4, "4", rates)]
    assert last == ("orders", 0, [1, 4])


def test_without_a_controller_the_way_to_see_it_is_told(tmp_path: Path) -> None:
    region = Region()
    late = AlterPartitionReassignmentsResponse(error_code=KafkaError.REQUEST_TIMED_OUT)
    with broker_double({**region.answers(), 45: (1, lambda _: late)}) as region.broker:
        ran = execute(region, plan(tmp_path, {0: [1, 3]}))
    assert ran.exit_code == 1
    assert "see `causeway region describe` for whether a controller is active" in ran.output


def test_other_moves_must_be_over_or_allowed(region: Region, tmp_path: Path) -> None:
    region.moving = [moving(1, [4, 2, 3], [4])]
    path = plan(tmp_path, {0: [1, 3]})
    ran = execute(region, path)
    assert ran.exit_code == 1
    assert "--additional" in ran.output
    assert region.done == []
    assert execute(region, path, "--additional").exit_code == 0
    assert region.done == [("orders", 0, [1, 3])]


def test_what_the_region_refuses_is_told_beside_what_began(region: Region, tmp_path: Path) -> None:
    region.refused["orders", 0] = 39
    path = plan(tmp_path, {0: [1, 3], 1: [2, 1]})
    ran = execute(region, path)
    assert ran.exit_code == 1
    assert "started partition reassignments for orders-1\n" in ran.output
    assert "orders-0: no (INVALID_REPLICA_ASSIGNMENT)" in ran.output
    told = execute(region, path, "--json")
    assert told.exit_code == 1
    answer = json.loads(told.stdout)
    assert answer["started"] == ["orders-1"]
    assert answer["refused"] == {"orders-0": "no (INVALID_REPLICA_ASSIGNMENT)"}
    assert answer["current"]["partitions"][0]["replicas"] == [1, 2]


def test_plans_that_cannot_be_are_refused_before_anything_is_done(
    region: Region, tmp_path: Path
) -> None:
    assert "broker 9 is not registered" in execute(region, plan(tmp_path, {0: [1, 9]})).output
    assert "no partition orders-7" in execute(region, plan(tmp_path, {7: [1]})).output
    (tmp_path / "plan.json").write_text("nonsense")
    assert execute(region, str(tmp_path / "plan.json")).exit_code == 1
    assert region.done == []


# --- verify, cancel, list ---


def test_verify_removes_throttles_once_nothing_is_on_the_move(
    region: Region, tmp_path: Path
) -> None:
    named = ["--reassignment-json-file", plan(tmp_path, {0: [1, 2], 1: [2, 3]})]
    region.moving = [moving(1, [2, 3], [3])]
    ran = region.run("verify", *named)
    assert ran.exit_code == 3
    assert "Reassignment of partition orders-0 is completed." in ran.output
    assert "Reassignment of partition orders-1 is still in progress." in ran.output
    assert region.done == []
    region.moving = []
    assert region.run("verify", *named, "--preserve-throttles").exit_code == 0
    assert region.done == []
    ran = region.run("verify", *named)
    assert ran.exit_code == 0
    assert "Clearing broker-level throttles on brokers 1,2,3,4" in ran.output
    rates = dict.fromkeys(
        [*RATES, "replica.alter.log.dirs.io.max.bytes.per.second"], (DELETE, None)
    )
    assert region.done[:4] == [(4, str(broker), rates) for broker in RACKS]
    kind, name, replicas = region.done[4]
    assert (kind, name, len(replicas)) == (2, "orders", 2)
    assert {operation for operation, _ in replicas.values()} == {DELETE}


def test_verify_says_what_is_not_as_planned(region: Region, tmp_path: Path) -> None:
    named = ["--reassignment-json-file", plan(tmp_path, {0: [4, 1], 9: [1]})]
    ran = region.run("verify", *named, "--json")
    assert ran.exit_code == 3
    told = json.loads(ran.stdout)
    assert [each["state"] for each in told["partitions"]] == ["not as planned"] * 2
    assert (told["is_complete"], told["throttles_removed"]) == (False, True)


def test_cancel_stops_what_is_on_the_move(region: Region, tmp_path: Path) -> None:
    region.moving = [moving(1, [4, 2, 3], [4])]
    named = ["--reassignment-json-file", plan(tmp_path, {0: [1, 3], 1: [4, 2]})]
    ran = region.run("cancel", *named, "--preserve-throttles")
    assert ran.output == "Successfully cancelled partition reassignments for: orders-1\n"
    assert region.done == [("orders", 1, None)]
    region.moving = []
    ran = region.run("cancel", *named)
    assert ran.output.splitlines()[0] == "None of the specified partition moves are active."
    assert len(region.done) == 1 + 4 + 1  # throttles of four brokers and one topic


def test_throttles_stay_while_others_move(region: Region, tmp_path: Path) -> None:
    region.moving = [moving(0, [1, 2, 3], [3]), moving(1, [4, 2, 3], [4])]
    named = ["--reassignment-json-file", plan(tmp_path, {1: [4, 2]})]
    told = json.loads(region.run("cancel", *named, "--json").stdout)
    assert told == {
        "cancelled": ["orders-1"], "directory_moves_cancelled": [], "throttles_removed": False,
    }  # fmt: skip


def test_what_is_on_the_move_is_listed(region: Region, tmp_path: Path) -> None:
    assert region.run("list").output == "No partition reassignments found.\n"
    region.moving = [moving(1, [4, 2], [4])]
    assert region.run("list").output == "orders-1: replicas: 4,2. adding: 4. removing: none.\n"
    (one,) = json.loads(region.run("list", "--json").stdout)["reassignments"]
    assert one == {"partition": "orders-1", "replicas": [4, 2], "adding": [4], "removing": []}
