"""Fetch (version 11) and DescribeLogDirs (version 1) as bytes; both are in every broker since Apache Kafka 2.4.

Version 11 is the first by which a consumer may read from a follower (KIP-392).
"""

import errno
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from federation.audit.segments.checkpoints import Key

FETCH = 1, 11
DESCRIBE_LOG_DIRS = 35, 1
ANSWER_BYTES = 32 << 20
OFFSET_OUT_OF_RANGE = 1
OFFSET_NOT_AVAILABLE = 78
ERRORS = {
    OFFSET_OUT_OF_RANGE: "OFFSET_OUT_OF_RANGE",
    2: "CORRUPT_MESSAGE",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    6: "NOT_LEADER_OR_FOLLOWER",
    9: "REPLICA_NOT_AVAILABLE",
    29: "TOPIC_AUTHORIZATION_FAILED",
    56: "KAFKA_STORAGE_ERROR",
    OFFSET_NOT_AVAILABLE: "OFFSET_NOT_AVAILABLE",
}


class Fetched(NamedTuple):
    """A partition's part of an answer; offsets are -1 where the broker does not say them."""

    error: int
    high_watermark: int
    log_start: int
    records: memoryview

    @property
    def error_name(self) -> str:
        return ERRORS.get(self.error, f"error {self.error}")


def fetch_request(
    offsets: Mapping[Key, int], *, partition_bytes: int, wait_ms: int, min_bytes: int = 1
) -> bytes:
    """As a consumer that reads whatever is below the high watermark."""
    topics: dict[str, list[bytes]] = defaultdict(list)
    for (topic, partition), offset in sorted(offsets.items()):
        row = struct.pack(">iiqqi", partition, -1, offset, -1, partition_bytes)
        topics[topic].append(row)
    rows = b"".join(
        _text(topic) + struct.pack(">i", len(found)) + b"".join(found)
        for topic, found in topics.items()
    )
    head = struct.pack(">iiiibiii", -1, wait_ms, min_bytes, ANSWER_BYTES, 0, 0, -1, len(topics))
    return head + rows + struct.pack(">i", 0) + _text("")


def fetch_answer(data: memoryview) -> dict[Key, Fetched]:
    """Raises OSError for what is no such answer."""
    try:
        return dict(_partitions(ResponseReader(data)))
    except (struct.error, UnicodeDecodeError) as error:
        raise OSError(errno.EPROTO, f"an answer that is no Fetch response: {error}") from error


def _partitions(reader: "ResponseReader") -> Iterator[tuple[Key, Fetched]]:
    _, error, _ = reader.take(">ihi")
    if error:
        raise OSError(errno.EPROTO, ERRORS.get(error, f"error {error}"))
    for _ in range(*reader.take(">i")):
        topic = reader.text()
        for _ in range(*reader.take(">i")):
            partition, error, high_watermark, _, log_start, aborted = reader.take(">ihqqqi")
            reader.skip(16 * max(0, aborted))
            _, size = reader.take(">ii")
            records = reader.bytes(max(0, size))
            yield (topic, partition), Fetched(error, high_watermark, log_start, records)


def sizes_request() -> bytes:
    """Of every partition."""
    return struct.pack(">i", -1)


def sizes_answer(data: memoryview) -> dict[Key, int]:
    """Bytes of each partition on the broker; raises OSError."""
    try:
        return dict(_sizes(ResponseReader(data)))
    except (struct.error, UnicodeDecodeError) as error:
        message = f"an answer that is no DescribeLogDirs response: {error}"
        raise OSError(errno.EPROTO, message) from error


def _sizes(reader: "ResponseReader") -> Iterable[tuple[Key, int]]:
    reader.take(">i")
    for _ in range(*reader.take(">i")):
        reader.take(">h")
        reader.text()
        for _ in range(*reader.take(">i")):
            topic = reader.text()
            for _ in range(*reader.take(">i")):
                partition, size, _, is_future = reader.take(">iqqb")
                if not is_future:
                    yield (topic, partition), size


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


class ResponseReader:
    """A response, field by field. Raises `struct.error` where it is cut short."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self._data, self._position)
        self._position += struct.calcsize(layout)
        return values

    def text(self) -> str:
        return str(self.bytes(max(0, *self.take(">h"))), "utf-8")

    def bytes(self, size: int) -> memoryview:
        found = self._data[self._position : self._position + size]
        if len(found) != size:
            raise struct.error(f"{size} bytes announced, {len(found)} there")
        self._position += size
        return found

    def skip(self, size: int) -> None:
        self._position += size
