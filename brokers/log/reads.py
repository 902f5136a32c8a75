"""What there is of a range of a log, or why there is nothing."""

from collections.abc import Callable
from typing import Any

from brokers.effects import Range
from brokers.errors import KafkaError
from brokers.ids import Offset
from brokers.log.stored_log import StoredLog
from brokers.records.batch import BatchError


def taken(
    log: StoredLog | None,
    take: Callable[..., tuple[Any, Offset]],
    wanted: Range,
    size_max: int,
    at_least_one: bool,
) -> tuple[Any, Offset, KafkaError]:
    """(what `take` reads or finds, where that ends, what was wrong). Raises `DiskError`."""
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
