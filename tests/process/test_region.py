"""`causeway region` against a real node."""

import json
import subprocess
import sys
from typing import Any

from tests.process.ledger import create_topic
from tests.process.nodes import BrokerProcess

PARTITIONS = 2_100  # more than a broker describes in one answer


def told(node: BrokerProcess, *arguments: str) -> Any:
    command = [sys.executable, "-m", "federation", "region", *arguments]
    where = ["--bootstrap-server", node.address, "--json"]
    done = subprocess.run([*command, *where], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_region_is_described_whole(node: BrokerProcess) -> None:
    create_topic(node.address, "big", PARTITIONS)
    create_topic(node.address, "small", 1)
    found = told(node, "describe", "--check")
    assert (found["topics"], found["partitions"]) == (2, PARTITIONS + 1)
    assert (found["offline"], found["under_min_isr"], found["under_replicated"]) == (0, 0, 0)
    (broker,) = found["brokers"]
    assert (broker["leads"], broker["replicas"], broker["fenced"]) == (
        PARTITIONS + 1, PARTITIONS + 1, False,
    )  # fmt: skip
    assert found["quorum"]["voters"] == [{"id": 1, "lag": 0, "is_away": False}]
    partitions = told(node, "partitions", "big")["partitions"]
    assert [each["partition"] for each in partitions] == [*range(PARTITIONS)]
    assert {each["state"] for each in partitions} == {"ok"}
    assert told(node, "topics", "--offline") == {"topics": []}
