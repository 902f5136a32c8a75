"""The application that reads: a stock librdkafka consumer group that commits what it has read.

It commits without waiting: a region that dies in the middle of a commit must not hold the application.
"""

import contextlib
import logging
import threading
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    Message,
    TopicPartition,
)

from federation.demo.flights import number_of
from federation.demo.producer import now_ms

_SILENT = logging.getLogger(__name__)
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False

_BATCH = 1_000
_COMMIT_EVERY_S = 0.1


class Reader(threading.Thread):
    """A group of one member.

    `first`, `next` and `committed` are offsets by partition: the first it read, one past the last it read, and what it
    last asked to commit, acknowledged or not.
    """

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        super().__init__(name="demo-consumer", daemon=True)
        self.first: dict[int, int] = {}
        self.next: dict[int, int] = {}
        self.committed: dict[int, int] = {}
        self.flights: set[int] = set()
        self.first_read_at_ms: float | None = None
        self._topic = topic
        self._stopped = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "error_cb": lambda error: None,
            },
            logger=_SILENT,
        )

    def run(self) -> None:
        self._consumer.subscribe([self._topic])
        commit_at = time.monotonic() + _COMMIT_EVERY_S
        while not self._stopped.is_set():
            self._take(self._consumer.consume(_BATCH, 0.05))
            if time.monotonic() >= commit_at:
                self._commit()
                commit_at = time.monotonic() + _COMMIT_EVERY_S

    def leave(self) -> None:
        """Stop without a word to a region that is gone."""
        self._stopped.set()

    def close(self) -> None:
        """Stop, commit and leave the group."""
        self.leave()
        self.join()
        self._commit()
        self._consumer.close()

    def _take(self, messages: list[Message]) -> None:
        for message in messages:
            value = message.value()
            partition, offset = message.partition(), message.offset()
            if message.error() or value is None or partition is None or offset is None:
                continue
            self.first.setdefault(partition, offset)
            self.next[partition] = offset + 1
            self.flights.add(number_of(value))
            if self.first_read_at_ms is None:
                self.first_read_at_ms = now_ms()

    def _commit(self) -> None:
        offsets = dict(self.next)
        if offsets == self.committed:
            return
        positions = [TopicPartition(self._topic, *position) for position in offsets.items()]
        with contextlib.suppress(KafkaException):  # the region is gone
            self._consumer.commit(offsets=positions, asynchronous=True)
            self.committed = offsets


def read_back(bootstrap: str, topic: str, partitions: int) -> dict[int, dict[int, int]]:
    """Every record of a topic: partition -> offset -> flight."""
    stored: dict[int, dict[int, int]] = {partition: {} for partition in range(partitions)}
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "demo-read-back",
            "enable.partition.eof": True,
        },
        logger=_SILENT,
    )
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in stored])
    unfinished = set(stored)
    while unfinished:
        for message in consumer.consume(10 * _BATCH, 0.1):
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert partition is not None and offset is not None, message
            if message.error():
                unfinished.discard(partition)
            elif value is not None:
                stored[partition][offset] = number_of(value)
    consumer.close()
    return stored
