"""The consumer of the demo: a group of stock librdkafka, which commits what it has read.

Commits are asynchronous: a region that dies during a commit must not block the application.
"""

import logging
import threading
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
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
TIMEOUT_S = 30.0
SESSION_TIMEOUT_MS = 6_000  # the default group.min.session.timeout.ms


class Reader(threading.Thread):
    """A group of one member.

    `first`, `next` and `committed` are offsets by partition: the first that it read, one past the last that it read,
    and the last that it tried to commit, acknowledged or not.
    """

    def __init__(self, bootstrap: str, topic: str, group: str) -> None:
        super().__init__(name="demo-consumer", daemon=True)
        self.first: dict[int, int] = {}
        self.next: dict[int, int] = {}
        self.committed: dict[int, int] = {}
        self.flights: set[int] = set()
        self.first_read_at_ms: float | None = None
        self._topic = topic
        self._region_answers = True
        self._stopped = threading.Event()
        self._is_abandoned = False
        self._is_quiet = threading.Event()
        self._settings = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "error_cb": self._on_error,
        }

    def run(self) -> None:
        # Only this thread uses the consumer: when the region dies during a commit, librdkafka blocks for the session
        # timeout, and no other thread should wait for that.
        consumer = Consumer(self._settings, logger=_SILENT)
        consumer.subscribe([self._topic])
        commit_at = time.monotonic() + _COMMIT_EVERY_S
        while not self._stopped.is_set():
            self._take(consumer.consume(_BATCH, 0.05))
            if time.monotonic() >= commit_at:
                self._commit(consumer)
                commit_at = time.monotonic() + _COMMIT_EVERY_S
        if not self._is_abandoned:
            self._commit(consumer)
            consumer.close()
        self._is_quiet.set()

    def leave(self) -> None:
        """Commit, leave the group and stop."""
        self._stopped.set()
        self._is_quiet.wait(TIMEOUT_S)

    def abandon(self) -> None:
        """Stop without leaving the group: the region is dead, or the demo ends."""
        self._is_abandoned = True
        self._stopped.set()

    def wait_until_quiet(self) -> None:
        """Wait until the thread no longer reads or commits, `TIMEOUT_S` seconds at most."""
        self._is_quiet.wait(TIMEOUT_S)

    def _on_error(self, error: KafkaError) -> None:
        self._region_answers = False  # until the next message

    def _take(self, messages: list[Message]) -> None:
        self._region_answers |= bool(messages)
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

    def _commit(self, consumer: Consumer) -> None:
        offsets = dict(self.next)
        if offsets == self.committed or not self._region_answers:
            return
        positions = [TopicPartition(self._topic, *position) for position in offsets.items()]
        consumer.commit(offsets=positions, asynchronous=True)
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
