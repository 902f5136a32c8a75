"""`python -m tests.bench.compaction`: one node of ours and one of Kafka's compact the same records, in turn.

A topic is filled while nothing in it is dirty enough to be cleaned; then the ratio is lowered, and the time is taken
until the cleaner's checkpoint says that everything but the active segment is clean. Figures are bytes of input a
second, and CPU seconds of all the node's processes. A second topic is compacted the same way while a producer writes
to a third, one record at a time: how long it waited, and how long it did before.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from threading import Event, Thread
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

from tests.bench import answers, memory, processes, topics
from tests.bench.connection import Connection
from tests.bench.latency import Record
from tests.bench.peer import jars
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import SOURCE
from tests.process.nodes import BrokerProcess

TOPIC, WATCHED, BESIDE = "table", "watched", "beside"
PAUSE_S = 0.002  # between two records of the producer beside
AT_REST_S = 3
MUCH_BYTES = 2 << 30  # takes longer than memory stays touched
TIMEOUT_S = 600
POLL_S = 0.02
SETTINGS = {"log.cleaner.backoff.ms": 50}
TOPIC_SETTINGS = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "1.0",
}


class Node(NamedTuple):
    """One running node, and its log directory."""

    name: str
    bootstrap: str
    pid: int
    data: Path
    stop: Callable[[], object]


class Compacted(NamedTuple):
    """One measure: bytes of input and output, wall and CPU seconds, and what a producer waited, in milliseconds."""

    name: str
    input_bytes: int
    output_bytes: int
    seconds: float
    cpu_seconds: float
    at_rest_ms: tuple[float, float] = (0, 0)  # p50 and p99
    meanwhile_ms: tuple[float, float] = (0, 0)

    def __str__(self) -> str:
        rate = self.input_bytes / 1e6 / self.seconds
        per_gb = self.cpu_seconds / (self.input_bytes / 1e9)
        beside = "; a record is acknowledged after p50 / p99 {:.2f} / {:.2f} ms".format(
            *self.meanwhile_ms
        ) + ", at rest {:.2f} / {:.2f}".format(*self.at_rest_ms)
        return (
            f"{self.name:10} {rate:8.0f} MB/s of input, {per_gb:6.1f} CPU-s/GB,"
            f" {self.input_bytes / 1e6:.0f} MB to {self.output_bytes / 1e6:.0f} MB"
            f"{beside if any(self.meanwhile_ms) else ''}"
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


class Beside(Thread):
    """A producer with one record at a time under way."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._address = bootstrap
        self._is_ended = Event()
        self.delays_ms: list[float] = []

    def run(self) -> None:
        record = Record(BESIDE)
        with Connection(self._address) as connection:
            while not self._is_ended.wait(PAUSE_S):
                sent = record.send(connection)
                answers.produced(connection.receive())
                self.delays_ms.append((time.monotonic_ns() - sent) / 1e6)

    def end(self) -> tuple[float, float]:
        """p50 and p99, in milliseconds."""
        self._is_ended.set()
        self.join()
        found = quantiles(self.delays_ms, n=100)
        return found[49], found[98]


def fill(node: Node, topic: str, options: argparse.Namespace) -> None:
    """Records of keys that each come again."""
    megabytes, keys, codec = options.megabytes, options.keys, options.codec
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    settings = TOPIC_SETTINGS | {"segment.bytes": str(options.segment_megabytes << 20)}
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result(TIMEOUT_S)
    producer = Producer(
        {"bootstrap.servers": node.bootstrap, "linger.ms": 20, "compression.type": codec,
         "enable.idempotence": True, "queue.buffering.max.messages": 20_000,
         "batch.num.messages": options.records_a_batch}
    )  # fmt: skip
    rng = random.Random(7)
    size = options.record_bytes
    values = [rng.randbytes(size).hex().encode()[:size] for _ in range(200)]
    for _ in range(megabytes * 1_000_000 // size):
        key = b"key-%08d" % rng.randrange(keys)
        while True:
            try:
                producer.produce(topic, rng.choice(values), key)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    assert producer.flush(TIMEOUT_S) == 0


def measured(node: Node, options: argparse.Namespace) -> Compacted:
    """Compact a topic with nothing else to do, and, if wanted, one with a producer beside."""
    fill(node, TOPIC, options)
    quiet = compact(node, TOPIC)
    if options.alone:
        return quiet
    fill(node, WATCHED, options)
    topics.create(node.bootstrap, BESIDE, 1)
    at_rest = Beside(node.bootstrap)
    at_rest.start()
    time.sleep(AT_REST_S)
    before = at_rest.end()
    meanwhile = Beside(node.bootstrap)
    meanwhile.start()
    compact(node, WATCHED)
    return quiet._replace(at_rest_ms=before, meanwhile_ms=meanwhile.end())


def compact(node: Node, topic: str) -> Compacted:
    if sealed_bytes(node, topic) <= MUCH_BYTES:
        memory.touch()
        return compact_now(node, topic)
    with memory.full_page_cache(node.data.parent):
        return compact_now(node, topic)


def compact_now(node: Node, topic: str) -> Compacted:
    """Lower the ratio, and wait until all but the active segment is clean."""
    before = sealed_bytes(node, topic)
    used, began = cpu_seconds(node.pid), time.perf_counter()
    entry = ConfigEntry(
        "min.cleanable.dirty.ratio", "0.01", incremental_operation=AlterConfigOpType.SET
    )
    place = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.incremental_alter_configs([place])[place].result(TIMEOUT_S)
    end = sealed_end(node, topic)
    while checkpoint(node, topic) < end:  # several cleanings, where keys do not fit into the buffer
        if time.perf_counter() - began > TIMEOUT_S:
            raise RuntimeError(f"{node.name} has not compacted {topic} in {TIMEOUT_S} s")
        used = min(used, cpu_seconds(node.pid))  # a process that ends takes its time along
        time.sleep(POLL_S)
    seconds = time.perf_counter() - began
    used = cpu_seconds(node.pid) - used
    return Compacted(node.name, before, sealed_bytes(node, topic), seconds, used)


def sealed_bytes(node: Node, topic: str) -> int:
    """The bytes of all segments but the active one, without what Kafka has still to delete."""
    folder = node.data / f"{topic}-0"
    return sum(each.stat().st_size for each in sorted(folder.glob("*.log"))[:-1])


def sealed_end(node: Node, topic: str) -> int:
    """The base offset of the active segment."""
    return max(int(each.stem) for each in (node.data / f"{topic}-0").glob("*.log"))


def checkpoint(node: Node, topic: str) -> int:
    path = node.data / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(f"{topic} 0 ")), 0)


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
    parser.add_argument("--record-bytes", type=int, default=1_000)
    parser.add_argument("--records-a-batch", type=int, default=10_000, help="at most")
    parser.add_argument("--alone", action="store_true", help="no producer beside it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--segment-megabytes", type=int, default=64)
    options = parser.parse_args()
    if options.megabytes <= 2 * options.segment_megabytes:
        parser.error("--megabytes: two segments at least are to be cleaned")
    jars.fetch()
    processes.end_in_order_on_sigterm()
    found: list[Compacted] = []
    with tempfile.TemporaryDirectory(prefix="causeway-compaction-") as directory:
        for start in (ours, kafka):
            node = start(Path(directory) / start.__name__)
            try:
                found.append(measured(node, options))
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
