"""What orphan tails hold, as `causeway orphans show` tells it, and whether exports and replays have exactly that."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from confluent_kafka import Message
from confluent_kafka.admin import AdminClient
from kafka.record import MemoryRecords

from tests.process.commands import causeway
from tests.process.ledger import read_messages

TIMEOUT_S = 120
HEADERS = tuple(f"causeway.orphan{each}" for each in ("", ".cluster", ".offset", ".leader.epoch"))


@dataclass(frozen=True)
class SealedTail:
    """`described` and `records` are as the commands say."""

    described: dict[str, Any]
    records: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return str(self.described["name"])

    @property
    def partition(self) -> int:
        return int(self.described["partition"])


def sealed_tails(bootstrap: str) -> list[SealedTail]:
    """All of a region."""
    asked = ("--bootstrap-server", bootstrap)
    found = []
    for tail in causeway("orphans", "list", *asked, timeout=TIMEOUT_S)["orphans"]:
        show = ("orphans", "show", tail["name"], "--limit", "1000000", *asked)
        shown = causeway(*show, timeout=TIMEOUT_S)["records"]
        assert len(shown) == tail["records"]
        found.append(SealedTail(tail, shown))
    return found


def cluster_id(bootstrap: str) -> str:
    return str(AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).cluster_id)


def check_replayed(old: str, new: str, topic: str, tails: list[SealedTail]) -> None:
    """In the topic of the new primary is each record of the tails of the old one once, and says where it came from."""
    origin = cluster_id(old)
    wanted = Counter(each for tail in tails for each in _copies(tail, origin))
    partitions = 1 + max(tail.partition for tail in tails)
    messages = read_messages(new, topic, partitions)
    assert Counter(filter(None, map(_copy, messages))) == wanted


def _copies(tail: SealedTail, region: str) -> Iterator[tuple[Any, ...]]:
    """What a replay makes of its records: partition, time, value and headers."""
    for record in tail.records:
        origin = (tail.name, region, record["offset"], record["leader_epoch"])
        headers = tuple(zip(HEADERS, (str(each).encode() for each in origin), strict=True))
        yield tail.partition, record["timestamp_ms"], record["value"].encode(), headers


def _copy(message: Message) -> tuple[Any, ...] | None:
    headers = message.headers()
    if not headers:
        return None
    return message.partition(), message.timestamp()[1], message.value(), tuple(headers)


def check_exports(bootstrap: str, tails: list[SealedTail], directory: Path) -> None:
    """In both formats: as JSON, and as files that another client's reader takes."""
    asked = ("--bootstrap-server", bootstrap)
    export = ("orphans", "export", *(tail.name for tail in tails), "--to")
    lines, files = directory / "lines", directory / "segments"
    causeway(*export, str(lines), "--format", "jsonl", *asked, timeout=TIMEOUT_S)
    causeway(*export, str(files), *asked, timeout=TIMEOUT_S)
    for tail in tails:
        folder = tail.name.replace("/", "@")
        with (lines / f"{folder}.jsonl").open() as exported:
            assert [json.loads(line) for line in exported] == tail.records
        _check_segments(tail, files / folder)


def _check_segments(tail: SealedTail, folder: Path) -> None:
    told = {file["name"]: file["sha256"] for file in tail.described["files"]}
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {name: sha256(data).hexdigest() for name, data in found.items()} == told
    records = [each for name in sorted(found) for each in _records(found[name])]
    assert records == [
        (each["offset"], each["timestamp_ms"], each["value"].encode()) for each in tail.records
    ]


def _records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    batches = MemoryRecords(data)
    while (batch := batches.next_batch()) is not None:
        for record in batch:
            yield record.offset, record.timestamp, record.value
