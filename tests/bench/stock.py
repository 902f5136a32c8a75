"""The client program with librdkafka (confluent-kafka) at its default settings, as an application would use it.

Run as a process of its own; prints one JSON object: records, bytes (of values), seconds, client_cpu_s.
"""

import argparse
import json
import os
import time

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

VALUE_BYTES = 1024
DISTINCT = 256
QUIET_S = 30


def produce(options: argparse.Namespace) -> None:
    """Produces `count` records round robin over the partitions and waits for every acknowledgement."""
    values = [os.urandom(VALUE_BYTES) for _ in range(DISTINCT)]
    lost: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            lost.append(error)

    producer = Producer({"bootstrap.servers": options.bootstrap})
    for number in range(options.count):
        partition = number // 100 % options.partitions
        while True:
            try:
                producer.produce(
                    options.topic,
                    values[number % DISTINCT],
                    partition=partition,
                    on_delivery=delivered,
                )
                break
            except BufferError:  # its queue is full: wait for acknowledgements
                producer.poll(0.01)
        if number % 100 == 0:
            producer.poll(0)
    left = producer.flush(QUIET_S)
    if lost or left:
        raise AssertionError(f"{len(lost)} records refused, {left} unanswered: {lost[:1]}")


def consume(options: argparse.Namespace) -> None:
    """Reads `count` records from the beginning of every partition."""
    settings = {
        "bootstrap.servers": options.bootstrap,
        "group.id": "bench",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(options.topic, n, 0) for n in range(options.partitions)])
    have = 0
    while have < options.count:
        messages = consumer.consume(10_000, QUIET_S)
        errors = [message.error() for message in messages if message.error() is not None]
        if errors or not messages:
            raise AssertionError(
                f"{have} of {options.count} records read, then {errors[:1] or 'silence'}"
            )
        have += len(messages)
    consumer.close()
    if have != options.count:
        raise AssertionError(f"{have} records read, {options.count} expected")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["produce", "consume"])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--count", type=int, required=True)
    options = parser.parse_args()
    began = time.perf_counter()
    {"produce": produce, "consume": consume}[options.verb](options)
    seconds = time.perf_counter() - began
    result = {"records": options.count, "bytes": options.count * VALUE_BYTES, "seconds": seconds}
    print(json.dumps(result | {"client_cpu_s": time.process_time()}))


if __name__ == "__main__":
    main()
