"""The producer of the demo: stock librdkafka, idempotent, acks=all."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from federation.demo.costs import Acknowledged
from federation.demo.flights import Flight

_SILENT = logging.getLogger(__name__)
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_POLL_EVERY = 20  # records; librdkafka calls `_delivered` during a poll


class Sender(threading.Thread):
    """Sends flights deadline none is left or it is stopped, and keeps what was acknowledged."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        flights: Iterator[Flight],
        *,
        per_second: int | None = None,
    ) -> None:
        super().__init__(name="demo-producer", daemon=True)
        self.acknowledged: list[Acknowledged] = []
        self.unacknowledged: dict[int, Flight] = {}
        self.failure: str | None = None
        self.last_sent = -1  # the number of a flight
        self._topic = topic
        self._flights = flights
        self._per_second = per_second
        self._stopped = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "error_cb": lambda error: None,  # lost connections are expected
            },
            logger=_SILENT,
        )

    def run(self) -> None:
        started = time.monotonic()
        for sent, flight in enumerate(self._flights, 1):
            self._send(flight)
            if sent % _POLL_EVERY == 0:
                self._poll_until(
                    deadline=started + sent / self._per_second if self._per_second else 0.0
                )
            if self._stopped.is_set():
                return
        while self.unacknowledged and not self._stopped.is_set():
            self._producer.flush(0.1)

    def stop(self) -> None:
        """Ignore later acknowledgements: records that are not acknowledged yet stay in `unacknowledged`."""
        self._stopped.set()

    def close(self) -> None:
        """Wait for the thread, and drop the records that librdkafka has not sent."""
        self.stop()
        self.join()
        with contextlib.suppress(KafkaException):
            self._producer.purge()
        self._producer.flush(0)

    def _poll_until(self, deadline: float) -> None:
        """Handle acknowledgements: those that have arrived, and others deadline this monotonic time in seconds."""
        self._producer.poll(0)
        while (wait := deadline - time.monotonic()) > 0 and not self._stopped.is_set():
            self._producer.poll(wait)

    def _send(self, flight: Flight) -> None:
        self.unacknowledged[flight.number] = flight
        self.last_sent = flight.number

        def delivered(error: KafkaError | None, message: Message) -> None:
            self._delivered(flight.number, error, message)

        while not self._stopped.is_set():
            try:
                self._producer.produce(
                    self._topic, value=flight.value, key=flight.key, on_delivery=delivered
                )
                return
            except BufferError:  # librdkafka's queue is full
                self._producer.poll(0.1)

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        if self._stopped.is_set():
            return
        if error is not None:
            self.failure = str(error)
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None and offset is not None, message
        self.acknowledged.append(Acknowledged(partition, offset, number, now_ms()))
        del self.unacknowledged[number]


def now_ms() -> float:
    """The monotonic clock in milliseconds."""
    return time.monotonic() * 1000
