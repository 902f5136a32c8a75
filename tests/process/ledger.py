"""A stock producer that numbers what it writes and remembers what was acknowledged, and a reader that checks it."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
)
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, NewTopic

READ_TIMEOUT_S = 90
_writing: "set[Ledger]" = set()
IN_FLIGHT_MAX = 5_000


def create_topic(
    bootstrap: str, topic: str, partitions: int, *, replicas: int = 1, **configs: str
) -> None:
    settings = {name.replace("_", "."): value for name, value in configs.items()}
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = NewTopic(topic, partitions, replicas, config=settings)
    try:
        admin.create_topics([wanted])[topic].result(20)
    except KafkaException as error:
        # A controller that resigned before it answered: the broker asked the next one, as Kafka's does.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


class Ledger:
    """Writes numbers to a topic from a thread of its own until `close`; `acknowledged` maps number to offset."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        partitions: int,
        *,
        is_idempotent: bool = True,
        in_flight_max: int = IN_FLIGHT_MAX,
        width: int = 0,
        pause_s: float = 0,
    ) -> None:
        """`width` is the least size of a value, in bytes: spaces stand before a shorter number.

        `pause_s` is between two records: without, as many are written as the machine has time for.
        """
        self.acknowledged: dict[int, tuple[int, int]] = {}
        self.written = 0
        self.is_idempotent = is_idempotent
        self._topic, self._partitions = topic, partitions
        self._in_flight_max, self._width, self._pause_s = in_flight_max, width, pause_s
        self._stop = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": is_idempotent,
                "linger.ms": 1,
                "message.timeout.ms": 60_000,
                "reconnect.backoff.max.ms": 100,
                "retry.backoff.ms": 50,
            }
        )
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        _writing.add(self)
        self._thread.start()

    def _write(self) -> None:
        while not self._stop.is_set():
            if len(self._producer) >= self._in_flight_max:
                self._producer.poll(0.01)
                continue
            number = self.written
            self._producer.produce(
                self._topic,
                value=b"%*d" % (self._width, number),
                partition=number % self._partitions,
                on_delivery=self._delivered,
            )
            self.written += 1
            self._producer.poll(0 if self._pause_s else 0.0005)
            self._stop.wait(self._pause_s)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            number, partition, offset = int(message.value()), message.partition(), message.offset()
            assert number not in self.acknowledged, f"{number} acknowledged twice"
            self.acknowledged[number] = (partition, offset)

    def wait_for(self, count: int) -> None:
        """Until so many are acknowledged in all."""
        deadline = time.monotonic() + READ_TIMEOUT_S
        while len(self.acknowledged) < count:
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} of {count} acknowledged"
            assert not self._stop.wait(0.005)

    def close(self) -> None:
        """Stops writing and waits for what is under way."""
        self._end()
        assert self._producer.flush(READ_TIMEOUT_S) == 0

    def _end(self) -> None:
        self._stop.set()
        self._thread.join()
        _writing.discard(self)

    def abandon(self) -> None:
        """Stops writing, whatever is under way: the nodes need not be there."""
        self._end()
        self._producer.purge()


def abandon_all() -> None:
    """Of tests that killed the nodes, or failed: a later test's nodes may have the same addresses."""
    for ledger in [*_writing]:
        ledger.abandon()


def read_all(
    bootstrap: str, topic: str, partitions: int, number_of: Callable[[bytes], int] = int
) -> dict[tuple[int, int], int]:
    """Everything in the topic: (partition, offset) -> number."""
    return {
        (message.partition(), message.offset()): number_of(message.value())
        for message in read_messages(bootstrap, topic, partitions)
    }


def read_messages(bootstrap: str, topic: str, partitions: int) -> list[Message]:
    """Everything in the topic that is there now."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    )
    places = [Position(topic, index, OFFSET_BEGINNING) for index in range(partitions)]
    ends = {place.partition: consumer.get_watermark_offsets(place, 20)[1] for place in places}
    consumer.assign(places)
    found: dict[tuple[int, int], Message] = {}
    deadline = time.monotonic() + READ_TIMEOUT_S
    while len(found) < sum(ends.values()):
        assert time.monotonic() < deadline, f"read {len(found)} of {ends}"
        for message in consumer.consume(10_000, 0.5):
            if message.error():
                raise KafkaException(message.error())
            found[message.partition(), message.offset()] = message
    consumer.close()
    return list(found.values())


def check(ledger: Ledger, found: dict[tuple[int, int], int]) -> None:
    """P1: everything acknowledged is where it was said to be. P10: nothing is stored twice.

    Whoever is not idempotent and has several requests under way may see a retry overtaken: Kafka promises no order.
    """
    lost = {number: at for number, at in ledger.acknowledged.items() if found.get(at) != number}
    assert not lost, (
        f"{len(lost)} acknowledged records are not there, such as {sorted(lost.items())[:3]}"
    )
    twice = [number for number, count in Counter(found.values()).items() if count > 1]
    assert not twice, f"stored twice: {twice[:5]}"
    for partition in {place[0] for place in found} if ledger.is_idempotent else ():
        numbers = [found[place] for place in sorted(found) if place[0] == partition]
        assert numbers == sorted(numbers), f"partition {partition} is out of order"
