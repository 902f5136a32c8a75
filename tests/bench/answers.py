"""Kafka answers and fetched batches taken apart by hand, for the API versions of `frames`.

Each function takes an answer without length and correlation id. A benchmark that is refused anything is void, so every
error code but the expected ones raises `Refused`.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

NONE, UNKNOWN_TOPIC_OR_PARTITION, TOPIC_ALREADY_EXISTS = 0, 3, 36
POLICY_VIOLATION = 44
HEADER_BYTES = 61  # RecordBatch v2 up to its records
LENGTH_ENDS_AT = 12  # base offset and batch length
CRC_FROM = 21  # the checksum covers attributes to the end


Place = tuple[str, int]  # topic and partition


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


def produced_each(answer: memoryview) -> Iterator[tuple[Place, int]]:
    """Each partition of a Produce v7 of many, and its error code."""
    read = Reader(answer)
    for _ in range(read.number("i")):
        topic = read.string()
        for _ in range(read.number("i")):
            partition, code = read.number("i"), read.number("h")
            read.skip(3 * 8)  # base offset, log append time, log start offset
            yield (topic, partition), code


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


class Reader:
    """Reads an answer from its beginning, field by field."""

    def __init__(self, answer: memoryview) -> None:
        self._answer = answer
        self._at = 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self._answer, self._at)
        self._at += struct.calcsize(f">{form}")
        return int(value)

    def string(self) -> str:
        """Empty where there is none."""
        size = max(self.number("h"), 0)
        self._at += size
        return bytes(self._answer[self._at - size : self._at]).decode()

    def skip(self, size: int) -> None:
        self._at += size


def latest(answer: memoryview, *allowed: int) -> dict[int, int]:
    """Offset by partition from a ListOffsets v1 of one topic; partitions with an `allowed` error are left out."""
    return {partition: offset for (_, partition), offset in latest_each(answer, *allowed).items()}


def latest_each(answer: memoryview, *allowed: int) -> dict[Place, int]:
    """The same of some topics."""
    read, found = Reader(answer), {}
    for _ in range(read.number("i")):
        topic = read.string()
        for _ in range(read.number("i")):
            partition, code, _, offset = (read.number(form) for form in "ihqq")
            what = f"list offsets of partition {partition} of {topic}"
            if expect(code, what, *allowed) == NONE:
                found[topic, partition] = offset
    return found


class Leaders(NamedTuple):
    """Who leads a topic: `addresses` by partition, of those that have a leader; `in_sync` replicas by partition."""

    addresses: dict[int, str]
    nodes: dict[int, int]
    in_sync: dict[int, list[int]]


def leaders(answer: memoryview) -> Leaders:
    """From a Metadata v4 of one topic; a topic that isn't there yet has none."""
    return next(iter(leaders_by_topic(answer).values()), Leaders({}, {}, {}))


def leaders_by_topic(answer: memoryview) -> dict[str, Leaders]:
    """From a Metadata v4 of some topics."""
    read = Reader(answer)
    read.number("i")  # throttle time
    brokers = {}
    for _ in range(read.number("i")):
        node, host, port, _ = read.number("i"), read.string(), read.number("i"), read.string()
        brokers[node] = f"{host}:{port}"
    read.string(), read.number("i")  # the cluster's id, the controller
    by_topic = {}
    for _ in range(read.number("i")):
        read.number("h")
        found = by_topic[read.string()] = Leaders({}, {}, {})
        read.number("b")
        for _ in range(read.number("i")):
            _, partition, leader = read.number("h"), read.number("i"), read.number("i")
            [read.number("i") for _ in range(read.number("i"))]  # replicas
            found.in_sync[partition] = [read.number("i") for _ in range(read.number("i"))]
            if leader in brokers:
                found.addresses[partition] = brokers[leader]
                found.nodes[partition] = leader
    return by_topic


def committed(answer: memoryview) -> tuple[int, int]:
    """(error code, offset) of the one partition of an OffsetFetch v5, -1 where none is committed."""
    read = Reader(answer)
    read.number("i")  # throttle time
    offset = -1
    for _ in range(read.number("i")):
        read.string()
        for _ in range(read.number("i")):
            _, offset, _, _ = read.number("i"), read.number("q"), read.number("i"), read.string()
            if code := read.number("h"):
                return code, offset
    return read.number("h"), offset


def brokers(answer: memoryview) -> int:
    """How many brokers a Metadata v4 names."""
    (count,) = struct.unpack_from(">i", answer, 4)
    return int(count)


def created(answer: memoryview) -> Iterator[tuple[str, int]]:
    """Each topic of a CreateTopics v4, and its error code."""
    read = Reader(answer)
    read.number("i")  # throttle time
    for _ in range(read.number("i")):
        yield read.string(), read.number("h")
        read.string()  # why


def deleted(answer: memoryview) -> Iterator[tuple[str, int]]:
    """Each topic of a DeleteTopics v3, and its error code."""
    read = Reader(answer)
    read.number("i")  # throttle time
    for _ in range(read.number("i")):
        yield read.string(), read.number("h")


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
