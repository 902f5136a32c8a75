"""A region of one node as its users have it: stock clients for topics, records and groups, REST for links."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import ConsumerGroupTopicPartitions as GroupOffsets
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from tests.bench.processes import free_port
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

TIMEOUT_S = 60
PARTITIONS, RECORDS = 2, 10  # records of each partition
FOLLOWING = {"consumer.offset.sync.enable": "true", "topic.config.sync.ms": "1000"}


def until(is_so: Callable[[], bool]) -> None:
    """A topic that has no leader yet is asked again."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        with suppress(KafkaException):
            if is_so():
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Cluster:
    """One region, asked by stock clients and over REST."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self.name = directory.name
        address = f"127.0.0.1:{free_port()}"
        self.node = NodeProcess(directory, {"cluster.id": self.name, "rest.listener": address})
        self.node.start()
        self.admin = AdminClient({"bootstrap.servers": self.node.address, "log_level": 2})
        self.rest = httpx.Client(
            base_url=f"http://{address}/kafka/v3/clusters/{self.name}", timeout=TIMEOUT_S
        )

    # --- links ---

    def link(self, name: str, source: "Cluster", **configs: str) -> httpx.Response:
        """A flow into this cluster."""
        given = {"bootstrap.servers": source.node.address} | FOLLOWING | configs
        body = {"configs": [{"name": key, "value": value} for key, value in given.items()]}
        return self.rest.post("/links", params={"link_name": name}, json=body)

    def configure(self, link: str, name: str, value: str) -> None:
        assert self.rest.put(f"/links/{link}/configs/{name}", json={"value": value}).is_success

    def unlink(self, *names: str) -> None:
        for name in names:
            answer = self.rest.delete(f"/links/{name}", params={"force": True})
            assert answer.is_success, answer.text

    def mirror(self, link: str, topic: str) -> Any:
        return self.rest.get(f"/links/{link}/mirrors/{topic}").json()

    # --- topics ---

    def create(self, *topics: str, **configs: str) -> None:
        for topic in topics:
            create_topic(self.node.address, topic, PARTITIONS, **configs)

    def topics(self, *beginning: str) -> dict[str, int]:
        """The partitions of those with such names."""
        known = self.admin.list_topics(timeout=TIMEOUT_S).topics
        return {
            name: len(one.partitions) for name, one in known.items() if name.startswith(beginning)
        }

    def delete(self, topic: str) -> None:
        self.admin.delete_topics([topic])[topic].result(TIMEOUT_S)

    def config(self, topic: str, name: str) -> str:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        (found,) = self.admin.describe_configs([resource]).values()
        return str(found.result(TIMEOUT_S)[name].value)

    def alter(self, topic: str, name: str, value: str | None) -> None:
        """None: back to the default."""
        operation = AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
        entry = ConfigEntry(name, value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        (done,) = self.admin.incremental_alter_configs([resource]).values()
        done.result(TIMEOUT_S)

    # --- records ---

    def produce(self, topic: str, partitions: Iterable[int] = range(PARTITIONS)) -> None:
        producer = Producer({"bootstrap.servers": self.node.address})
        for partition in partitions:
            for number in range(RECORDS):
                producer.produce(topic, f"{self.name}-{number}", partition=partition)
        assert producer.flush(TIMEOUT_S) == 0

    def ends(self, topic: str) -> list[int]:
        consumer = Consumer({"bootstrap.servers": self.node.address, "group.id": "asking"})
        found = [
            consumer.get_watermark_offsets(Position(topic, each), TIMEOUT_S)[1]
            for each in range(PARTITIONS)
        ]
        consumer.close()
        return found

    # --- groups ---

    def consume(self, group: str, topic: str, count: int) -> list[str]:
        """The group's next records, committed."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.node.address,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe([topic])
        values: list[str] = []
        deadline = time.monotonic() + TIMEOUT_S
        while len(values) < count:
            assert time.monotonic() < deadline, values
            values += [each.value().decode() for each in consumer.consume(count - len(values), 0.5)]
        if values:
            consumer.commit(asynchronous=False)
        consumer.close()
        return values

    def commit(self, group: str, topic: str, *offsets: int) -> None:
        places = [Position(topic, index, offset) for index, offset in enumerate(offsets)]
        (done,) = self.admin.alter_consumer_group_offsets([GroupOffsets(group, places)]).values()
        done.result(TIMEOUT_S)

    def committed(self, group: str, topic: str) -> list[int]:
        """By partition; -1001 where there is none."""
        consumer = Consumer({"bootstrap.servers": self.node.address, "group.id": group})
        places = [Position(topic, index) for index in range(PARTITIONS)]
        found = [each.offset for each in consumer.committed(places, timeout=TIMEOUT_S)]
        consumer.close()
        return found
