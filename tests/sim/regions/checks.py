"""What must be on the disks of a region once all is well again. Each check yields what it finds wrong."""

import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from brokers.ids import METADATA_PARTITION, BrokerId, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, Region, base_offset, batches, log_start, segments
from tests.sim.regions import compacted_logs

if TYPE_CHECKING:
    from tests.sim.regions.checking import Evidence

_HEADER = struct.Struct(
    ">qii7xi"
)  # of a batch: base offset, length, leader epoch, ..., delta of its last offset
_FRAMING = 12  # base offset and length, which the length does not count

Check = Callable[["Evidence"], Iterator[str]]


def acknowledged_survives(evidence: "Evidence") -> Iterator[str]:
    """P1: on every replica lies what was acknowledged, where the client was told, unless it was to be deleted."""
    for ack in evidence.statements.acknowledged:
        yield from missing(evidence, ack.place.partition, ack.place.offset, ack.value, "stored")


def what_was_read_stays(evidence: "Evidence") -> Iterator[str]:
    """P3: a record that was shown and is gone was shown too early."""
    for place, value in evidence.statements.read.items():
        yield from missing(evidence, place.partition, place.offset, value, "read")


def replicas_are_equal(evidence: "Evidence") -> Iterator[str]:
    """P2: byte for byte, wherever two replicas both hold an offset."""
    for partition, replicas in evidence.replicas.items():
        logs = {number: batches(evidence.disks[number], partition) for number in replicas}
        yield from _differences(str(partition), logs)


def nothing_is_skipped(evidence: "Evidence") -> Iterator[str]:
    """P8: a log has no holes. What lies below its start is as good as gone."""
    for partition, replicas in evidence.replicas.items():
        for number in replicas:
            disk = evidence.disks[number]
            start = log_start(disk, partition)
            held = [each for each in batches(disk, partition) if each.next_offset > start]
            for before, after in pairwise(held):
                if before.next_offset != after.base_offset:
                    hole = f"[{before.next_offset}, {after.base_offset})"
                    yield f"{partition} of node {number} has nothing at {hole}"


def stored_once(evidence: "Evidence") -> Iterator[str]:
    """P10: however often an idempotent producer sent it."""
    seen: dict[bytes, str] = {}
    for partition, replicas in evidence.replicas.items():
        for offset, value in _values(evidence, replicas[0], partition).items():
            if not evidence.statements.is_idempotent(value):
                continue
            here = f"{partition}@{offset}"
            if value in seen:
                yield f"{value!r:.40} lies at {seen[value]} and at {here}"
            seen[value] = here


def metadata_is_one(evidence: "Evidence") -> Iterator[str]:
    logs = {number: batches(disk, METADATA_PARTITION) for number, disk in evidence.disks.items()}
    yield from _differences("the metadata log", logs)


def operators_were_told_the_truth(evidence: "Evidence") -> Iterator[str]:
    statements = evidence.statements
    held = {partition.topic for partition in evidence.replicas}
    for topic, count in statements.made.items():
        found = sum(partition.topic == topic for partition in evidence.replicas)
        if topic not in statements.dropped and topic not in statements.doubtful and found < count:
            yield f"topic {topic} was made with {count} partitions, and has {found}"
    for topic in statements.dropped:
        if topic in held:
            yield f"topic {topic} was deleted, and is there"


AT_END: tuple[tuple[str, Check], ...] = (
    ("P1", acknowledged_survives),
    ("P2", replicas_are_equal),
    ("P3", what_was_read_stays),
    ("P8", nothing_is_skipped),
    ("P10", stored_once),
    ("metadata", metadata_is_one),
    ("metadata", operators_were_told_the_truth),
)


AT_END_COMPACTED: tuple[tuple[str, Check], ...] = (
    ("P1", compacted_logs.nothing_is_lost),
    ("P1", compacted_logs.what_was_acknowledged_was_written),
    ("P3", compacted_logs.what_was_read_was_written),
    ("P2", compacted_logs.replicas_agree),
    ("P3", compacted_logs.readers_know_the_latest),
    ("P10", compacted_logs.stored_once),
    ("P10", compacted_logs.sequences_are_known),
    ("metadata", metadata_is_one),
    ("metadata", operators_were_told_the_truth),
)


def missing(
    evidence: "Evidence", partition: TopicPartition, offset: int, value: bytes, how: str
) -> Iterator[str]:
    """On which replicas something else lies than clients were told, and was not to be deleted."""
    may_be_gone = offset < evidence.statements.trims.get(partition, 0)
    for number in evidence.replicas.get(partition, ()):
        found = _values(evidence, number, partition).get(offset)
        if found != value and not (may_be_gone and found is None):
            yield (
                f"{value!r:.40} was {how} at {partition}@{offset}; on node {number} lies {found!r:.40}"
            )


def _values(evidence: "Evidence", number: BrokerId, partition: TopicPartition) -> dict[int, bytes]:
    """Read once: nothing is written any more."""
    key = (number, partition)
    if key not in evidence.values:
        evidence.values[key] = Region(str(number), evidence.disks[number]).values(partition)
    return evidence.values[key]


def _differences(what: str, logs: dict[BrokerId, list[Batch]]) -> Iterator[str]:
    """Below any end and above any start all have the same."""
    first: dict[int, tuple[BrokerId, bytes]] = {}
    for number, log in logs.items():
        for batch in log:
            other, data = first.setdefault(batch.base_offset, (number, batch.data))
            if data != batch.data:
                yield f"{what} differs at {batch.base_offset} between nodes {other} and {number}"


def end_of(disk: Disk, partition: TopicPartition) -> int:
    """One past the last offset."""
    return tip_of(disk, partition)[0]


def tip_of(disk: Disk, partition: TopicPartition) -> tuple[int, int]:
    """(one past the last offset, the last batch's leader epoch or -1), as the headers in the last segment show it."""
    names = segments(disk, partition)
    if not names:
        return log_start(disk, partition, names), -1
    path = f"{partition}/{names[-1]}"
    data, position = bytes(disk.read(path, 0, disk.size(path))), 0
    end, leader_epoch = base_offset(names[-1]), -1
    while position + _HEADER.size <= len(data):
        first, length, leader_epoch, last_delta = _HEADER.unpack_from(data, position)
        end = first + last_delta + 1
        position += _FRAMING + length
    return max(end, log_start(disk, partition, names)), leader_epoch
