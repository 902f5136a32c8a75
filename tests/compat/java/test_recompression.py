"""What a broker compressed itself (`compression.type`) is read by Kafka's consumer and by librdkafka."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from brokers.records.batch import iter_headers
from brokers.records.recompression import CODECS
from tests.compat.conftest import Region
from tests.compat.java.conftest import Tool
from tests.compat.java.test_console import CONSUMER

Name = Callable[[str], str]
COUNT = 3_000


def written(region: Region, topic: str, codec: str) -> list[str]:
    """A topic with this codec, and what producers of two other codecs wrote to it."""
    address = {"bootstrap.servers": region.bootstrap}
    settings = {"compression.type": codec, "compression.lz4.level": "5"}
    admin = AdminClient(address)  # it must live until the topic is made
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result(60)
    wanted = [f"value {number} {'x' * (number % 300)}" for number in range(COUNT)]
    for start, sent in ((0, "none"), (1, "gzip"), (2, "snappy")):
        producer = Producer({**address, "compression.type": sent, "linger.ms": 50})
        for value in wanted[start * COUNT // 3 : (start + 1) * COUNT // 3]:
            producer.produce(topic, value.encode())
        assert producer.flush(60) == 0
    return wanted


@pytest.mark.parametrize("codec", CODECS)
def test_clients_of_both_kinds_read_it_and_the_log_has_one_codec(
    codec: str, region: Region, tool: Tool, name: Name
) -> None:
    topic = name("recompressed")
    wanted = written(region, topic, codec)
    at = ("--bootstrap-server", region.bootstrap, "--topic", topic)
    printed = tool(CONSUMER, *at, "--from-beginning", "--max-messages", str(COUNT))
    assert printed.splitlines() == wanted
    own = {
        "bootstrap.servers": region.bootstrap,
        "group.id": topic,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(own)
    consumer.subscribe([topic])
    read: list[str] = []
    while len(read) < COUNT:
        for message in consumer.consume(500, timeout=60):
            assert not message.error(), message.error()
            read.append(message.value().decode())
    consumer.close()
    assert read == wanted
    log = next((region.data / f"{topic}-0").glob("*.log"))
    assert {header.compression for _, header in iter_headers(log.read_bytes())} == {CODECS[codec]}
