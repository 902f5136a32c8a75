"""Kafka answers and fetched batches taken apart by hand, for the API versions of `frames`.

Each function takes an answer without length and correlation id. A benchmark that is refused anything is void, so every
error code but the expected ones raises `Refused`.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

NONE, UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS = 0, 3, 36
HEADER_BYTES = 61  # RecordBatch v2 up to its records
LENGTH_ENDS_AT = 12  # base offset and batch length
CRC_FROM = 21  # the checksum covers attributes to the end


class Refused(Exception):
    """A broker answered with an error code."""


class Batch(NamedTuple):
    base_offset: int
    records: int
    body: memoryview

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.records


class Fetched(NamedTuple):
    partition: int
    high_watermark: int
    records: memoryview


def expect(code: int, what: str, *allowed: int) -> int:
    if code != NONE and code not in allowed:
        raise Refused(f"{what}: error code {code}")
    return code


def produced(answer: memoryview) -> int:
    """The base offset of the one batch of a Produce v7."""
    (name_bytes,) = struct.unpack_from(">h", answer, 4)
    _, code, base_offset = struct.unpack_from(">ihq", answer, 4 + 2 + name_bytes + 4)
    expect(code, "produce")
    return int(base_offset)


def fetched(answer: memoryview) -> Iterator[Fetched]:
    """The partitions of a Fetch v11 of one topic."""
    _, code, _, topics = struct.unpack_from(">ihii", answer, 0)
    expect(code, "fetch")
    if topics == 0:
        return
    (name_bytes,) = struct.unpack_from(">h", answer, 14)
    at = 16 + name_bytes
    (partitions,) = struct.unpack_from(">i", answer, at)
    at += 4
    for _ in range(partitions):
        partition, code, high_watermark, _, _, aborted = struct.unpack_from(">ihqqqi", answer, at)
        expect(code, f"fetch of partition {partition}")
        at += 34 + 16 * max(aborted, 0)
        _, size = struct.unpack_from(">ii", answer, at)
        at += 8
        yield Fetched(partition, high_watermark, answer[at : at + max(size, 0)])
        at += max(size, 0)


def latest(answer: memoryview, *allowed: int) -> dict[int, int]:
    """Offset by partition from a ListOffsets v1 of one topic; partitions with an `allowed` error are left out."""
    (name_bytes,) = struct.unpack_from(">h", answer, 4)
    (partitions,) = struct.unpack_from(">i", answer, 6 + name_bytes)
    rows = (
        struct.unpack_from(">ihqq", answer, 10 + name_bytes + 22 * n) for n in range(partitions)
    )
    return {
        partition: offset
        for partition, code, _, offset in rows
        if expect(code, f"list offsets of partition {partition}", *allowed) == NONE
    }


class Leaders(NamedTuple):
    """Who leads a topic: `addresses` by partition, of those that have a leader; `in_sync` replicas by partition."""

    addresses: dict[int, str]
    nodes: dict[int, int]
    in_sync: dict[int, list[int]]


def leaders(answer: memoryview) -> Leaders:
    """From a Metadata v1 of one topic; a topic that isn't there yet has none."""
    at = 0

    def number(form: str) -> int:
        nonlocal at
        (value,) = struct.unpack_from(f">{form}", answer, at)
        at += struct.calcsize(f">{form}")
        return int(value)

    def string() -> str:
        nonlocal at
        size = max(number("h"), 0)
        at += size
        return bytes(answer[at - size : at]).decode()

    brokers = {}
    for _ in range(number("i")):
        node, host, port, _ = number("i"), string(), number("i"), string()
        brokers[node] = f"{host}:{port}"
    number("i")  # the controller
    found = Leaders({}, {}, {})
    for _ in range(number("i")):
        number("h"), string(), number("b")
        for _ in range(number("i")):
            _, partition, leader = number("h"), number("i"), number("i")
            [number("i") for _ in range(number("i"))]  # replicas
            found.in_sync[partition] = [number("i") for _ in range(number("i"))]
            if leader in brokers:
                found.addresses[partition] = brokers[leader]
                found.nodes[partition] = leader
    return found


def brokers(answer: memoryview) -> int:
    """How many brokers a Metadata v1 names."""
    (count,) = struct.unpack_from(">i", answer, 0)
    return int(count)


def topic_changed(answer: memoryview, what: str, *allowed: int) -> None:
    """CreateTopics v4 and DeleteTopics v3 begin alike: throttle time, one topic, its name, its error code."""
    (name_bytes,) = struct.unpack_from(">h", answer, 8)
    (code,) = struct.unpack_from(">h", answer, 10 + name_bytes)
    expect(code, what, *allowed)


def batches(records: memoryview) -> Iterator[Batch]:
    """The whole batches; a broker may cut the last one short, and then it is fetched again."""
    at = 0
    while len(records) - at >= HEADER_BYTES:
        base_offset, length = struct.unpack_from(">qi", records, at)
        following = at + LENGTH_ENDS_AT + length
        if following > len(records):
            return
        (last_offset_delta,) = struct.unpack_from(">i", records, at + 23)
        yield Batch(base_offset, last_offset_delta + 1, records[at:following])
        at = following


def intact(batch: Batch) -> bool:
    """Whether the checksum holds."""
    (announced,) = struct.unpack_from(">I", batch.body, 17)
    return bool(crc32c(batch.body[CRC_FROM:]) == announced)


def values(batch: Batch) -> Iterator[bytes]:
    """The values of the records of an uncompressed batch, in order."""
    at = HEADER_BYTES
    for _ in range(batch.records):
        size, at = _varint(batch.body, at)
        following = at + size
        _, at = _varint(batch.body, at + 1)  # timestamp delta, after the attributes
        _, at = _varint(batch.body, at)  # offset delta
        key_bytes, at = _varint(batch.body, at)
        value_bytes, at = _varint(batch.body, at + max(key_bytes, 0))
        yield bytes(batch.body[at : at + max(value_bytes, 0)])
        at = following


def _varint(body: memoryview, at: int) -> tuple[int, int]:
    raw = shift = 0
    while True:
        byte = body[at]
        at += 1
        raw |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (raw >> 1) ^ -(raw & 1), at
