"""`causeway local` with several nodes in a region: real processes that decide together."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

pytestmark = pytest.mark.process
TIMEOUT_S = 20


# Those that ask Kafka's listeners, and those that ask the administration.
ASKED = (("region", "describe"), ("topic", "list"), ("link", "list"), ("mirror", "list"))


def _run(*arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "federation", *arguments, "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def _local(verb: str, directory: Path, *arguments: str) -> Any:
    return _run("local", verb, "--dir", str(directory), *arguments)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "federation"
    _local("down", tmp_path / "federation")


def _leaders(bootstrap: str, topic: str) -> dict[int, int]:
    partitions = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic).topics[topic]
    return {each.id: each.leader for each in partitions.partitions.values()}


def test_three_nodes_are_one_region_and_go_on_without_any_of_them(directory: Path) -> None:
    told = _local("up", directory, "--region", "west", "--nodes", "3", "--racks", "a,b,c")
    (west,) = told["regions"]
    nodes = west["nodes"]
    assert west["bootstrap"] == ",".join(node["kafka"] for node in nodes)
    assert [node["id"] for node in nodes] == [1, 2, 3]
    admin = AdminClient({"bootstrap.servers": west["bootstrap"]})
    admin.create_topics([NewTopic("t", 3, 3)])["t"].result(TIMEOUT_S)
    assert set(_leaders(west["bootstrap"], "t").values()) == {1, 2, 3}
    for node in nodes:
        os.kill(node["pid"], signal.SIGKILL)
        others = [each["kafka"] for each in nodes if each is not node]
        deadline = time.monotonic() + TIMEOUT_S
        while node["id"] in _leaders(others[0], "t").values():
            assert time.monotonic() < deadline
        if node["id"] == 1:
            for command in ASKED:
                _run(*command, "--dir", str(directory), "--region", "west")
        told = _local("up", directory, "--region", "west", "--nodes", "3", "--racks", "a,b,c")
        node["pid"] = told["regions"][0]["nodes"][node["id"] - 1]["pid"]
    assert _local("down", directory)["killed"] == []


def test_a_region_grows(directory: Path) -> None:
    _local("up", directory, "--region", "west", "--nodes", "3")
    told = _local("up", directory, "--region", "west", "--nodes", "4")
    (west,) = told["regions"]
    brokers = AdminClient({"bootstrap.servers": west["bootstrap"]}).list_topics().brokers
    assert sorted(brokers) == [1, 2, 3, 4]
