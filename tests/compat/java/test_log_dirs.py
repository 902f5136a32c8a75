"""kafka-log-dirs and kafka-reassign-partitions over a broker with two log directories."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compat.java.conftest import Tool
from tests.process.ledger import create_topic
from tests.process.nodes import BrokerProcess

CONFIGS = "kafka.admin.ConfigCommand"
COPY_RATE = r"replica\.alter\.log\.dirs\.io\.max\.bytes\.per\.second"
REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
TIMEOUT_S = 15


@pytest.fixture
def node(tmp_path: Path) -> Iterator[BrokerProcess]:
    node = BrokerProcess(tmp_path, {"log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}"})
    node.start()
    yield node
    node.kill()


def test_the_tools_show_directories_and_move_replicas_between_them(
    node: BrokerProcess, tool: Tool, tmp_path: Path
) -> None:
    create_topic(node.address, "t", 2)
    at = ("--bootstrap-server", node.address)
    assert homes(tool, *at) == {"t-0": str(tmp_path / "a"), "t-1": str(tmp_path / "b")}
    plan = tmp_path / "plan.json"
    wanted = {"topic": "t", "partition": 0, "replicas": [1], "log_dirs": [str(tmp_path / "b")]}
    plan.write_text(json.dumps({"version": 1, "partitions": [wanted]}))
    named = ("--reassignment-json-file", str(plan))
    begun = tool(REASSIGN, *at, *named, "--execute", "--replica-alter-log-dirs-throttle", "1000000")
    assert "The replica-alter-dir throttle limit was set to 1000000 B/s" in begun
    assert limits(tool, *at) == ["1000000"]
    moved = tmp_path / "b" / "t-0"
    deadline = time.monotonic() + TIMEOUT_S
    while not moved.exists():
        assert time.monotonic() < deadline
    told = tool(REASSIGN, *at, *named, "--verify")
    assert "replica t-0-1 completed successfully" in told, told
    assert limits(tool, *at) == []
    assert homes(tool, *at) == {"t-0": str(tmp_path / "b"), "t-1": str(tmp_path / "b")}


def limits(tool: Tool, *at: str) -> list[str]:
    """What copies on the broker are limited to, where they are."""
    printed = tool(CONFIGS, *at, "--entity-type", "brokers", "--entity-name", "1", "--describe")
    return re.findall(rf"{COPY_RATE}=(\d+) sensitive", printed)


def homes(tool: Tool, *at: str) -> dict[str, str]:
    """Partition to directory, as kafka-log-dirs prints it."""
    printed = tool("LogDirsCommand", *at, "--describe", "--topic-list", "t")
    told: Any = json.loads(next(line for line in printed.splitlines() if line.startswith("{")))
    (broker,) = told["brokers"]
    assert all(each["error"] is None for each in broker["logDirs"])
    return {
        each["partition"]: directory["logDir"]
        for directory in broker["logDirs"]
        for each in directory["partitions"]
    }
