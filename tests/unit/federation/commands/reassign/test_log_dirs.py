"""`causeway region reassign` with log directories: each broker is asked for its own, and what they answer is told."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from brokers.wire.messages.cluster import DescribeClusterResponse
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from tests.unit.federation.commands.broker_double import Answers, broker_double
from tests.unit.federation.commands.reassign.test_command import SET, Region, moving

NOT_AVAILABLE, STORAGE_ERROR, DENIED = 9, 56, 31


@dataclass
class Disks:
    """A broker with directories /a and /b, and /broken: `lie` and `copied` say in which a partition of orders is."""

    region: "DiskRegion"
    broker: int
    port: int = 0
    lie: dict[int, str] = field(default_factory=dict)
    copied: dict[int, str] = field(default_factory=dict)
    errors: list[int] = field(default_factory=list)
    denied: int = 0
    cordoned: tuple[str, ...] = ()

    def answers(self) -> Answers:
        return {**self.region.answers(), 34: (2, self.alter), 35: (5, self.describe)}

    def describe(self, request: Any) -> DescribeLogDirsResponse:
        if self.denied:
            return DescribeLogDirsResponse(error_code=self.denied)
        asked = {index for topic in request.topics for index in topic.partitions}
        results = [DescribeLogDirsResult(log_dir="/broken", error_code=STORAGE_ERROR)]
        for path in ("/a", "/b"):
            here = [
                DescribeLogDirsPartition(partition_index=index, is_future_key=are is self.copied)
                for are in (self.copied, self.lie)
                for index, where in are.items()
                if where == path and index in asked
            ]
            told = [DescribeLogDirsTopic(name="orders", partitions=here)]
            results.append(
                DescribeLogDirsResult(log_dir=path, topics=told, is_cordoned=path in self.cordoned)
            )
        return DescribeLogDirsResponse(results=results)

    def alter(self, request: Any) -> AlterReplicaLogDirsResponse:
        """With the next of `errors`, while there are any."""
        answer = AlterReplicaLogDirsResponse()
        for wanted in request.dirs:
            for topic in wanted.topics:
                told = AlterReplicaLogDirTopicResult(topic_name=topic.name)
                answer.results.append(told)
                for index in topic.partitions:
                    error = self.errors.pop(0) if self.errors else 0
                    self.region.done.append((self.broker, index, wanted.path))
                    told.partitions.append(
                        AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    )
        return answer


@dataclass
class DiskRegion(Region):
    disks: dict[int, Disks] = field(default_factory=dict)

    def cluster(self, request: Any) -> DescribeClusterResponse:
        answer = super().cluster(request)
        for each in answer.brokers:
            each.port = self.disks[each.broker_id].port
        return answer


@pytest.fixture
def region() -> Iterator[DiskRegion]:
    """orders-0 on 1 and 2, orders-1 on 2 and 3, all in /a."""
    one = DiskRegion()
    with ExitStack() as stack:
        for broker, lie in {1: [0], 2: [0, 1], 3: [1], 4: []}.items():
            disks = Disks(one, broker, lie=dict.fromkeys(lie, "/a"))
            double = stack.enter_context(broker_double(disks.answers()))
            disks.port = int(double.bootstrap.rpartition(":")[2])
            one.disks[broker] = disks
        one.broker = double
        yield one


@pytest.fixture
def ask(region: DiskRegion, tmp_path: Path) -> Any:
    """Runs a command with a plan of orders: partition -> broker -> directory."""

    def asked(command: str, plan: dict[int, dict[int, str]], *options: str) -> Result:
        partitions = [
            {"topic": "orders", "partition": index, "replicas": [*each], "log_dirs": [*each.values()]}
            for index, each in plan.items()
        ]  # fmt: skip
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({"version": 1, "partitions": partitions}))
        return region.run(command, "--reassignment-json-file", str(path), *options)

    return asked


# --- generate ---


def proposed_for(region: DiskRegion, brokers: str) -> Any:
    arguments = ["generate", "--topics", "orders", "--disable-rack-aware", "--broker-list", brokers]
    ran = region.run(*arguments, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_a_proposal_leaves_out_brokers_whose_disks_are_nearly_full(region: DiskRegion) -> None:
    region.disks[3].cordoned = ("/a", "/b")
    region.disks[4].cordoned = ("/b",)
    told = proposed_for(region, "1,3,4")
    replicas = [each["replicas"] for each in told["proposed"]["partitions"]]
    assert [sorted(each) for each in replicas] == [[1, 4], [1, 4]]
    assert told["cordoned"] == [3]


def test_a_nearly_full_broker_gets_replicas_where_no_other_is_left_and_it_is_said(
    region: DiskRegion,
) -> None:
    region.disks[3].cordoned = ("/a", "/b")
    told = proposed_for(region, "1,3")
    assert {*told["proposed"]["partitions"][0]["replicas"]} == {1, 3}
    ran = region.run("generate", "--topics", "orders", "--broker-list", "1,3")
    assert "The disks of broker 3 are nearly full" in ran.stderr


# --- execute ---


def test_replicas_that_lie_elsewhere_are_moved_before_any_partition_is(
    region: DiskRegion, ask: Any
) -> None:
    ran = ask("execute", {0: {1: "/b", 2: "/a"}, 1: {2: "any", 3: "/b"}})
    assert ran.exit_code == 0, ran.output
    moves = [(1, 0, "/b"), (3, 1, "/b")]
    assert region.done == [*moves, ("orders", 0, [1, 2]), ("orders", 1, [2, 3])]
    lines = ran.output.splitlines()
    assert "Successfully started log directory moves for: orders-0-1,orders-1-3" in lines
    before = json.loads(lines[2])["partitions"]
    assert [each["log_dirs"] for each in before] == [["/a", "/a"], ["/a", "/a"]]


def test_copies_are_throttled_before_any_begins(region: DiskRegion, ask: Any) -> None:
    plan = {0: {1: "/b", 2: "any"}, 1: {2: "any", 3: "/b"}}
    ran = ask("execute", plan, "--replica-alter-log-dirs-throttle", "1000")
    assert ran.exit_code == 0, ran.output
    assert "The replica-alter-dir throttle limit was set to 1000 B/s" in ran.output
    rate = {"replica.alter.log.dirs.io.max.bytes.per.second": (SET, "1000")}
    assert region.done[:4] == [(4, "1", rate), (4, "3", rate), (1, 0, "/b"), (3, 1, "/b")]


def test_a_replica_that_comes_is_asked_for_until_it_is_there(region: DiskRegion, ask: Any) -> None:
    region.disks[4].errors = [NOT_AVAILABLE]
    told = json.loads(ask("execute", {0: {1: "any", 4: "/b"}}, "--json").stdout)
    assert region.done == [(4, 0, "/b"), ("orders", 0, [1, 4]), (4, 0, "/b")]
    assert told["directory_moves"] == {"started": ["orders-0-4"], "refused": {}}
    assert told["current"]["partitions"][0]["log_dirs"] == ["/a", "/a"]


def test_one_that_does_not_come_in_time_is_told_with_what_began(
    region: DiskRegion, ask: Any
) -> None:
    region.disks[4].errors = [NOT_AVAILABLE] * 4
    plan = {0: {1: "any", 4: "/b"}}
    ran = ask("execute", plan, "--timeout", "0")
    assert ran.exit_code == 1
    assert "Successfully started partition reassignments for orders-0\n" in ran.output
    assert "Waiting 0 s at most for new replicas: orders-0-4\n" in ran.output
    assert "orders-0-4: the replica is not there yet" in ran.output
    ran = ask("execute", plan, "--timeout", "0", "--json")
    assert ran.exit_code == 1
    assert list(json.loads(ran.stdout)["directory_moves"]["refused"]) == ["orders-0-4"]


def test_nobody_waits_for_replicas_of_a_partition_that_is_refused(
    region: DiskRegion, ask: Any
) -> None:
    region.disks[4].errors = [NOT_AVAILABLE]
    region.refused["orders", 0] = 39
    assert ask("execute", {0: {1: "any", 4: "/b"}}).exit_code == 1
    assert region.done == [(4, 0, "/b"), ("orders", 0, [1, 4])]


def test_a_directory_that_a_broker_cannot_use_is_refused_before_anything_is_done(
    region: DiskRegion, ask: Any
) -> None:
    ran = ask("execute", {0: {1: "/b", 2: "/c"}})
    assert ran.exit_code == 1
    assert "broker 2: /c is none of its log directories" in ran.output
    assert "it has /a, /b" in ran.output
    assert "/broken is offline" in ask("execute", {0: {1: "/broken", 2: "/b"}}).output
    region.disks[2].denied = DENIED
    ran = ask("execute", {0: {1: "/b", 2: "/b"}})
    assert "broker 2 does not tell its log directories: CLUSTER_AUTHORIZATION" in ran.output
    assert region.done == []


def test_a_move_that_a_broker_refuses_ends_it_before_partitions_move(
    region: DiskRegion, ask: Any
) -> None:
    region.disks[1].errors = [STORAGE_ERROR]
    ran = ask("execute", {0: {1: "/b", 4: "any"}})
    assert ran.exit_code == 1
    assert "orders-0-1: KAFKA_STORAGE_ERROR" in ran.output
    assert region.done == [(1, 0, "/b")]


def test_a_move_that_is_on_its_way_is_left_and_another_is_turned(
    region: DiskRegion, ask: Any
) -> None:
    region.disks[1].copied = region.disks[2].copied = {0: "/b"}
    assert ask("execute", {0: {1: "/b", 2: "/a"}}).exit_code == 0
    assert region.done == [(2, 0, "/a"), ("orders", 0, [1, 2])]


# --- generate, verify, cancel ---


def test_the_current_plan_names_directories_where_brokers_tell_them(region: DiskRegion) -> None:
    region.disks[3].denied = DENIED
    ran = region.run("generate", "--topics", "orders", "--broker-list", "1,2,3,4", "--json")
    told = json.loads(ran.stdout)
    assert [each["log_dirs"] for each in told["current"]["partitions"]] == [["/a", "/a"], ["/a", "any"]]  # fmt: skip
    assert {path for each in told["proposed"]["partitions"] for path in each["log_dirs"]} == {"any"}


def test_verify_counts_directories(region: DiskRegion, ask: Any) -> None:
    region.disks[1].copied = {0: "/b"}
    region.disks[3].denied = DENIED
    plan = {0: {1: "/b", 2: "/b"}, 1: {2: "/a", 3: "/a"}}
    ran = ask("verify", plan)
    assert ran.exit_code == 3
    assert ran.output.splitlines()[-4:] == [
        "Reassignment of replica orders-0-1 is still in progress.",
        "Replica orders-0-2 lies in /a and is not being moved rather than /b.",
        "Reassignment of replica orders-1-2 completed successfully.",
        "Broker 3 does not tell where replica orders-1-3 lies: CLUSTER_AUTHORIZATION_FAILED.",
    ]
    region.disks[1].copied, region.disks[3].denied = {}, 0
    for broker in (1, 2):
        region.disks[broker].lie[0] = "/b"
    told = json.loads(ask("verify", plan, "--json").stdout)
    assert [each["state"] for each in told["directories"]] == ["complete"] * 4
    assert told["is_complete"]


def test_verify_keeps_throttles_while_copies_are_made(region: DiskRegion, ask: Any) -> None:
    region.disks[1].copied = {0: "/b"}
    told = json.loads(ask("verify", {0: {1: "/a", 2: "/a"}}, "--json").stdout)
    assert (told["is_complete"], told["throttles_removed"]) == (False, False)
    assert [each["state"] for each in told["directories"]] == ["elsewhere", "complete"]
    assert region.done == []


def test_a_replica_that_lies_nowhere_is_missing(region: DiskRegion, ask: Any) -> None:
    ran = ask("verify", {0: {1: "any", 4: "/a"}, 1: {2: "any", 9: "/a"}})
    assert "orders-0-4 is in none of the online log directories of broker 4." in ran.output
    assert "Broker 9 does not tell where replica orders-1-9 lies: it is not registered." in ran.output  # fmt: skip


def test_cancel_leaves_replicas_where_they_lie(region: DiskRegion, ask: Any) -> None:
    region.disks[1].copied = {0: "/b"}
    region.moving = [moving(0, [4, 1, 2], [4])]
    plan = {0: {1: "/b", 4: "/b"}, 1: {2: "/b", 3: "any"}}
    ran = ask("cancel", plan, "--preserve-throttles")
    assert ran.output.splitlines() == [
        "Successfully cancelled partition reassignments for: orders-0",
        "Successfully cancelled log directory moves for: orders-0-1",
    ]
    assert region.done == [("orders", 0, None), (1, 0, "/a")]
    region.disks[1].errors = [STORAGE_ERROR]
    ran = ask("cancel", plan)
    assert ran.exit_code == 1
    assert "not cancelled: \n  orders-0-1: KAFKA_STORAGE_ERROR" in ran.output
