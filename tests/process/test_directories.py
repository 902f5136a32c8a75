"""A broker with two log directories loses one of them for real, under load: nothing that was acknowledged is lost.

What is there one moment and not the next is a disk that was unmounted: the directory is moved away under the broker.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.ledger import Ledger, check, read_all
from tests.process.nodes import BrokerProcess

TIMEOUT_S = 15
PARTITIONS = 4


class Trio:
    """Three nodes, the first of them the controller; the second has the directories a and b."""

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        self.a, self.b = directory / "a", directory / "b"
        port = free_port()
        self.nodes: dict[int, BrokerProcess] = {}
        for node_id in (1, 2, 3):
            place = directory / f"node-{node_id}"
            place.mkdir()
            controller = f",CONTROLLER://127.0.0.1:{port}" if node_id == 1 else ""
            self.nodes[node_id] = BrokerProcess(
                place,
                {
                    "node.id": node_id,
                    "cluster.id": "trio",
                    "process.roles": "broker,controller" if node_id == 1 else "broker",
                    "listeners": f"PLAINTEXT://127.0.0.1:0{controller}",
                    "controller.quorum.voters": f"1@127.0.0.1:{port}",
                    "log.dirs": f"{self.a},{self.b}" if node_id == 2 else str(place / "data"),
                    **(settings or {}),
                },
            )

    def start(self) -> None:
        with ThreadPoolExecutor() as threads:
            for started in [threads.submit(node.start) for node in self.nodes.values()]:
                started.result()

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    def create(self, topic: str) -> None:
        """Led by the second node; synced at once, so that a disk that is gone is missed at once."""
        settings = {"min.insync.replicas": "2", "flush.messages": "1"}
        replicas = [[2, 1, 3]] * PARTITIONS
        wanted = NewTopic(topic, PARTITIONS, replica_assignment=replicas, config=settings)
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([wanted])[topic].result(20)

    def partitions(self, topic: str) -> dict[int, tuple[int, list[int]]]:
        """(leader, in-sync set) by partition."""
        admin = AdminClient({"bootstrap.servers": self.nodes[1].address})
        found = admin.list_topics(topic, timeout=10).topics[topic].partitions
        return {index: (each.leader, each.isrs) for index, each in found.items()}


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Trio]:
    trio = Trio(tmp_path)
    trio.start()
    yield trio
    for node in trio.nodes.values():
        if node.is_running():
            node.kill()


def test_a_directory_that_is_gone_takes_only_its_partitions(trio: Trio, tmp_path: Path) -> None:
    trio.create("t")
    ledger = Ledger(trio.bootstrap, "t", PARTITIONS)
    ledger.start()
    ledger.wait_for(500)
    gone = [index for index in range(PARTITIONS) if (trio.b / f"t-{index}").exists()]
    assert len(gone) == PARTITIONS // 2
    trio.b.rename(tmp_path / "unmounted")
    _wait(lambda: all(trio.partitions("t")[index][0] != 2 for index in gone))
    ledger.wait_for(len(ledger.acknowledged) + 2_000)
    ledger.close()
    told = trio.partitions("t")
    assert {index for index, (leader, _) in told.items() if leader == 2} == {*told} - {*gone}
    assert not any(2 in told[index][1] for index in gone)
    assert trio.nodes[2].is_running()
    assert f"log directory {trio.b}: offline" in trio.nodes[2].log()
    assert trio.nodes[2].stop() == 0
    (tmp_path / "unmounted").rename(trio.b)
    trio.nodes[2].start()
    _wait(lambda: all(2 in isr for _, isr in trio.partitions("t").values()))
    check(ledger, read_all(trio.bootstrap, "t", PARTITIONS))


def _wait(is_so: Callable[[], bool]) -> None:
    until(is_so, TIMEOUT_S, lambda: "it is not so")
