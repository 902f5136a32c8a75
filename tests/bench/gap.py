"""A librdkafka producer, at default settings or idempotent, that goes on while its leader is taken away.

Run as a process of its own. Sends `rate` numbered records a second to partition 0; says "going" once the first are
acknowledged; when its standard input ends, waits for every acknowledgement and reads everything back. Prints one JSON
object: acknowledged, refused, lost and doubled (counts of records), longest_s (the longest time between two
acknowledgements in a row).
"""

import argparse
import json
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

TIMEOUT_S = 120


class Delivered:
    """What became of the records, as delivery reports tell."""

    def __init__(self) -> None:
        self.acknowledged: set[int] = set()
        self.refused = 0
        self.longest_s = 0.0
        self._last: float | None = None

    def report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.refused += 1
            return
        now = time.monotonic()
        if self._last is not None:
            self.longest_s = max(self.longest_s, now - self._last)
        self._last = now
        self.acknowledged.add(int(message.value()))


def go_on(options: argparse.Namespace) -> Delivered:
    delivered, ended = Delivered(), threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    settings = {"bootstrap.servers": options.bootstrap, "enable.idempotence": options.idempotent}
    producer = Producer(settings)
    number, began, said = 0, time.monotonic(), False
    while not ended.is_set():
        producer.produce(options.topic, str(number), partition=0, on_delivery=delivered.report)
        number += 1
        producer.poll(max(0.0, began + number / options.rate - time.monotonic()))
        if delivered.acknowledged and not said:
            said = True
            print("going", flush=True)
    left = producer.flush(TIMEOUT_S)
    if left:
        raise AssertionError(f"{left} records have no answer after {TIMEOUT_S} s")
    return delivered


def read_all(options: argparse.Namespace) -> list[int]:
    settings = {
        "bootstrap.servers": options.bootstrap,
        "group.id": "gap",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    end = consumer.get_watermark_offsets(TopicPartition(options.topic, 0), timeout=TIMEOUT_S)[1]
    consumer.assign([TopicPartition(options.topic, 0, 0)])
    numbers: list[int] = []
    position, deadline = 0, time.monotonic() + TIMEOUT_S
    while position < end:
        for message in consumer.consume(10_000, 1.0):
            if message.error() is None:
                numbers.append(int(message.value()))
                position = message.offset() + 1
        if time.monotonic() > deadline:
            raise AssertionError(f"read up to {position} of {end} in {TIMEOUT_S} s")
    consumer.close()
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--idempotent", action="store_true")
    options = parser.parse_args()
    delivered = go_on(options)
    numbers = read_all(options)
    said = {
        "acknowledged": len(delivered.acknowledged),
        "refused": delivered.refused,
        "lost": len(delivered.acknowledged - set(numbers)),
        "doubled": len(numbers) - len(set(numbers)),
        "longest_s": delivered.longest_s,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
