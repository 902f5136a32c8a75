"""What a broker's logs lack because of compaction: DescribeLogDirs (version 2) as bytes, with tags of Causeway's own.

A tag of a kind that a broker does not know is not there: one of an earlier release, or of Apache Kafka, says nothing.
Version 2 is the first that may have tags (KIP-482); a broker that has no such version ends the connection.
"""

import errno
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from federation.audit.fetch.connection import ask
from federation.audit.fetch.messages import ResponseReader
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compaction

DESCRIBE_LOG_DIRS = 35, 2
COMPLETE_FROM, MARKERS_FROM = 10_000, 10_001
AT_ONCE = 1_000
NO_TAGS = b"\x00"
VARINT_BYTES_MAX = 5


def compactions(address: str, keys: Iterable[Key]) -> dict[Key, Compaction]:
    """Of those logs of which the broker says it; raises OSError where it does not answer."""
    found: dict[Key, Compaction] = {}
    left = iter(sorted(keys))
    while some := list(islice(left, AT_ONCE)):
        found |= answer(ask(address, *DESCRIBE_LOG_DIRS, request(some)))
    return found


def request(keys: Iterable[Key]) -> bytes:
    """With the tags of the request's header, of which there are none."""
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in keys:
        topics[topic].append(partition)
    rows = b"".join(
        _text(topic) + _count(len(some)) + struct.pack(f">{len(some)}i", *some) + NO_TAGS
        for topic, some in topics.items()
    )
    return NO_TAGS + _count(len(topics)) + rows + NO_TAGS


def answer(data: memoryview) -> dict[Key, Compaction]:
    """Raises OSError for what is no such answer."""
    try:
        return dict(_logs(_CompactReader(data)))
    except (struct.error, UnicodeDecodeError, IndexError) as error:
        message = f"an answer that is no DescribeLogDirs response: {error}"
        raise OSError(errno.EPROTO, message) from error


def _logs(reader: "_CompactReader") -> Iterator[tuple[Key, Compaction]]:
    reader.tags()  # of the header
    reader.take(">i")
    for _ in range(reader.count()):
        reader.take(">h")
        reader.text()
        for _ in range(reader.count()):
            topic = reader.text()
            for _ in range(reader.count()):
                partition, _, _, is_future = reader.take(">iqqb")
                tags = reader.tags()
                if not is_future and {COMPLETE_FROM, MARKERS_FROM} <= tags.keys():
                    (complete_from,) = struct.unpack(">q", tags[COMPLETE_FROM])
                    (markers_from,) = struct.unpack(">q", tags[MARKERS_FROM])
                    yield (topic, partition), Compaction(complete_from, markers_from)
            reader.tags()
        reader.tags()
    reader.tags()


def _varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def _count(items: int) -> bytes:
    """Of an array that is not null."""
    return _varint(items + 1)


def _text(value: str) -> bytes:
    data = value.encode()
    return _varint(len(data) + 1) + data


class _CompactReader(ResponseReader):
    """Of a flexible version (KIP-482): compact texts and arrays, tagged fields."""

    def count(self) -> int:
        """Of an array, a text or bytes; null counts as empty."""
        return max(0, self._varint() - 1)

    def text(self) -> str:
        return str(self.bytes(self.count()), "utf-8")

    def tags(self) -> dict[int, bytes]:
        return {self._varint(): bytes(self.bytes(self._varint())) for _ in range(self._varint())}

    def _varint(self) -> int:
        value = 0
        for index in range(VARINT_BYTES_MAX):
            byte = self._data[self._position]
            self._position += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value
        raise struct.error("a number that is too long")
