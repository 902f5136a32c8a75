"""Stock producers that number what they write, and follow a topic from one region to the other.

What a region refuses as read-only (POLICY_VIOLATION) goes to the other one, and everything after it; `go` sends one
over where nobody refuses, as an operator does after a failover.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiokafka
from aiokafka.errors import PolicyViolationError
from confluent_kafka import KafkaError, Message, Producer

from tests.bench.peer import jars
from tests.compat.events import Program

TIMEOUT_S = 120
IN_FLIGHT_MAX = 500
PAUSE_S = 0.02
A_RUN = 1_000_000  # numbers that one run of Java's producer may use


def number_of(value: bytes) -> int:
    """Of what a follower wrote: a number, or that of a run of Java's producer and of the record in it."""
    run, _, number = value.rpartition(b".")
    return int(run or b"0") * A_RUN + int(number)


class Follower(ABC):
    """Writes in a thread of its own from `start` to `close`; `acknowledged` maps number to partition and offset."""

    def __init__(self, bootstraps: tuple[str, str], topic: str, partitions: int) -> None:
        self.topic, self.partitions = topic, partitions
        self.acknowledged: dict[int, tuple[int, int]] = {}
        self.failed: list[str] = []
        self._bootstraps = bootstraps
        self._refused: deque[int] = deque()
        self._count = 0
        self._at = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._guarded, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def place(self) -> int:
        """Which of the two regions it writes to."""
        return self._at

    def go(self, place: int) -> None:
        """From now on it writes to this region."""
        self._at = place

    def wait_for(self, more: int) -> None:
        """Until so many more are acknowledged."""
        wanted = len(self.acknowledged) + more
        pause = threading.Event()
        for _ in range(TIMEOUT_S * 100):
            assert not self.failed, f"{self.topic}: {self.failed[:3]}"
            if len(self.acknowledged) >= wanted:
                return
            pause.wait(0.01)
        raise AssertionError(f"{self.topic}: {len(self.acknowledged)} of {wanted}")

    def stop(self) -> None:
        """Without waiting for it, or looking how it went: a test has failed."""
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive(), f"the producer of {self.topic} does not end"
        assert not self.failed, f"{self.topic}: {self.failed[:3]}"

    def _guarded(self) -> None:
        try:
            self._write()
        except BaseException as failure:
            self.failed.append(repr(failure))
            raise

    @abstractmethod
    def _write(self) -> None: ...

    def _next(self) -> int:
        if self._refused:
            return self._refused.popleft()
        self._count += 1
        return self._count

    def _took(self, number: int, partition: int, offset: int) -> None:
        if number in self.acknowledged:
            self.failed.append(f"{number} acknowledged twice")
        self.acknowledged[number] = (partition, offset)

    def _was_refused(self, number: int, place: int) -> None:
        self._refused.append(number)
        self._at = 1 - place


class ConfluentFollower(Follower):
    """librdkafka, idempotent."""

    def __init__(
        self, bootstraps: tuple[str, str], topic: str, partitions: int, pause_s: float = 0.001
    ) -> None:
        super().__init__(bootstraps, topic, partitions)
        self._pause_s = pause_s
        self._producers = [
            Producer(
                {
                    "bootstrap.servers": bootstrap,
                    "enable.idempotence": True,
                    "linger.ms": 1,
                    # Else librdkafka may send records again in other batches, which no broker can know for repetitions.
                    "batch.num.messages": 1,
                    "message.timeout.ms": TIMEOUT_S * 1_000,
                    "reconnect.backoff.max.ms": 100,
                    "retry.backoff.ms": 50,
                    "log_level": 2,
                }
            )
            for bootstrap in bootstraps
        ]

    def _write(self) -> None:
        while not self._stop.is_set() or self._refused or any(map(len, self._producers)):
            if sum(map(len, self._producers)) < IN_FLIGHT_MAX and (
                self._refused or not self._stop.is_set()
            ):
                self._send(self._next())
            for producer in self._producers:
                producer.poll(self._pause_s)

    def _send(self, number: int) -> None:
        place = self._at

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self._took(number, message.partition(), message.offset())
            elif error.code() == KafkaError.POLICY_VIOLATION:
                self._was_refused(number, place)
            else:
                self.failed.append(str(error))

        where = number % self.partitions
        self._producers[place].produce(
            self.topic, value=b"%d" % number, partition=where, on_delivery=delivered
        )


class AioFollower(Follower):
    """aiokafka, idempotent. After a refusal it begins anew: its sequence numbers have a gap then."""

    def _write(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        while not self._stop.is_set() or self._refused:
            await self._write_to(self._at)
            await asyncio.sleep(PAUSE_S)

    async def _write_to(self, place: int) -> None:
        """Until it is to write elsewhere, or to end; what it has sent is answered then."""
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=self._bootstraps[place],
            enable_idempotence=True,
            linger_ms=1,
            retry_backoff_ms=50,
        )
        under_way: set[asyncio.Task[None]] = set()
        async with producer:
            while self._at == place and (self._refused or not self._stop.is_set()):
                number = self._next()
                sent = await producer.send(
                    self.topic, b"%d" % number, partition=number % self.partitions
                )
                task = asyncio.create_task(self._note(number, place, sent))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                await asyncio.sleep(PAUSE_S)
            await producer.flush()
            await asyncio.gather(*under_way)

    async def _note(self, number: int, place: int, sent: Any) -> None:
        try:
            told = await sent
        except PolicyViolationError:
            self._was_refused(number, place)
        else:
            self._took(number, told.partition, told.offset)


class JavaFollower(Follower):
    """Kafka's verifiable producer, idempotent: a run for each stay in a region. What is refused it does not repeat."""

    def __init__(
        self, bootstraps: tuple[str, str], topic: str, partitions: int, directory: Path
    ) -> None:
        super().__init__(bootstraps, topic, partitions)
        self._directory = directory
        self._settings = directory / "producer.properties"
        self._settings.write_text(
            "enable.idempotence=true\nretries=2147483647\nretry.backoff.ms=50\n"
        )

    def _write(self) -> None:
        while not self._stop.is_set():
            self._count += 1
            self._write_to(self._at)

    def _write_to(self, place: int) -> None:
        program = self._program(place)
        try:
            while self._at == place and not self._stop.wait(0.1):
                self._note(program)
                if program.events("producer_send_error"):
                    self._at = 1 - place
                if program.process.poll() is not None:
                    self.failed.append(program.complaints)
                    return
        finally:
            program.end()
            self._note(program)
        self.failed += [
            str(each) for each in program.events("producer_send_error") if _is_fault(each)
        ]

    def _program(self, place: int) -> Program:
        words = (
            "--bootstrap-server", self._bootstraps[place], "--topic", self.topic,
            "--throughput", "50", "--value-prefix", str(self._count),
            "--command-config", str(self._settings),
        )  # fmt: skip
        command = jars.java("org.apache.kafka.tools.VerifiableProducer", *words, heap="128m")
        command[1:1] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        command.remove("-XX:+UseG1GC")
        return Program(self._directory, f"producer-{self._count}", command)

    def _note(self, program: Program) -> None:
        for event in program.events("producer_send_success"):
            number = number_of(event["value"].encode())
            self.acknowledged[number] = (event["partition"], event["offset"])


def _is_fault(send_error: Mapping[str, Any]) -> bool:
    """Not what a region refuses as read-only, and not what a producer that ends has not taken any more."""
    is_refusal = "PolicyViolation" in send_error["exception"]
    return not (is_refusal or send_error["message"].startswith("Producer closed while "))
