"""Kafka frames and record batches built by hand with `struct`, independent of our own codec.

Every API is used at its newest version before the flexible encodings (KIP-482), because those need no varints and both
brokers accept them. A frame is complete, length first; its correlation id sits at `CORRELATION_AT` and may be patched.
"""

import struct
from collections.abc import Iterable, Mapping

from crc32c import crc32c

CORRELATION_AT = 8  # after int32 length, int16 key, int16 version
CLIENT_ID = b"bench"

ADMIN_CLIENT_ID = b"__admin_client"  # brokers let this client alone write internal topics

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
OFFSET_FETCH, FIND_COORDINATOR = 9, 10
API_VERSIONS, CREATE_TOPICS, DELETE_TOPICS = 18, 19, 20
LATEST = -1


def frame(
    key: int, version: int, *body: bytes, extra: int = 0, client: bytes = CLIENT_ID
) -> bytearray:
    """A whole request; `extra` bytes of records are announced in the length and sent by the caller."""
    header = struct.pack(">hhih", key, version, 0, len(client)) + client
    payload = header + b"".join(body)
    return bytearray(struct.pack(">i", len(payload) + extra) + payload)


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def array(items: Iterable[bytes]) -> bytes:
    encoded = list(items)
    return struct.pack(">i", len(encoded)) + b"".join(encoded)


def varint(value: int) -> bytes:
    """A zigzag varint, as in records."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def record(offset_delta: int, value: bytes) -> bytes:
    """One record without key or headers, timestamp delta 0."""
    body = b"".join(
        (b"\0", varint(0), varint(offset_delta), varint(-1), varint(len(value)), value, varint(0))
    )
    return varint(len(body)) + body


def batch(values: Iterable[bytes], timestamp_ms: int) -> bytes:
    """An uncompressed RecordBatch v2 without a producer id, as a producer sends it."""
    records = [record(delta, value) for delta, value in enumerate(values)]
    payload = b"".join(records)
    last = len(records) - 1
    fields = (0, last, timestamp_ms, timestamp_ms, -1, -1, -1, len(records))
    covered = struct.pack(">hiqqqhii", *fields) + payload
    return struct.pack(">qiibI", 0, 9 + len(covered), -1, 2, crc32c(covered)) + covered


def produce(topic: str, partition: int, records_bytes: int, client: bytes = CLIENT_ID) -> bytearray:
    """Produce v7, acks=all, one batch; the `records_bytes` of the batch follow the frame."""
    return frame(
        PRODUCE, 7,
        struct.pack(">hhii", -1, -1, 30_000, 1), text(topic),
        struct.pack(">iii", 1, partition, records_bytes),
        extra=records_bytes, client=client,
    )  # fmt: skip


def produce_each(partitions: Mapping[str, Iterable[int]], records: bytes) -> bytearray:
    """Produce v7, acks=all, the same batch to each of some partitions of some topics."""
    body = struct.pack(">i", len(records)) + records
    topics = array(
        text(topic) + array(struct.pack(">i", partition) + body for partition in numbers)
        for topic, numbers in partitions.items()
    )
    return frame(PRODUCE, 7, struct.pack(">hhi", -1, -1, 30_000), topics)


def fetch(
    topic: str,
    offsets: Mapping[int, int],
    *,
    max_wait_ms: int,
    max_bytes: int,
    partition_max_bytes: int,
) -> bytearray:
    """Fetch v11 outside any fetch session (KIP-227), read_uncommitted, at least one byte."""
    partitions = array(
        struct.pack(">iiqqi", partition, -1, offset, -1, partition_max_bytes)
        for partition, offset in offsets.items()
    )
    return frame(
        FETCH, 11,
        struct.pack(">iiiibii", -1, max_wait_ms, 1, max_bytes, 0, 0, -1),
        array([text(topic) + partitions]), array([]), text(""),
    )  # fmt: skip


def list_offsets(topic: str, partitions: int, timestamp: int = LATEST) -> bytearray:
    """ListOffsets v1 for partitions 0 to `partitions` - 1."""
    return list_offsets_each({topic: range(partitions)}, timestamp)


def list_offsets_each(
    partitions: Mapping[str, Iterable[int]], timestamp: int = LATEST
) -> bytearray:
    """ListOffsets v1 for some partitions of some topics."""
    topics = array(
        text(topic) + array(struct.pack(">iq", partition, timestamp) for partition in numbers)
        for topic, numbers in partitions.items()
    )
    return frame(LIST_OFFSETS, 1, struct.pack(">i", -1), topics)


def metadata(*topics: str) -> bytearray:
    """Metadata v4 of some topics, none of which it creates, or of the brokers alone."""
    return frame(METADATA, 4, array(text(topic) for topic in topics), b"\0")


def create_topic(
    topic: str, partitions: int, replicas: int = 1, configs: Mapping[str, str] | None = None
) -> bytearray:
    """CreateTopics v4, with these settings."""
    return create_topics([topic], partitions, replicas, configs)


def create_topics(
    topics: Iterable[str],
    partitions: int,
    replicas: int = 1,
    configs: Mapping[str, str] | None = None,
) -> bytearray:
    """CreateTopics v4 of many that are alike."""
    settings = array([text(name) + text(value) for name, value in (configs or {}).items()])
    rest = struct.pack(">ih", partitions, replicas) + array([]) + settings
    wanted = array(text(topic) + rest for topic in topics)
    return frame(CREATE_TOPICS, 4, wanted, struct.pack(">ib", 60_000, 0))


def delete_topics(*topics: str) -> bytearray:
    """DeleteTopics v3."""
    return frame(DELETE_TOPICS, 3, array(map(text, topics)), struct.pack(">i", 60_000))


def api_versions() -> bytearray:
    """ApiVersions v0, the cheapest question any broker answers."""
    return frame(API_VERSIONS, 0)


def find_coordinator(group: str) -> bytearray:
    """FindCoordinator v1 of a group; the first one has `__consumer_offsets` created."""
    return frame(FIND_COORDINATOR, 1, text(group), b"\0")


def offset_fetch(group: str, topic: str, partition: int) -> bytearray:
    """OffsetFetch v5 of one partition."""
    return frame(
        OFFSET_FETCH, 5, text(group), array([text(topic) + array([struct.pack(">i", partition)])])
    )
