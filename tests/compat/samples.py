"""Records whose keys, values, headers and times can all be told apart, so that any mix-up shows."""

import random
import time
from typing import Any, NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class Sample(NamedTuple):
    """A record; `None` is Kafka's null. Headers may repeat a name."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int


def samples(count: int, seed: int = 1) -> list[Sample]:
    """`count` records with ascending times in the last hour, every seventh without a key, some empty, some null."""
    chance = random.Random(seed)
    began_ms = int(time.time() * 1000) - 3_600_000
    return [_sample(chance, number, began_ms + number) for number in range(count)]


def _sample(chance: random.Random, number: int, timestamp_ms: int) -> Sample:
    key = None if number % 7 == 0 else f"key-{number % 50}".encode()
    value: bytes | None = f"value {number} ".encode() + chance.randbytes(chance.randrange(200))
    if number % 100 == 13:
        value = (
            b"" if key is None else None
        )  # Python's clients refuse a record that is null altogether
    if number % 100 == 14:
        value = b""
    headers = (("number", str(number).encode()), ("tag", chance.randbytes(4)), ("tag", b""))
    return Sample(key, value, headers if number % 3 == 0 else (), timestamp_ms)


def sample(record: Any) -> Sample:
    """Of a record as kafka-python and aiokafka give it."""
    return Sample(record.key, record.value, tuple(record.headers), record.timestamp)


def by_partition(records: list[Any]) -> dict[int, list[Sample]]:
    """What each partition holds, whose offsets must have no gap."""
    found: dict[int, list[Sample]] = {}
    for record in records:
        held = found.setdefault(record.partition, [])
        assert record.offset == len(held)
        held.append(sample(record))
    return found
