"""A source restarts after its destination is gone for good: who waits for it is seen, and the wait is ended."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.process.asking import COMMAND_PAUSE_S, until
from tests.process.commands import causeway
from tests.process.ledger import create_topic, read_all
from tests.process.nodes import NodeProcess

TIMEOUT_S = 60
LINK = "west-east"
WAIT_MS = 600_000  # longer than any test


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[tuple[NodeProcess, NodeProcess]]:
    nodes = []
    for name in ("west", "east"):
        (tmp_path / name).mkdir()
        settings = {"cluster.id": name, "link.source.startup.wait.ms": WAIT_MS}
        nodes.append(NodeProcess(tmp_path / name, settings))
        nodes[-1].start()
    west, east = nodes
    yield west, east
    if east.is_running():
        east.kill()
    assert west.stop() == 0
    assert "Traceback" not in west.log()


def ask(node: NodeProcess, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", node.address, timeout=TIMEOUT_S)


def destinations(west: NodeProcess) -> Any:
    return ask(west, "link", "destinations")["destinations"]


def sent(west: NodeProcess, value: bytes) -> Producer:
    """A producer that has sent a record, and maybe not heard of it."""
    producer = Producer({"bootstrap.servers": west.address, "linger.ms": 0})
    producer.produce("orders", value, partition=0)
    producer.poll(0)
    return producer


def test_writes_go_on_when_the_region_that_they_wait_for_is_forgotten(
    regions: tuple[NodeProcess, NodeProcess],
) -> None:
    west, east = regions
    create_topic(west.address, "orders", 1)
    ask(east, "link", "create", LINK, "--source-bootstrap-server", west.address)
    ask(east, "mirror", "create", "orders", "--link", LINK)
    assert sent(west, b"1").flush(TIMEOUT_S) == 0
    until(
        lambda: bool(destinations(west)),
        TIMEOUT_S,
        lambda: "east says nothing",
        pause_s=COMMAND_PAUSE_S,
    )
    east.kill()
    west.kill()
    west.start()
    producer = sent(west, b"2")

    (one,) = destinations(west)
    assert (one["link_name"], one["destination_cluster_id"]) == (LINK, "east")
    assert one["topics"] == ["orders"]
    (broker,) = one["brokers"]
    assert 0 < broker["writes_wait_ms"] <= WAIT_MS
    assert (broker["is_heard"], broker["is_missed"]) == (False, False)
    assert len(producer) == 1, "it waits"

    forgotten = ask(west, "link", "forget-destination", LINK)
    assert forgotten["destinations"][0]["destination_cluster_id"] == "east"
    assert producer.flush(TIMEOUT_S) == 0
    assert destinations(west) == []
    west.kill()
    west.start()
    assert sent(west, b"3").flush(TIMEOUT_S) == 0
    assert len(read_all(west.address, "orders", 1)) == 3
