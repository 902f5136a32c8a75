"""The idempotent producers of one log (KIP-98): no retry is appended twice, every gap is detected (P10).

Per producer: its epoch and its last five batches, because a client has up to five requests in flight and may retry any
of them. Only `update` changes the state, with appended batches.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from brokers.errors import KafkaError
from brokers.ids import NO_PRODUCER, Instant, Offset, ProducerId
from brokers.records.batch import SEQUENCE_MODULUS, BatchHeader

BATCHES_REMEMBERED = 5  # max.in.flight.requests.per.connection of an idempotent client
EXPIRATION_MS = 86_400_000  # producer.id.expiration.ms


class RememberedBatch(NamedTuple):
    """One batch of a producer. `append_time` is -1 for CreateTime."""

    base_sequence: int
    last_sequence: int
    base_offset: Offset
    next_offset: Offset
    append_time: Instant


@dataclass(frozen=True, slots=True)
class Accept:
    """The batch may be appended."""


class Duplicate(NamedTuple):
    """A retry: the batch is already at `base_offset`; acknowledge it once all below `next_offset` is committed."""

    base_offset: Offset
    next_offset: Offset
    append_time: Instant


Verdict: TypeAlias = Accept | Duplicate | KafkaError
ACCEPT = Accept()


@dataclass(slots=True)
class Producer:
    """The state of one producer id in one log; `seen_at` is the time of its last batch, for expiration."""

    epoch: int
    seen_at: Instant
    coordinator_epoch: int = -1
    transaction_offset: Offset = -1  # first offset of its open transaction
    batches: deque[RememberedBatch] = field(
        default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED)
    )

    @property
    def next_sequence(self) -> int:
        """The base sequence of the next batch."""
        return (self.batches[-1].last_sequence + 1) % SEQUENCE_MODULUS if self.batches else 0


class ProducerEntry(NamedTuple):
    """The state of one producer id, as a value."""

    producer_id: ProducerId
    epoch: int
    seen_at: Instant
    coordinator_epoch: int
    transaction_offset: Offset
    batches: tuple[RememberedBatch, ...]


class ProducerStates:
    """All producers that wrote to one log and have not expired. Kafka: `ProducerStateManager`."""

    __slots__ = ("_producers",)

    def __init__(self, producers: dict[ProducerId, Producer] | None = None) -> None:
        self._producers = producers if producers is not None else {}

    @classmethod
    def of(cls, entries: Iterable[ProducerEntry]) -> "ProducerStates":
        """The inverse of `entries`."""
        producers: dict[ProducerId, Producer] = {}
        for producer_id, epoch, seen_at, coordinator_epoch, transaction_offset, batches in entries:
            producer = Producer(epoch, seen_at, coordinator_epoch, transaction_offset)
            producer.batches.extend(batches)
            producers[producer_id] = producer
        return cls(producers)

    @property
    def entries(self) -> tuple[ProducerEntry, ...]:
        return tuple(
            ProducerEntry(
                producer_id,
                producer.epoch,
                producer.seen_at,
                producer.coordinator_epoch,
                producer.transaction_offset,
                tuple(producer.batches),
            )
            for producer_id, producer in self._producers.items()
        )

    def __len__(self) -> int:
        return len(self._producers)

    def __iter__(self) -> Iterator[tuple[ProducerId, Producer]]:
        return iter(self._producers.items())

    def check(self, header: BatchHeader) -> Verdict:
        """Whether a client's batch continues its producer's sequence; an unknown producer may begin anywhere."""
        if header.producer_id == NO_PRODUCER:
            return ACCEPT
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return ACCEPT
        if header.producer_epoch != producer.epoch:
            return _check_epoch(producer, header)
        if header.base_sequence == producer.next_sequence:
            return ACCEPT
        for batch in producer.batches:
            if batch[:2] == (header.base_sequence, header.last_sequence):
                return Duplicate(batch.base_offset, batch.next_offset, batch.append_time)
        return KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER

    def update(self, header: BatchHeader, now: Instant) -> None:
        """Add a batch that was appended, with its final offsets."""
        if header.producer_id == NO_PRODUCER:
            return
        producer = self._producers.get(header.producer_id)
        if producer is None:
            producer = self._producers[header.producer_id] = Producer(header.producer_epoch, now)
        elif producer.epoch != header.producer_epoch:
            producer.epoch = header.producer_epoch
            producer.batches.clear()
        producer.seen_at = now
        if header.is_control:
            producer.transaction_offset = -1  # a commit or abort marker
        else:
            _remember(producer, header)

    def first_open_transaction(self) -> Offset | None:
        """The first offset of the oldest open transaction."""
        open_transactions = [
            producer.transaction_offset
            for producer in self._producers.values()
            if producer.transaction_offset >= 0
        ]
        return min(open_transactions, default=None)

    def expire(self, now: Instant, expiration_ms: int = EXPIRATION_MS) -> None:
        """Remove producers without a batch for `expiration_ms`, but none with an open transaction."""
        expired = [
            producer_id
            for producer_id, producer in self._producers.items()
            if now - producer.seen_at >= expiration_ms and producer.transaction_offset < 0
        ]
        for producer_id in expired:
            del self._producers[producer_id]


def _check_epoch(producer: Producer, header: BatchHeader) -> Verdict:
    if header.producer_epoch < producer.epoch:
        return KafkaError.INVALID_PRODUCER_EPOCH
    if header.base_sequence != 0:
        return KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
    return ACCEPT


def _remember(producer: Producer, header: BatchHeader) -> None:
    append_time = header.max_timestamp if header.is_append_time else -1
    if header.is_transactional and producer.transaction_offset < 0:
        producer.transaction_offset = header.base_offset
    producer.batches.append(
        RememberedBatch(
            header.base_sequence,
            header.last_sequence,
            header.base_offset,
            header.next_offset,
            append_time,
        )
    )
