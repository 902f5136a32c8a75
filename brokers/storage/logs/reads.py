"""Reads ranges of open logs, finds their file positions, and looks up timestamps."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from brokers.effects import FindRanges, FindTimestamp, Range, ReadRange
from brokers.errors import KafkaError
from brokers.events import Event, RangeFound, RangeRead, RangesFound, TimestampFound
from brokers.ids import Instant, Offset, TopicPartition
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.logs.timestamps import NOTHING_FOUND, found_timestamp
from brokers.storage.segments.ranges import share


class Fail(Protocol):
    """Closes a log after a `DiskError`, and reports it."""

    def __call__(self, partition: TopicPartition, error: DiskError, /) -> list[Event]: ...


class Reads:
    """For the open `logs` of one directory."""

    def __init__(self, files: Files, logs: Mapping[TopicPartition, LocalLog], fail: Fail) -> None:
        self._files = files
        self._logs = logs
        self._fail = fail
        self.performers: dict[type, Callable[[Any, Instant], list[Event]]] = {
            ReadRange: lambda effect, now: self.read(effect),
            FindRanges: lambda effect, now: self.find_all(effect),
            FindTimestamp: lambda effect, now: self.find_timestamp(effect),
        }

    def read(self, effect: ReadRange) -> list[Event]:
        wanted = Range(effect.partition, effect.offset, effect.bound, effect.size_max)
        taken, failures = self._take(LocalLog.read, wanted, effect.size_max, effect.at_least_one)
        return [RangeRead(effect.ticket, effect.partition, *taken), *failures]

    def find_all(self, effect: FindRanges) -> list[Event]:
        failures: list[Event] = []
        found = share(effect.ranges, effect.size_max, partial(self.find, failures))
        return [RangesFound(effect.ticket, found), *failures]

    def find(
        self, failures: list[Event], wanted: Range, size_max: int, at_least_one: bool
    ) -> RangeFound:
        """One range of several; failed logs are added to `failures`."""
        taken, failed = self._take(LocalLog.find, wanted, size_max, at_least_one)
        failures += failed
        return RangeFound(*taken)

    def find_timestamp(self, effect: FindTimestamp) -> list[Event]:
        found, events = NOTHING_FOUND, list[Event]()
        try:
            found = found_timestamp(self._files, self._logs.get(effect.partition), effect)
        except DiskError as error:
            events = self._fail(effect.partition, error)
        return [TimestampFound(effect.ticket, effect.partition, *found), *events]

    def _take(
        self,
        take: Callable[..., tuple[Any, Offset]],
        wanted: Range,
        size_max: int,
        at_least_one: bool,
    ) -> tuple[tuple[Any, Offset, KafkaError], list[Event]]:
        """(the data or file range, its next offset, an error), and the events of a failed log."""
        log = self._logs.get(wanted.partition)
        try:
            return taken(log, take, wanted, size_max, at_least_one), []
        except DiskError as error:
            failed = b"", wanted.offset, KafkaError.KAFKA_STORAGE_ERROR
            return failed, self._fail(wanted.partition, error)


def taken(
    log: LocalLog | None,
    take: Callable[..., tuple[Any, Offset]],
    wanted: Range,
    size_max: int,
    at_least_one: bool,
) -> tuple[Any, Offset, KafkaError]:
    """(the result of `take`, its next offset, an error). Raises `DiskError`."""
    _, offset, bound, _ = wanted
    if log is None:
        return b"", offset, KafkaError.KAFKA_STORAGE_ERROR
    if not log.log_start_offset <= offset <= log.next_offset:
        return b"", offset, KafkaError.OFFSET_OUT_OF_RANGE
    try:
        data, next_offset = take(log, offset, bound, size_max, at_least_one=at_least_one)
    except BatchError as error:
        return b"", offset, error.error
    return data, next_offset, KafkaError.NONE
