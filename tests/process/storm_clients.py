"""Stock clients that go on through a storm: idempotent producers that number what they write, readers that note all.

Each producer has a topic of its own and keeps its own account of what was acknowledged, and where.
"""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any

import aiokafka
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as Position

WAIT_S = 90
PERIOD_S = 0.02  # between two records of one producer
IN_FLIGHT_MAX = 2_000
BACKOFF_MS = 50

Place = tuple[str, int, int]  # topic, partition, offset


class _Going(ABC):
    """Runs in a thread of its own from `start` to `close`, which raises what went wrong there."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._guarded, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive(), f"{type(self).__name__} does not end"
        if self._failure is not None:
            raise self._failure

    def _guarded(self) -> None:
        try:
            self._run()
        except BaseException as failure:
            self._failure = failure

    @abstractmethod
    def _run(self) -> None: ...

    def wait_until(self, is_so: Callable[[], bool], what: Callable[[], str]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not is_so():
            if self._failure is not None:
                raise self._failure
            assert time.monotonic() < deadline, what()
            time.sleep(0.005)


class Writer(_Going):
    """`acknowledged` maps number to partition and offset. Number n goes to partition n modulo `partitions`.

    The offset is negative where the client itself was not told it: a batch whose answer was lost must have been stored,
    if the one after it is taken.
    """

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        super().__init__()
        self.topic = topic
        self.acknowledged: dict[int, tuple[int, int]] = {}
        self.refused: list[str] = []
        self.written = 0
        self.longest_gap_s = 0.0  # between two acknowledgements of one partition
        self._bootstrap, self._partitions = bootstrap, partitions
        self._last_at: dict[int, float] = {}

    def wait_for_more(self, count: int) -> None:
        """Until so many more are acknowledged in every partition."""
        wanted = {each: self._count(each) + count for each in range(self._partitions)}
        self.wait_until(
            lambda: all(self._count(each) >= least for each, least in wanted.items()),
            lambda: (
                f"{self.topic}: {[self._count(each) for each in wanted]} of {wanted} are acknowledged;"
                f" {len(self.refused)} refused: {self.refused[-3:]}"
            ),
        )

    def _count(self, partition: int) -> int:
        return sum(at[0] == partition for at in list(self.acknowledged.values()))

    def _took(self, number: int, partition: int, offset: int) -> None:
        if number in self.acknowledged:  # raised where it is not lost in a client's callback
            self._failure = AssertionError(f"{number} of {self.topic} acknowledged twice")
        self.acknowledged[number] = (partition, offset)
        now = time.monotonic()
        gap = now - self._last_at.get(partition, now)
        self.longest_gap_s = max(self.longest_gap_s, gap)
        self._last_at[partition] = now


class ConfluentWriter(Writer):
    """librdkafka, idempotent."""

    def _run(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "enable.idempotence": True,
                "linger.ms": 1,
                "message.timeout.ms": WAIT_S * 1_000,
                "reconnect.backoff.max.ms": 100,
                "retry.backoff.ms": BACKOFF_MS,
                "log_level": 2,
            }
        )
        while not self._stop.is_set():
            if len(producer) < IN_FLIGHT_MAX:
                number, self.written = self.written, self.written + 1
                value, partition = b"%d" % number, number % self._partitions
                producer.produce(
                    self.topic, value=value, partition=partition, on_delivery=self._delivered
                )
            producer.poll(PERIOD_S)
        assert producer.flush(WAIT_S) == 0

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        number, partition, offset = int(message.value()), message.partition(), message.offset()
        if error is None:
            self._took(number, partition, -1 if offset is None else offset)
        else:
            self.refused.append(f"{number}: {error}")


class AioWriter(Writer):
    """aiokafka, idempotent."""

    def _run(self) -> None:
        asyncio.run(self._write())

    async def _write(self) -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            enable_idempotence=True,
            linger_ms=1,
            retry_backoff_ms=BACKOFF_MS,
        )
        under_way: set[asyncio.Task[None]] = set()
        async with producer:
            while not self._stop.is_set():
                if len(under_way) < IN_FLIGHT_MAX:
                    number, self.written = self.written, self.written + 1
                    sent = await self._send(producer, number)
                    task = asyncio.create_task(self._note(number, sent))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
                await asyncio.sleep(PERIOD_S)
            await asyncio.wait_for(producer.flush(), WAIT_S)
            await asyncio.gather(*under_way)

    async def _send(self, producer: Any, number: int) -> "asyncio.Future[Any]":
        """Waits where the batch of this partition is full."""
        send = producer.send(self.topic, b"%d" % number, partition=number % self._partitions)
        found: asyncio.Future[Any] = await send
        return found

    async def _note(self, number: int, sent: "asyncio.Future[Any]") -> None:
        try:
            told = await sent
        except AioKafkaError as error:
            self.refused.append(f"{number}: {error!r}")
        else:
            self._took(number, told.partition, told.offset)


class Reader(_Going):
    """`seen` maps place to value: of everything that it was ever given."""

    def __init__(self, bootstrap: str, topics: tuple[str, ...], partitions: int) -> None:
        super().__init__()
        self.seen: dict[Place, bytes] = {}
        self._bootstrap, self._topics, self._partitions = bootstrap, topics, partitions

    @property
    def _places(self) -> list[tuple[str, int]]:
        return [(topic, each) for topic in self._topics for each in range(self._partitions)]

    def _saw(self, place: Place, value: bytes) -> None:
        assert self.seen.setdefault(place, value) == value, f"two records at {place}"


class ConfluentReader(Reader):
    """An offset that is out of range is an error: a reader never comes to one by itself."""

    def _run(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "storm",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "reconnect.backoff.max.ms": 100,
                "log_level": 2,
            }
        )
        consumer.assign([Position(*place, OFFSET_BEGINNING) for place in self._places])
        while not self._stop.is_set():
            for message in consumer.consume(1_000, 0.05):
                self._take(message)
        consumer.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is None:
            place = (message.topic(), message.partition(), message.offset())
            self._saw(place, message.value())
        assert error is None or error.code() != KafkaError._AUTO_OFFSET_RESET, str(error)


class AioReader(Reader):
    def _run(self) -> None:
        asyncio.run(self._read())

    async def _read(self) -> None:
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            auto_offset_reset="none",
            enable_auto_commit=False,
            retry_backoff_ms=BACKOFF_MS,
        )
        async with consumer:
            consumer.assign([aiokafka.TopicPartition(*place) for place in self._places])
            await _until_it_succeeds(consumer.seek_to_beginning)
            while not self._stop.is_set():
                for where, records in (await consumer.getmany(timeout_ms=50)).items():
                    for record in records:
                        self._saw((where.topic, where.partition, record.offset), record.value)


async def _until_it_succeeds(act: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    await asyncio.wait_for(act(), WAIT_S)
