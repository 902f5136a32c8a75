"""The client program for one record at a time: acknowledged, read by a waiting consumer, read over a link.

One thread and one `poll` watch both connections, so that no lock or scheduler of ours is in the figures.
Run as a process of its own; prints one JSON object whose lists hold milliseconds in the order of sending.
"""

import argparse
import json
import os
import select
import struct
import time

from tests.bench import answers, frames, topics
from tests.bench.connection import Connection

VALUE_BYTES = 1024
TIMEOUT_S = 60
SENT_AT = struct.Struct(">q")  # what a value begins with: time.monotonic_ns() when it was sent


class Record:
    """One record at a time, each in a batch and a request of its own."""

    def __init__(self, topic: str) -> None:
        self._rest = os.urandom(VALUE_BYTES - SENT_AT.size)
        self._frame = frames.produce(topic, 0, len(self._batch(0)))

    def send(self, connection: Connection) -> int:
        """Sends a record that says when it was sent; answers that time, in monotonic nanoseconds."""
        now = time.monotonic_ns()
        connection.send(self._frame, self._batch(now))
        return now

    def _batch(self, now: int) -> bytes:
        return frames.batch([SENT_AT.pack(now) + self._rest], time.time_ns() // 1_000_000)


class Reader:
    """A consumer of partition 0 that always has a fetch waiting at the broker."""

    def __init__(self, topic: str, connection: Connection, offset: int) -> None:
        self._topic, self.connection, self._offset = topic, connection, offset
        self.delays_ms: list[float] = []

    def ask(self) -> None:
        wanted = {0: self._offset}
        self.connection.send(
            frames.fetch(
                self._topic,
                wanted,
                max_wait_ms=500,
                max_bytes=50 << 20,
                partition_max_bytes=1 << 20,
            )
        )

    def receive(self) -> None:
        """Takes one answer and notes how old each record in it is."""
        answer = self.connection.receive()
        now = time.monotonic_ns()
        for fetched in answers.fetched(answer):
            for batch in answers.batches(fetched.records):
                for value in answers.values(batch):
                    (sent,) = SENT_AT.unpack_from(value)
                    self.delays_ms.append((now - sent) / 1e6)
                self._offset = batch.next_offset


def acknowledged(options: argparse.Namespace) -> dict[str, list[float]]:
    """Sends `count` records, each after the acknowledgement of the one before."""
    record, delays_ms = Record(options.topic), []
    with Connection(options.bootstrap) as connection:
        for _ in range(options.count):
            sent = record.send(connection)
            answers.produced(connection.receive())
            delays_ms.append((time.monotonic_ns() - sent) / 1e6)
    return {"acknowledged_ms": delays_ms}


def read(options: argparse.Namespace) -> dict[str, list[float]]:
    """Sends `count` records, each once a consumer that read the one before waits again."""
    record = Record(options.topic)
    with Connection(options.bootstrap) as producer, Connection(options.bootstrap) as consumer:
        reader = Reader(options.topic, consumer, topics.ends(producer, options.topic, 1)[0])
        for wanted in range(1, options.count + 1):
            reader.ask()
            time.sleep(0.002)  # lets the fetch reach the broker and wait there
            record.send(producer)
            while len(reader.delays_ms) < wanted:
                if not reader.connection.in_flight:
                    reader.ask()
                reader.receive()
            answers.produced(producer.receive())
    return {"read_ms": reader.delays_ms}


def linked(options: argparse.Namespace) -> dict[str, list[float]]:
    """Sends `rate` records a second for `seconds` and reads them from the other region.

    Begins when a first record has come across, so that what is measured is the link from the first second of its work.
    """
    record = Record(options.topic)
    with Connection(options.bootstrap) as producer, Connection(options.destination) as consumer:
        _first_across(record, producer, consumer, options.topic)
        reader = Reader(options.topic, consumer, 1)
        total = int(options.rate * options.seconds)
        began = time.monotonic()
        watch = select.poll()
        watch.register(producer, select.POLLIN)
        watch.register(consumer, select.POLLIN)
        reader.ask()
        sent = 0
        while len(reader.delays_ms) < total:
            due = began + sent / options.rate - time.monotonic() if sent < total else 1.0
            if sent < total and due <= 0:
                record.send(producer)
                sent += 1
                continue
            if time.monotonic() > began + options.seconds + TIMEOUT_S:
                raise AssertionError(f"{len(reader.delays_ms)} of {total} records came across")
            for ready, _ in watch.poll(due * 1000):
                if ready == producer.fileno():
                    answers.produced(producer.receive())
                else:
                    reader.receive()
                    reader.ask()
    return {"linked_ms": reader.delays_ms}


def _first_across(record: Record, producer: Connection, consumer: Connection, topic: str) -> None:
    record.send(producer)
    answers.produced(producer.receive())
    deadline = time.monotonic() + TIMEOUT_S
    while topics.ends(consumer, topic, 1).get(0, 0) == 0:
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing of {topic} came across within {TIMEOUT_S} s")
        time.sleep(0.005)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    for verb in (acknowledged, read, linked):
        command = verbs.add_parser(verb.__name__)
        command.set_defaults(act=verb)
        command.add_argument("--bootstrap", required=True)
        command.add_argument("--topic", required=True)
    verbs.choices["acknowledged"].add_argument("--count", type=int, required=True)
    verbs.choices["read"].add_argument("--count", type=int, required=True)
    verbs.choices["linked"].add_argument("--destination", required=True)
    verbs.choices["linked"].add_argument("--rate", type=float, default=50)
    verbs.choices["linked"].add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    print(json.dumps(options.act(options)))


if __name__ == "__main__":
    main()
