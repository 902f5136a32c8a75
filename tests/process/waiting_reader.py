"""A stock consumer that notes when records reach it: how long it waits for one that was sent after an instant."""

import threading
import time

from confluent_kafka import OFFSET_END, Consumer
from confluent_kafka import TopicPartition as Position

TIMEOUT_S = 90


class WaitingReader:
    """Reads what comes to a topic from now on, in a thread of its own until `close`."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "waiting",
                "enable.auto.commit": False,
                "reconnect.backoff.max.ms": 100,
            }
        )
        self._consumer.assign([Position(topic, index, OFFSET_END) for index in range(partitions)])
        # By partition, of the newest record: when it was sent, and when it came.
        self._newest: dict[int, tuple[float, float]] = {}
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._is_over:
            message = self._consumer.poll(0.1)
            if message is None or message.error():
                continue  # a broker is gone: the client looks for the next one
            sent = message.timestamp()[1] / 1_000
            with self._changed:
                self._newest[message.partition()] = (sent, time.time())
                self._changed.notify_all()
        self._consumer.close()

    def wait_for(self, partition: int, since: float) -> float:
        """Until a record is there that was sent after this instant -> how many seconds after it."""
        with self._changed:
            is_there = self._changed.wait_for(
                lambda: self._newest.get(partition, (0.0, 0.0))[0] > since, TIMEOUT_S
            )
            assert is_there, f"nothing came to partition {partition}"
            return self._newest[partition][1] - since

    def close(self) -> None:
        self._is_over = True
        self._thread.join()
