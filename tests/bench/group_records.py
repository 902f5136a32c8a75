"""Offset commits as batches of `__consumer_offsets`, built by hand in Kafka's format, independent of our own codec."""

import itertools
import struct
from collections.abc import Sequence

from crc32c import crc32c

from tests.bench.frames import text, varint

OFFSETS_TOPIC = "__consumer_offsets"
TOPIC = "orders"  # whose offsets are committed


def java_hash(text: str) -> int:
    """Java's String hash, of ASCII: a signed number of 32 bits."""
    value = 0
    for unit in text.encode():
        value = (31 * value + unit) & 0xFFFF_FFFF
    return value - (value >> 31 << 32)


def group_names(count: int) -> list[str]:
    """Whose hashes are not negative: of these every broker takes the remainder as the partition."""
    numbered = (f"group-{number:06}" for number in itertools.count())
    return list(itertools.islice((name for name in numbered if java_hash(name) >= 0), count))


class Commits:
    """A group's commit of some partitions, which is written again and again with other offsets."""

    def __init__(self, group: str, partitions: Sequence[int], timestamp_ms: int) -> None:
        self._timestamp_ms, self._count = timestamp_ms, len(partitions)
        key_start = struct.pack(">h", 1) + text(group) + text(TOPIC)
        tail = struct.pack(">i", -1) + text("") + struct.pack(">q", timestamp_ms) + varint(0)
        self._payload = bytearray()
        self._places = []  # of the offsets in the payload
        for delta, partition in enumerate(partitions):
            key = key_start + struct.pack(">i", partition)
            value_bytes = 2 + 8 + len(tail) - 1
            head = b"\0" + varint(0) + varint(delta) + varint(len(key)) + key + varint(value_bytes)
            body = head + struct.pack(">hq", 3, 0) + tail
            self._payload += varint(len(body))
            self._places.append(len(self._payload) + len(head) + 2)
            self._payload += body

    def batch(self, offset: int) -> bytes:
        """An uncompressed RecordBatch v2 with one record for each partition, all of which commit this offset."""
        stored = struct.pack(">q", offset)
        payload = self._payload
        for place in self._places:
            payload[place : place + 8] = stored
        last, at = self._count - 1, self._timestamp_ms
        covered = struct.pack(">hiqqqhii", 0, last, at, at, -1, -1, -1, self._count) + payload
        return struct.pack(">qiibI", 0, 9 + len(covered), -1, 2, crc32c(covered)) + covered
