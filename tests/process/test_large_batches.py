"""Batches that are longer than a message of gRPC's default, through links that either end dials."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer
from confluent_kafka import TopicPartition as Position

from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

TOPIC, LINK, TIMEOUT_S = "orders", "west-east", 60
MIB = 1 << 20
BATCH, LARGEST = 8 * MIB, 16 * MIB


@pytest.fixture(params=["destination", "source"])
def regions(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Addresses of a source and a destination with a mirror."""
    nodes = []
    for name in ("west", "east"):
        (tmp_path / name).mkdir()
        nodes.append(NodeProcess(tmp_path / name, {"cluster.id": name}))
    for node in nodes:
        node.start()
    west, east = (node.address for node in nodes)
    create_topic(west, TOPIC, 1, max_message_bytes=str(LARGEST))
    at = ("--bootstrap-server", east)
    if request.param == "destination":
        causeway("link", "create", LINK, *at, "--source-bootstrap-server", west, timeout=TIMEOUT_S)
    else:
        inbound = ("--config", "connection.mode=INBOUND")
        made = causeway("link", "create", LINK, *at, *inbound, timeout=TIMEOUT_S)
        there = ("--bootstrap-server", west, "--destination-bootstrap-server", east)
        causeway("link", "create", LINK, *there, "--secret", made["secret"], timeout=TIMEOUT_S)
        until(
            lambda: (
                causeway("link", "describe", LINK, *at, timeout=TIMEOUT_S)["link_state"] == "ACTIVE"
            ),
            TIMEOUT_S,
            lambda: "not active",
        )
    causeway("mirror", "create", TOPIC, "--link", LINK, *at, timeout=TIMEOUT_S)
    yield west, east
    for node in nodes:
        assert node.stop() == 0
        assert "Traceback" not in node.log()


def produced(address: str, *sizes: int) -> list[bytes]:
    """Records that do not get smaller, one in each batch."""
    producer = Producer(
        {
            "bootstrap.servers": address,
            "message.max.bytes": LARGEST,
            "compression.type": "none",
            "linger.ms": 0,
        }
    )
    values = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    errors: list[object] = []
    for value in values:
        producer.produce(
            TOPIC, value, partition=0, on_delivery=lambda error, _: errors.append(error)
        )
        assert producer.flush(TIMEOUT_S) == 0
    assert errors == [None] * len(values)
    return values


def read(address: str, count: int) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "reading",
            "fetch.message.max.bytes": LARGEST,
            "receive.message.max.bytes": 8 * LARGEST,
            "fetch.max.bytes": 4 * LARGEST,
        }
    )
    consumer.assign([Position(TOPIC, 0, OFFSET_BEGINNING)])
    found: list[bytes] = []

    def more() -> bool:
        for message in consumer.consume(count - len(found), 0.2):
            assert message.error() is None
            found.append(message.value())
        return len(found) == count

    until(more, TIMEOUT_S, lambda: len(found))
    consumer.close()
    return found


def test_batches_as_long_as_a_topic_allows_are_mirrored_by_links_that_either_end_dials(
    regions: tuple[str, str],
) -> None:
    west, east = regions
    values = produced(west, 5, BATCH, 5, LARGEST - 1_000, 5)
    assert read(east, len(values)) == values
