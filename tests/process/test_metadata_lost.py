"""Two of three controllers are lost for good: the third begins the quorum anew; then all are, and a backup does."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from federation.cli import main
from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.ledger import create_topic, read_all
from tests.process.nodes import NodeProcess

RECORDS = 300


class Region:
    """Three nodes, each broker and controller; snapshots of the metadata are taken all the time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ports = {node: free_port() for node in (1, 2, 3)}
        self.nodes = {node: self._node(node, (1, 2, 3)) for node in (1, 2, 3)}

    def _node(self, node: int, voters: tuple[int, ...]) -> NodeProcess:
        place = self._directory / f"node-{node}"
        place.mkdir(exist_ok=True)
        controller = f"CONTROLLER://127.0.0.1:{self._ports[node]}"
        quorum = ",".join(f"{each}@127.0.0.1:{self._ports[each]}" for each in voters)
        return NodeProcess(
            place,
            {
                "node.id": node,
                "cluster.id": "the-region",
                "process.roles": "broker,controller",
                "listeners": f"PLAINTEXT://127.0.0.1:0,{controller}",
                "controller.quorum.voters": quorum,
                "metadata.log.max.record.bytes.between.snapshots": 2_000,
                "replica.high.watermark.checkpoint.interval.ms": 200,
            },
        )

    def start(self, *nodes: int) -> None:
        with ThreadPoolExecutor() as threads:
            for started in [threads.submit(self.nodes[node].start) for node in nodes]:
                started.result()

    def lose(self, *nodes: int) -> None:
        """Processes and disks."""
        for node in nodes:
            self.nodes[node].kill()
            shutil.rmtree(self.nodes[node].data)

    def replace(self, node: int, voters: tuple[int, ...]) -> None:
        """Another node with an empty disk."""
        self.nodes[node] = self._node(node, voters)
        self.start(node)

    def config(self, node: int) -> Path:
        return self.nodes[node].data.parent / "node.toml"

    def run(self, *arguments: object, exits: int = 0) -> Any:
        ran = CliRunner().invoke(main, [*map(str, arguments), "--json"])
        assert ran.exit_code == exits, ran.output
        return json.loads(ran.stdout)

    def ask(self, *arguments: object) -> Any:
        """Of node 1, while it runs."""
        return self.run(*arguments, "--bootstrap-server", self.nodes[1].address)


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Region]:
    region = Region(tmp_path)
    region.start(1, 2, 3)
    yield region
    for node in region.nodes.values():
        if node.is_running():
            node.kill()


def _fill(region: Region) -> None:
    """A topic with a setting and records, and a link."""
    address = region.nodes[1].address
    create_topic(address, "orders", 3, replicas=3, retention_ms="86400001")
    producer = Producer({"bootstrap.servers": address, "acks": "all"})
    for number in range(RECORDS):
        producer.produce("orders", b"%d" % number, partition=number % 3)
    assert producer.flush(30) == 0
    region.ask("link", "create", "from-elsewhere", "--config", "connection.mode=INBOUND")


def _is_all_there(region: Region) -> None:
    """But the records."""
    address = region.nodes[1].address
    asked = ConfigResource(ResourceType.TOPIC, "orders")
    admin = AdminClient({"bootstrap.servers": address})
    found = admin.describe_configs([asked])[asked].result(20)
    assert found["retention.ms"].value == "86400001"
    assert [each["link_name"] for each in region.ask("link", "list")["links"]] == ["from-elsewhere"]


def test_a_majority_of_the_quorum_is_lost_for_good(region: Region, tmp_path: Path) -> None:
    _fill(region)
    backup = tmp_path / "backup"
    taken = region.ask("region", "metadata", "backup", backup)
    assert (taken["cluster_id"], taken["is_committed"], taken["topics"]) == ("the-region", True, 1)
    create_topic(region.nodes[1].address, "later", 1, replicas=3)
    region.lose(2, 3)
    region.nodes[1].kill()

    recover = ["region", "metadata", "recover", "--config", region.config(1)]
    said = region.run(*recover, exits=1)
    assert (said["given_up"], said["done"]) == ([2, 3], None)
    assert 0 < said["committed_below"] <= said["end_offset"]
    assert region.run(*recover, "--yes")["done"]["end_offset"] > said["end_offset"]
    region.start(1)
    # Until then the lost brokers count as alive, and what they lead as well led.
    until(lambda: _fenced(region) >= {2, 3}, 120, region.nodes[1].log)
    region.ask("region", "elect", "--election-type", "unclean", "--all-topic-partitions")
    _is_all_there(region)
    numbers = sorted(read_all(region.nodes[1].address, "orders", 3).values())
    assert numbers == list(range(RECORDS))
    region.replace(2, (1, 2))
    # A controller with an empty disk joins by itself.
    until(lambda: _voters(region) == [1, 2], 60, region.nodes[2].log)

    region.lose(1, 2)
    restore = ["region", "metadata", "restore", backup, "--config", region.config(1)]
    assert region.run(*restore, exits=1)["done"] is None
    assert region.run(*restore, "--yes")["replaced_end_offset"] is None
    region.start(1)
    assert "later" not in [each["topic"] for each in region.ask("region", "topics")["topics"]]
    _is_all_there(region)


def _fenced(region: Region) -> set[int]:
    return {one["id"] for one in region.ask("region", "brokers")["brokers"] if one["fenced"]}


def _voters(region: Region) -> list[int]:
    quorum = region.ask("region", "describe")["quorum"]
    return [] if quorum is None else [each["id"] for each in quorum["voters"]]
