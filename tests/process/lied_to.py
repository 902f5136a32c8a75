"""Two regions with two links: one is served honestly; the source of the other lies until the real one dials."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer
from confluent_kafka import TopicPartition as Position

from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.ledger import create_topic
from tests.process.lying_ends import Lied
from tests.process.nodes import NodeProcess

MIB = 1 << 20
RECORD, LARGEST = 8 * MIB, 16 * MIB
HONEST, LIED, TOPIC = "honest", "lied", "orders"
TIMEOUT_S = 60


class Regions:
    """West is the source, east the destination. `lied` is what a liar has to know of its link."""

    def __init__(self, directory: Path) -> None:
        self.west, self.east = (self._node(directory / name) for name in ("west", "east"))
        self._secrets: dict[str, str] = {}
        self._expected: dict[str, list[bytes]] = {}

    def _node(self, directory: Path) -> NodeProcess:
        directory.mkdir()
        settings = {"cluster.id": directory.name, "metrics.listener": "127.0.0.1:0"}
        node = NodeProcess(directory, settings)
        node.start()
        return node

    def begin(self) -> None:
        for link in (HONEST, LIED):
            made = self.at_east("link", "create", link, "--config", "connection.mode=INBOUND")
            self._secrets[link] = made["secret"]
        self.lied = Lied(self.east, LIED, self._secrets[LIED], "west")
        self.dial(HONEST)
        self.mirror(HONEST, TOPIC)

    def at_east(self, *arguments: str) -> Any:
        return causeway(*arguments, "--bootstrap-server", self.east.address, timeout=TIMEOUT_S)

    def at_west(self, *arguments: str) -> Any:
        return causeway(*arguments, "--bootstrap-server", self.west.address, timeout=TIMEOUT_S)

    def dial(self, link: str) -> None:
        """The honest source dials, and is served."""
        there = ("--destination-bootstrap-server", self.east.address)
        self.at_west("link", "create", link, *there, "--secret", self._secrets[link])
        until(lambda: self.state(link) == "ACTIVE", TIMEOUT_S, lambda: self.described(link))

    def described(self, link: str) -> Any:
        return self.at_east("link", "describe", link)

    def error(self) -> str:
        """What the link that is lied to says."""
        return str(self.described(LIED)["link_error_message"])

    def state(self, link: str) -> str:
        return str(self.described(link)["link_state"])

    def create(self, topic: str) -> None:
        create_topic(self.west.address, topic, 1, max_message_bytes=str(LARGEST))
        self._expected[topic] = []

    def mirror(self, link: str, topic: str) -> None:
        self.create(topic)
        self.at_east("mirror", "create", topic, "--link", link)

    def serves(self, topic: str = TOPIC) -> None:
        """One more record is written at the source; the mirror has all that were written, and nothing else."""
        expected = self._expected[topic]
        expected.append(bytes([len(expected) % 251]) * RECORD)
        produce(self.west, topic, expected[-1])
        assert read(self.east, topic, len(expected)) == expected

    def recovers(self, topic: str) -> None:
        """The honest source of the link that was lied to dials, and hangs up in the end."""
        self.dial(LIED)
        if topic not in self._expected:
            self.mirror(LIED, topic)
        self.serves(topic)
        self.at_west("link", "delete", LIED, "--force")  # the mirrors stay
        assert self.east.is_running()

    def stop(self) -> None:
        for node in (self.west, self.east):
            assert node.stop() == 0
            assert "Traceback" not in node.log()


def started(directory: Path) -> Iterator[Regions]:
    regions = Regions(directory)
    regions.begin()
    yield regions
    regions.stop()


def produce(node: NodeProcess, topic: str, value: bytes) -> None:
    settings = {"bootstrap.servers": node.address, "message.max.bytes": LARGEST}
    errors: list[object] = []
    producer = Producer(settings)
    producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    assert errors == [None]


def read(node: NodeProcess, topic: str, count: int) -> list[bytes]:
    """The first `count` records of partition 0, and what else is there by then."""
    settings = {
        "bootstrap.servers": node.address,
        "group.id": "reading",
        "fetch.message.max.bytes": LARGEST,
        "receive.message.max.bytes": 8 * LARGEST,
        "fetch.max.bytes": 4 * LARGEST,
    }
    consumer = Consumer(settings)
    consumer.assign([Position(topic, 0, OFFSET_BEGINNING)])
    found: list[bytes] = []

    def more() -> bool:
        for message in consumer.consume(count, 0.1):
            assert message.error() is None
            found.append(message.value())
        return len(found) >= count

    until(more, TIMEOUT_S, lambda: len(found))
    consumer.close()
    return found


def resident(node: NodeProcess) -> int:
    return int(psutil.Process(node.pid).memory_info().rss)
