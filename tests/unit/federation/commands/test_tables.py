"""Tables where there is little room: in a narrow terminal, and of topics with long names."""

import os
import re
import subprocess
import sys
from typing import Any

from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from tests.unit.federation.commands.broker_double import Answers, BrokerDouble, broker_double
from tests.unit.federation.commands.region.test_view import configs, partition, topic

HOST = "broker-one.west.example.org"
LONG_NAME = "orders-" * 35
NARROW = {"COLUMNS": "60", "TERM": "xterm"}


def cluster(_: Any) -> DescribeClusterResponse:
    brokers = [DescribeClusterBroker(broker_id=1, host=HOST, port=29_092)]
    return DescribeClusterResponse(cluster_id="region-one", controller_id=1, brokers=brokers)


def described(_: Any) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(topics=[topic(LONG_NAME, partition(0, 1, [1], [1]))])


REGION: Answers = {60: (2, cluster), 32: (4, configs), 75: (0, described)}


def on_a_terminal(broker: BrokerDouble, *arguments: str) -> str:
    """What a terminal of 60 columns is sent, without its colours."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "federation", *arguments]
    where = ["--bootstrap-server", broker.bootstrap]
    with os.fdopen(ours, "rb") as terminal:
        subprocess.run([*command, *where], stdout=theirs, env=os.environ | NARROW, check=True)
        os.write(theirs, b"\x04")
        os.close(theirs)
        sent = b""
        while not sent.endswith(b"\x04"):
            sent += terminal.read1()
    return re.sub(r"\x1b\[[0-9;]*m", "", sent.decode())


def test_a_narrow_terminal_is_sent_whole_addresses() -> None:
    with broker_double(REGION) as broker:
        shown = on_a_terminal(broker, "region", "brokers")
    assert f"{HOST}:29092" in shown
    assert "…" not in shown


def test_a_pipe_is_sent_whole_names() -> None:
    with broker_double(REGION) as broker:
        for command in ("topics", "partitions"):
            assert f" {LONG_NAME} " in broker.run("region", command).output
