"""`causeway replica` and `causeway region reassign` against a region of real processes."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from federation.cli import main
from tests.process import asking

pytestmark = pytest.mark.process
TIMEOUT_S = 30


class Region:
    """Three nodes in a rack each; `run` is a command about it: its exit code and its answer."""

    def __init__(self, directory: Path) -> None:
        self._place = ("--dir", str(directory), "--region", "west")
        code, told = self.run("local", "up", "--nodes", "3", "--racks", "a,b,c")
        assert code == 0, told
        (region,) = told["regions"]
        self._nodes = region["nodes"]
        self.bootstrap = region["bootstrap"]

    def run(self, *words: str) -> tuple[int, Any]:
        ran = CliRunner().invoke(main, [*words, *self._place, "--json"])
        assert ran.stdout, ran.output
        return ran.exit_code, json.loads(ran.stdout)

    def kill(self, node_id: int) -> None:
        os.kill(self._nodes[node_id - 1]["pid"], signal.SIGKILL)

    def replicas(self, *words: str) -> list[Any]:
        _, told = self.run("replica", "status", *words)
        return list(told["replicas"])

    def leader_of(self, topic: str) -> int:
        _, told = self.run("region", "partitions", topic)
        return int(told["partitions"][0]["leader"])


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Region]:
    one = Region(tmp_path)
    yield one
    one.run("local", "down")


def until(holds: Callable[[], bool]) -> None:
    asking.until(holds, TIMEOUT_S, lambda: "it is not so", pause_s=asking.COMMAND_PAUSE_S)


def test_replicas_are_seen_and_moved(region: Region, tmp_path: Path) -> None:
    placed = [
        NewTopic("orders", 1, replica_assignment=[[1, 2]]),
        NewTopic("alone", 1, replica_assignment=[[3]]),
        NewTopic("back", 1, replica_assignment=[[3, 2]]),
    ]
    admin = AdminClient({"bootstrap.servers": region.bootstrap})
    for created in admin.create_topics(placed).values():
        created.result(TIMEOUT_S)
    producer = Producer({"bootstrap.servers": region.bootstrap, "acks": "all"})
    for number in range(100):
        producer.produce("orders", str(number))
    assert producer.flush(TIMEOUT_S) == 0

    code, told = region.run("replica", "status", "--topics", "orders,alone")
    assert (code, told["silent"]) == (0, [])
    rows = {(each["topic"], each["replica"]): each for each in told["replicas"]}
    assert list(rows) == [("alone", 3), ("orders", 1), ("orders", 2)]
    leader, follower = rows["orders", 1], rows["orders", 2]
    assert (leader["is_leader"], leader["log_end_offset"], leader["lag"]) == (True, 100, 0)
    assert (follower["log_end_offset"], follower["lag"], follower["is_in_isr"]) == (100, 0, True)
    assert follower["is_caught_up"]
    assert 0 <= follower["last_fetch_lag_ms"] < TIMEOUT_S * 1_000

    plan = str(tmp_path / "plan.json")
    named = ("--reassignment-json-file", plan)
    wanted = ("--topics", "orders", "--broker-list", "2,3", "--save", plan)
    code, told = region.run("region", "reassign", "generate", *wanted)
    assert code == 0
    (target,) = (each["replicas"] for each in told["proposed"]["partitions"])
    assert {*target} == {2, 3}
    code, told = region.run("region", "reassign", "execute", *named, "--throttle", "1000000000")
    assert (code, told["started"]) == (0, ["orders-0"])
    until(lambda: region.run("region", "reassign", "verify", *named)[0] == 0)
    rows = {each["replica"]: each for each in region.replicas("--topics", "orders")}
    assert {each: row["log_end_offset"] for each, row in rows.items()} == {2: 100, 3: 100}

    region.kill(3)
    until(lambda: region.replicas("--topics", "alone")[0]["is_leader"] is False)
    code, told = region.run("replica", "status")
    assert code == 4, "nobody leads it, so nobody tells"
    rows = {(each["topic"], each["replica"]): each for each in told["replicas"]}
    assert rows["alone", 3]["log_end_offset"] is None
    assert rows["orders", 2]["log_end_offset"] == 100
    assert (rows["orders", 3]["is_in_isr"], rows["orders", 3]["is_isr_eligible"]) == (False, False)

    unclean = ("region", "elect", "--election-type", "unclean", "--topic", "alone")
    code, told = region.run(*unclean)
    assert (code, told["elected"]) == (1, []), "its only replica is not there"
    assert "ELIGIBLE_LEADERS_NOT_AVAILABLE" in told["refused"]["alone-0"]

    assert region.leader_of("back") == 2
    assert region.run("local", "up")[0] == 0
    until(lambda: all(each["is_in_isr"] for each in region.replicas("--topics", "back,alone")))
    preferred = ("region", "elect", "--election-type", "preferred", "--topic", "back")
    assert region.run(*preferred)[1]["elected"] == ["back-0"]
    until(lambda: region.leader_of("back") == 3)
    assert region.run(*preferred)[1]["not_needed"] == ["back-0"]
    assert region.run(*unclean)[1]["not_needed"] == ["alone-0"]
