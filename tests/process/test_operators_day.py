"""An operator's day at the command line, with a region of three real nodes."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer

from federation.cli import main
from tests.process import asking

pytestmark = pytest.mark.process
TIMEOUT_S = 60


class Region:
    """Three nodes; `run` is a command about them: its exit code and its answer."""

    def __init__(self, directory: Path) -> None:
        self._place = ("--dir", str(directory), "--region", "west")
        told = self.done("local", "up", "--nodes", "3")
        (region,) = told["regions"]
        self._nodes = region["nodes"]
        self.bootstrap = region["bootstrap"]

    def run(self, *words: str) -> tuple[int, Any]:
        ran = CliRunner().invoke(main, [*words, *self._place, "--json"])
        assert ran.stdout, ran.output
        return ran.exit_code, json.loads(ran.stdout)

    def done(self, *words: str) -> Any:
        code, told = self.run(*words)
        assert code == 0, told
        return told

    def refused(self, *words: str) -> Any:
        code, told = self.run(*words)
        assert code == 1, told
        return told

    def kill(self, node_id: int) -> None:
        os.kill(self._nodes[node_id - 1]["pid"], signal.SIGKILL)

    def survives(self) -> int | None:
        """How many losses the quorum survives; None while nobody leads it."""
        _, told = self.run("region", "describe")
        quorum = told.get("quorum")
        return None if quorum is None else int(quorum["survives_losses"])

    def history(self, *options: str) -> list[str]:
        told = self.done("region", "history", *options)
        assert told["is_recorded"]
        return [each["operation"] for each in told["operations"]]


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    one = Region(tmp_path_factory.mktemp("day"))
    yield one
    one.run("local", "down")


def until(holds: Callable[[], bool]) -> None:
    asking.until(holds, TIMEOUT_S, lambda: "it is not so", pause_s=asking.COMMAND_PAUSE_S)


def produce(region: Region, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": region.bootstrap, "acks": "all"})
    for number in range(count):
        producer.produce(topic, str(number), partition=number % 2)
    assert producer.flush(TIMEOUT_S) == 0


def test_a_topic_from_its_creation_to_its_end(region: Region) -> None:
    sized = ("--partitions", "2", "--replication-factor", "3", "--config", "min.insync.replicas=2")
    region.done("topic", "create", "bills", *sized)
    assert "TOPIC_ALREADY_EXISTS" in region.refused("topic", "create", "bills")["refused"]["bills"]
    assert region.done("topic", "create", "bills", "--if-not-exists")["existing"] == ["bills"]
    (bills,) = region.done("topic", "describe", "bills")["topics"]
    assert bills["configs"] == {"min.insync.replicas": "2"}
    assert [len(each["isr"]) for each in bills["partitions"]] == [3, 3]

    mixed = ("--partitions", "1", "--config", "retention.ms=7000")
    assert (
        "INVALID_PARTITIONS"
        in region.refused("topic", "alter", "bills", *mixed)["refused"]["bills"]
    )
    grown = (
        "--partitions",
        "4",
        "--config",
        "retention.ms=7000",
        "--delete-config",
        "min.insync.replicas",
    )
    region.done("topic", "alter", "bills", *grown)
    (bills,) = region.done("topic", "describe", "bills")["topics"]
    assert (bills["partition_count"], bills["configs"]) == (4, {"retention.ms": "7000"})

    assert region.done("topic", "delete", "bills", "--dry-run")["deleted"] == ["bills"]
    region.done("topic", "delete", "bills")
    assert "bills" not in region.done("topic", "list")["topics"]
    assert region.history("--topic", "bills") == [
        "CreateTopics", "IncrementalAlterConfigs", "CreatePartitions", "DeleteTopics",
    ]  # fmt: skip
    (created, *_) = region.done("region", "history", "--topic", "bills")["operations"]
    assert (created["principal"], created["host"]) == ("User:ANONYMOUS", "127.0.0.1")


def test_a_group_is_seen_moved_and_deleted(region: Region) -> None:
    region.done("topic", "create", "orders", "--partitions", "2")
    produce(region, "orders", 100)
    reader = Consumer(
        {
            "bootstrap.servers": region.bootstrap,
            "group.id": "billing",
            "client.id": "desk-4",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    reader.subscribe(["orders"])
    until(lambda: (message := reader.poll(1)) is not None and message.error() is None)
    reader.commit(asynchronous=False)

    (billing,) = region.done("group", "describe", "billing")["groups"]
    assert (billing["state"], billing["members"]) == ("Stable", 1)
    lag = {each["partition"]: (each["lag"], each["client_id"]) for each in billing["offsets"]}
    assert sum(one or 0 for one, _ in lag.values()) in (49, 99), (
        "nothing is known of a partition without a commit"
    )
    assert {client for _, client in lag.values()} == {"desk-4"}
    to_start = (
        "group",
        "reset-offsets",
        "billing",
        "--topic",
        "orders",
        "--to-earliest",
        "--execute",
    )
    assert "billing is Stable" in region.refused(*to_start)["error"]
    assert region.refused("group", "delete", "billing")["refused"] == {"billing": "NON_EMPTY_GROUP"}

    reader.close()
    moved = ("group", "reset-offsets", "billing", "--topic", "orders:0", "--to-offset", "7")
    assert not region.done(*moved)["executed"]
    region.done(*moved, "--execute")
    region.done(
        "group", "reset-offsets", "billing", "--topic", "orders:1", "--to-latest", "--execute"
    )
    (billing,) = region.done("group", "describe", "billing")["groups"]
    assert [each["current_offset"] for each in billing["offsets"]] == [7, 50]
    assert [
        each["group"] for each in region.done("group", "list", "--state", "Empty")["groups"]
    ] == ["billing"]
    assert region.done("group", "delete-offsets", "billing", "--topic", "orders:1")["deleted"] == [
        "orders-1"
    ]
    region.done("group", "delete", "billing")
    told = ["OffsetCommit", "OffsetCommit", "OffsetDelete", "DeleteGroups"]
    until(lambda: region.history("--resource", "group:billing") == told)
    assert "there is no group billing" in region.refused("group", "describe", "billing")["error"]


def test_levels_of_features_are_shown_and_not_lowered(region: Region) -> None:
    found = region.done("region", "features", "describe")
    assert found["nodes"] == [1, 2, 3]
    assert {each["feature"]: each["finalized"] for each in found["features"]} == {
        "causeway.version": 1, "group.version": 0, "kraft.version": 1, "metadata.version": 30,
        "transaction.version": 0,
    }  # fmt: skip
    upgrade = ("region", "features", "upgrade")
    assert region.done(*upgrade, "--latest") == {
        "features": [], "unchanged": [], "validate_only": False,
    }  # fmt: skip
    lower = region.refused(*upgrade, "--feature", "metadata.version=25", "--dry-run")
    assert "is not lowered" in lower["error"]


def test_a_quorum_loses_a_voter_and_gets_it_back(region: Region) -> None:
    region.done("topic", "create", "everywhere", "--replication-factor", "3")
    assert region.done("region", "voters", "describe")["survives_losses"] == 1
    assert "would survive no loss" in region.refused("region", "voters", "remove", "3")["error"]
    region.kill(3)
    until(lambda: region.survives() == 0)
    assert region.run("region", "describe", "--check")[0] == 3
    until(lambda: region.run("region", "voters", "remove", "3")[0] == 0)
    told = region.refused("region", "unregister", "3")
    assert "has replicas" in told["error"] or "is active" in told["error"]

    region.done("local", "up")
    until(lambda: region.run("region", "voters", "add", "3")[0] == 0)
    until(lambda: region.run("region", "describe", "--check")[0] == 0)
    assert region.history("--resource", "voter:3") == ["RemoveRaftVoter", "AddRaftVoter"]
