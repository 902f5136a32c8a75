"""Kafka's verifiable producer and consumer at a region of three nodes, while a leader is killed and comes back.

Both say what they sent, what was acknowledged where, and what they read where: all that was acknowledged must be read,
at its place, and no value at two places.
"""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.peer import jars
from tests.compat.events import TIMEOUT_S, Program, places
from tests.process.ledger import create_topic
from tests.process.members import Members

NODES, PARTITIONS, TOPIC = 3, 3, "verifiable"
MESSAGES, A_SECOND = 5_000, 500
# By itself the tool does not retry, and so is not idempotent either.
IDEMPOTENT = "enable.idempotence=true\nretries=2147483647\nretry.backoff.ms=50\n"


def tool(directory: Path, main: str, *words: str) -> Program:
    """A main class of Kafka's that prints a line of JSON for each thing that happens."""
    command = jars.java(f"org.apache.kafka.tools.{main}", *words)
    command[1:1] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    command.remove("-XX:+UseG1GC")
    return Program(directory, main, command)


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Members]:
    try:
        jars.fetch()
    except jars.Unavailable as reason:
        pytest.skip(str(reason))
    members = Members(tmp_path / "region", NODES)
    members.up()
    create_topic(members.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    members.wait_in_sync(TOPIC, PARTITIONS)
    yield members
    members.down()


@pytest.fixture
def tools(region: Members, tmp_path: Path) -> Iterator[tuple[Program, Program]]:
    """A producer and a consumer at work."""
    settings = tmp_path / "producer.properties"
    settings.write_text(IDEMPOTENT)
    at = ("--bootstrap-server", region.bootstrap, "--topic", TOPIC)
    pace = ("--max-messages", str(MESSAGES), "--throughput", str(A_SECOND))
    reading = ("--group-id", "verifiers", "--reset-policy", "earliest", "--verbose")
    with contextlib.ExitStack() as stack:
        consumer = tool(tmp_path, "VerifiableConsumer", *at, *reading)
        stack.callback(consumer.end)
        producer = tool(
            tmp_path, "VerifiableProducer", *at, *pace, "--command-config", str(settings)
        )
        stack.callback(producer.end)
        yield producer, consumer


def test_all_that_was_acknowledged_is_read_once(
    region: Members, tools: tuple[Program, Program]
) -> None:
    producer, consumer = tools
    producer.wait_for("producer_send_success", 500)
    leader = region.leader(TOPIC, 0)
    region.end(leader, signal.SIGKILL)
    region.leader(TOPIC, 0, other_than=leader)
    producer.wait_for("producer_send_success", 2_000)
    region.up()
    assert producer.process.wait(TIMEOUT_S) == 0
    sent = producer.events("producer_send_success")
    assert not producer.events("producer_send_error")
    assert sorted(int(event["value"]) for event in sent) == list(range(MESSAGES))
    consumer.wait_for("record_data", MESSAGES)
    read = consumer.events("record_data")
    assert places(sent) == places(read)
    assert all(len(found) == 1 for found in places(read).values())
