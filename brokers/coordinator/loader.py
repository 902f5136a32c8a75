"""Reads a partition of a coordinator's topic from its start (Kafka's CoordinatorLoader)."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from brokers.continuations import Continuations
from brokers.coordinator.load_times import LoadTimes
from brokers.effects import Changed, Effect, ReadRange
from brokers.errors import KafkaError
from brokers.events import LogAnswer, RangeRead
from brokers.ids import Buffer, Instant, Offset, TopicPartition
from brokers.partition.replica import Replica
from brokers.records.batch import HEADER_SIZE, BatchError, iter_headers
from brokers.records.compression import decompress
from brokers.records.raw_records import OpenedBatch

# Replayed in one step, in which the node does nothing else: a few milliseconds.
READ_BYTES = 1 << 18

Loaded: TypeAlias = Callable[[TopicPartition, Instant], list[Effect]]


class Replayed(Protocol):
    """What receives the records."""

    def replay(self, partition: int, batch: OpenedBatch) -> None:
        """The next records of a partition that is being loaded, in the order of the log. Raises `BatchError`."""

    def skip(self, partition: int, why: str) -> None:
        """A part of a partition that is being loaded cannot be read."""


class _Load(NamedTuple):
    """One partition that is being loaded."""

    bound: Offset  # up to which offset
    began: Instant


class CoordinatorLoader:
    """Several partitions at once, each from `load` until `loaded` is called or `cancel`."""

    def __init__(self, continuations: Continuations, target: Replayed, loaded: Loaded) -> None:
        self._continuations = continuations
        self._target = target
        self._loaded = loaded
        self._loading: dict[TopicPartition, _Load] = {}
        self.times = LoadTimes()

    @property
    def is_loading(self) -> bool:
        return bool(self._loading)

    def load(self, replica: Replica, now: Instant) -> list[Effect]:
        """Read up to the log end offset, which may be above the high watermark: what a leader has, it will commit."""
        log = replica.require_log()
        load = self._loading[replica.partition] = _Load(log.log_end_offset, now)
        return self._read(replica, log.log_start_offset, load, now)

    def cancel(self, partition: TopicPartition) -> None:
        """This node no longer leads the partition, or its log has failed."""
        self._loading.pop(partition, None)

    def _read(self, replica: Replica, offset: Offset, load: _Load, now: Instant) -> list[Effect]:
        bound = load.bound
        if offset >= bound:
            self._loading.pop(replica.partition, None)
            self.times.add(load.began, now)
            return self._loaded(replica.partition, now)

        def answered(event: LogAnswer, at: Instant) -> list[Effect]:
            assert isinstance(event, RangeRead)
            if self._loading.get(replica.partition) is not load:
                return []  # cancelled meanwhile
            if event.error or event.next_offset <= offset:
                self._loading.pop(replica.partition, None)
                return _not_loaded(event)
            self._replay(replica.partition, event.data)
            return self._read(replica, event.next_offset, load, at)

        ticket = self._continuations.on_storage(answered)
        return [ReadRange(ticket, replica.partition, offset, bound, READ_BYTES, at_least_one=True)]

    def _replay(self, partition: TopicPartition, data: Buffer) -> None:
        """Coordinators write no control batches, and no batch that cannot be opened.

        But tools may write to these topics, and their mistakes must not keep a node from starting.
        """
        view = memoryview(data)
        for position, header in iter_headers(view):
            if header.is_control:
                continue
            packed = view[position + HEADER_SIZE : position + header.length]
            try:
                opened = bytes(decompress(header.compression, packed))
                batch = OpenedBatch(opened, header.record_count)
                self._target.replay(partition.partition, batch)
            except BatchError as damage:
                why = f"the batch at offset {header.base_offset}: {damage.because}"
                self._target.skip(partition.partition, why)


def _not_loaded(event: RangeRead) -> list[Effect]:
    """A failed log is reported as such, and loaded when it is opened again. Nothing else reports other errors."""
    if event.error is KafkaError.KAFKA_STORAGE_ERROR:
        return []
    why = f"its log ends or is damaged at offset {event.next_offset}: {event.error.name}"
    return [Changed(f"records of {event.partition}", "not loaded", why)]
