"""A follower whose small disk fills: it leaves the in-sync replicas, gets no new ones, and comes back by itself."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.nodes import BrokerProcess

SIZE = 64 << 20
REFUSED_BELOW = SIZE * 40 // 100
VALUE = bytes(200_000)
SMALL = 2  # the node with the small disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here: this needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def nodes(tmp_path: Path, disk: Path) -> Iterator[dict[int, BrokerProcess]]:
    """Three brokers, the first of them the controller; the second has the small disk."""
    port = free_port()
    nodes: dict[int, BrokerProcess] = {}
    for node_id in (1, 2, 3):
        place = tmp_path / f"node-{node_id}"
        place.mkdir()
        controller = f",CONTROLLER://127.0.0.1:{port}" if node_id == 1 else ""
        settings = {
            "node.id": node_id,
            "cluster.id": "small",
            "process.roles": "broker,controller" if node_id == 1 else "broker",
            "listeners": f"PLAINTEXT://127.0.0.1:0{controller}",
            "controller.quorum.voters": f"1@127.0.0.1:{port}",
            "log.dirs": str(disk if node_id == SMALL else place / "data"),
            "metadata.log.dir": str(place / "metadata"),
            "log.segment.bytes": 1 << 20,
            "log.segment.delete.delay.ms": 1_000,
            "replica.lag.time.max.ms": 2_000,
        }
        if node_id == SMALL:
            settings["disk.watermark.refuse.free.bytes"] = REFUSED_BELOW
        nodes[node_id] = BrokerProcess(place, settings)
    with ThreadPoolExecutor() as threads:
        list(threads.map(BrokerProcess.start, nodes.values()))
    yield nodes
    for node in nodes.values():
        if node.is_running():
            node.kill()


def _in_sync(admin: AdminClient, topic: str) -> set[int]:
    return set(admin.list_topics(topic, timeout=10).topics[topic].partitions[0].isrs)


def _create(admin: AdminClient, wanted: NewTopic) -> str:
    """The error, if any."""
    try:
        admin.create_topics([wanted])[wanted.topic].result(20)
    except KafkaException as error:
        return str(error.args[0].str())
    return ""


def test_a_follower_with_a_nearly_full_disk_steps_back_and_returns(
    nodes: dict[int, BrokerProcess], disk: Path
) -> None:
    small = nodes[SMALL]
    admin = AdminClient({"bootstrap.servers": nodes[1].address})
    config = {"min.insync.replicas": "2"}
    wanted = NewTopic("orders", 1, replica_assignment=[[1, SMALL, 3]], config=config)
    until(lambda: not _create(admin, wanted), 20, small.log)
    producer = Producer({"bootstrap.servers": nodes[1].address, "acks": "all"})
    failed: list[object] = []
    for _ in range(400):
        if "its followers stop copying" in small.log():
            break
        producer.produce(
            "orders", VALUE, on_delivery=lambda error, _: failed.append(error) if error else None
        )
        producer.flush(20)
    for _ in range(200):
        producer.produce("orders", VALUE)
    assert producer.flush(30) == 0 and not failed, "what is in sync is enough"
    until(lambda: _in_sync(admin, "orders") == {1, 3}, 20, small.log)
    used = int(
        subprocess.run(["du", "-sb", disk], capture_output=True, check=True).stdout.split()[0]
    )
    assert used < SIZE - REFUSED_BELOW // 4
    assert "offline" not in small.log()

    assert not _create(admin, NewTopic("next", 6, 2))
    found = admin.list_topics("next", timeout=10).topics["next"].partitions
    assert {tuple(sorted(each.replicas)) for each in found.values()} == {(1, 3)}
    because = _create(admin, NewTopic("named", 1, replica_assignment=[[SMALL, 1]]))
    assert f"broker {SMALL} takes no new replicas" in because

    (deleted,) = admin.delete_records([TopicPartition("orders", 0, -1)]).values()
    deleted.result(30)
    until(lambda: _in_sync(admin, "orders") == {1, SMALL, 3}, 30, small.log)
    until(
        lambda: not _create(admin, NewTopic("named", 1, replica_assignment=[[SMALL, 1]])),
        20,
        small.log,
    )
    for node in nodes.values():
        assert node.stop() == 0
