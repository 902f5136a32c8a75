"""`python -m tests.bench.compaction`: one node of ours and one of Kafka's compact the same records, in turn.

A topic is filled while nothing in it is dirty enough to be cleaned; then the ratio is lowered, and the time is taken
until the cleaner's checkpoint says that everything but the active segment is clean. Figures are bytes of input a
second, and CPU seconds of all the node's processes.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.bench.peer import jars
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import SOURCE
from tests.process.nodes import BrokerProcess

TOPIC = "table"
FOLDER = f"{TOPIC}-0"
PATIENCE_S = 600
POLL_S = 0.02
SETTINGS = {"log.cleaner.backoff.ms": 50}
TOPIC_SETTINGS = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "1.0",
    "segment.bytes": str(64 << 20),
}


class Node(NamedTuple):
    """One running node, and its log directory."""

    name: str
    bootstrap: str
    pid: int
    data: Path
    stop: Callable[[], object]


class Compacted(NamedTuple):
    """One measure: bytes of input and output, wall and CPU seconds."""

    name: str
    input_bytes: int
    output_bytes: int
    seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        rate = self.input_bytes / 1e6 / self.seconds
        per_gb = self.cpu_seconds / (self.input_bytes / 1e9)
        return (
            f"{self.name:10} {rate:8.0f} MB/s of input, {per_gb:6.1f} CPU-s/GB,"
            f" {self.input_bytes / 1e6:.0f} MB to {self.output_bytes / 1e6:.0f} MB"
        )


def ours(directory: Path) -> Node:
    directory.mkdir()
    process = BrokerProcess(directory, SETTINGS)
    process.start()
    return Node("causeway", process.address, process.pid, process.data, process.stop)


def kafka(directory: Path) -> Node:
    peer = Kafka(directory, {key: str(value) for key, value in SETTINGS.items()})
    peer.up((SOURCE,))
    region = peer.region(SOURCE)
    return Node("kafka", region.bootstrap, region.pids[0], directory / SOURCE, peer.down)


def fill(node: Node, megabytes: int, keys: int, codec: str) -> None:
    """Records of 1 KB, of keys that each come again."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=TOPIC_SETTINGS)])[TOPIC].result(PATIENCE_S)
    producer = Producer(
        {"bootstrap.servers": node.bootstrap, "linger.ms": 20, "compression.type": codec,
         "enable.idempotence": True, "queue.buffering.max.messages": 20_000}
    )  # fmt: skip
    rng = random.Random(7)
    values = [rng.randbytes(750).hex().encode()[:1_000] for _ in range(200)]
    for _ in range(megabytes * 1_000):
        key = b"key-%08d" % rng.randrange(keys)
        while True:
            try:
                producer.produce(TOPIC, rng.choice(values), key)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0


def compact(node: Node) -> Compacted:
    """Lower the ratio, and wait until all but the active segment is clean."""
    before = sealed_bytes(node)
    used, began = cpu_seconds(node.pid), time.perf_counter()
    entry = ConfigEntry(
        "min.cleanable.dirty.ratio", "0.01", incremental_operation=AlterConfigOpType.SET
    )
    place = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.incremental_alter_configs([place])[place].result(PATIENCE_S)
    while checkpoint(node) <= 0:
        if time.perf_counter() - began > PATIENCE_S:
            raise RuntimeError(f"{node.name} has not compacted {TOPIC} in {PATIENCE_S} s")
        used = min(used, cpu_seconds(node.pid))
        time.sleep(POLL_S)
    seconds = time.perf_counter() - began
    return Compacted(node.name, before, sealed_bytes(node), seconds, cpu_seconds(node.pid) - used)


def sealed_bytes(node: Node) -> int:
    """The bytes of all segments but the active one, without what Kafka has still to delete."""
    return sum(each.stat().st_size for each in sorted((node.data / FOLDER).glob("*.log"))[:-1])


def checkpoint(node: Node) -> int:
    path = node.data / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(f"{TOPIC} 0 ")), 0)


def cpu_seconds(pid: int) -> float:
    """Of a process and its children that are still there."""
    process = psutil.Process(pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--keys", type=int, default=200_000)
    parser.add_argument("--codec", default="none")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    jars.fetch()
    found: list[Compacted] = []
    with tempfile.TemporaryDirectory(prefix="causeway-compaction-") as directory:
        for start in (ours, kafka):
            node = start(Path(directory) / start.__name__)
            try:
                fill(node, options.megabytes, options.keys, options.codec)
                found.append(compact(node))
            finally:
                node.stop()
    if options.json:
        print(json.dumps([each._asdict() for each in found]))
        return
    for each in found:
        print(each)
    first, second = (each.input_bytes / each.seconds for each in found)
    print(f"ratio      {first / second:8.2f}")


if __name__ == "__main__":
    main()
