"""What disks hold and ever held: the other half of the evidence. Reads Kafka's files itself, with no code of the logs.

`Chronicle` is the witness of every batch that reached a log, by region and partition, however short it stayed.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from crc32c import crc32c

from brokers.groups.records import OffsetCommitRecord, decode
from brokers.ids import OFFSETS_TOPIC, Offset, TopicPartition
from brokers.records.record import Record, open_batch
from tests.sim.disks import Disk

_BATCH = struct.Struct(">qiibIhiqqqhii")  # Kafka's record batch header, version 2
LOG_STARTS = "log-start-offset-checkpoint"
_FRAMING = 12  # base offset and length, which the length does not count
_CRC_FROM = 21  # the checksum covers everything behind itself


class Batch(NamedTuple):
    """One batch as it lies in a file."""

    base_offset: Offset
    next_offset: Offset
    leader_epoch: int
    producer_id: int
    is_control: bool
    data: bytes
    producer_epoch: int = -1
    base_sequence: int = -1

    def records(self) -> Iterator[Record]:
        if not self.is_control:
            yield from open_batch(self.data)

    def values(self) -> Iterator[tuple[Offset, bytes]]:
        """(offset, value) of its records; of a deletion marker what its header says in place of a value."""
        for record in self.records():
            yield record.offset, said_by(record)


def said_by(record: Record) -> bytes:
    """The value, or what a client has put into a header where there is none."""
    if record.value is None and record.headers:
        return bytes(record.headers[0][1] or b"")
    return bytes(record.value or b"")


def parse(data: bytes) -> Iterator[Batch]:
    """Whole batches; stops before a torn or garbled one."""
    position = 0
    while position + _BATCH.size <= len(data):
        fields = _BATCH.unpack_from(data, position)
        end = position + _FRAMING + fields[1]
        if fields[1] < _BATCH.size - _FRAMING or end > len(data) or fields[3] != 2:
            return
        if crc32c(data[position + _CRC_FROM : end]) != fields[4]:
            return
        yield Batch(
            base_offset=fields[0],
            next_offset=fields[0] + fields[6] + 1,
            leader_epoch=fields[2],
            producer_id=fields[9],
            is_control=bool(fields[5] & 0x20),
            data=data[position:end],
            producer_epoch=fields[10],
            base_sequence=fields[11],
        )
        position = end


def folder_of(path: str) -> TopicPartition | None:
    """The partition whose log file this is."""
    folder, _, name = path.rpartition("/")
    topic, dash, number = folder.rpartition("-")
    if not (dash and number.isdigit() and name.endswith(".log")):
        return None
    return TopicPartition(topic, int(number))


def batches(disk: Disk, partition: TopicPartition) -> list[Batch]:
    """Everything that a partition's segments hold, in file order."""
    found: list[Batch] = []
    for name in segments(disk, partition):
        path = f"{partition}/{name}"
        found += parse(bytes(disk.read(path, 0, disk.size(path))))
    return found


def log_start(disk: Disk, partition: TopicPartition, names: list[str] | None = None) -> Offset:
    """Where a log begins, by the checkpoint or by its first segment; what lies below is as good as gone.

    `names` are its `segments`, of whoever has them already.
    """
    names = segments(disk, partition) if names is None else names
    return max([log_starts(disk).get(partition, 0), *map(base_offset, names[:1])])


def log_starts(disk: Disk) -> dict[TopicPartition, Offset]:
    """Where the checkpoint says that logs begin."""
    if not disk.exists(LOG_STARTS):
        return {}
    lines = bytes(disk.read(LOG_STARTS, 0, disk.size(LOG_STARTS))).decode().splitlines()
    found = [line.rsplit(" ", 2) for line in lines if line.count(" ") >= 2]
    return {TopicPartition(topic, int(number)): int(offset) for topic, number, offset in found}


def segments(disk: Disk, partition: TopicPartition) -> list[str]:
    """The names of a partition's log files, in the order of their base offsets.

    One that a cleaning puts in the place of others is read from `.swap` until it has its name.
    """
    names = [name for name in disk.list(str(partition)) if name.endswith((".log", ".log.swap"))]
    return [
        name for name in names if name.endswith(".log") or name.removesuffix(".swap") not in names
    ]


def base_offset(name: str) -> Offset:
    """Of a segment, which is its name."""
    return int(name.partition(".")[0])


def partitions(disk: Disk) -> list[TopicPartition]:
    """Those of which the disk has a folder, Kafka's own topics left out."""
    found = [folder_of(f"{name}/0.log") for name in disk.list("")]
    return [each for each in found if each is not None and not each.topic.startswith("__")]


@dataclass(frozen=True)
class Region:
    """A region as a checker sees it: its name and its disk."""

    name: str
    disk: Disk

    def values(self, partition: TopicPartition) -> dict[Offset, bytes]:
        """Every record of a partition that a reader could get now."""
        start = log_start(self.disk, partition)
        return {
            offset: value
            for batch in batches(self.disk, partition)
            for offset, value in batch.values()
            if offset >= start
        }

    def end(self, partition: TopicPartition) -> Offset:
        """One past the last offset; where the last segment begins, or else the log, if it is empty."""
        names = segments(self.disk, partition)
        ends = [batch.next_offset for batch in batches(self.disk, partition)[-1:]]
        return max([*ends, *map(base_offset, names[-1:]), log_start(self.disk, partition, names)])


def committed(disk: Disk) -> dict[tuple[str, TopicPartition], Offset]:
    """(group, partition) -> the offset that `__consumer_offsets` says last."""
    offsets: dict[tuple[str, TopicPartition], Offset] = {}
    for name in disk.list(""):
        partition = folder_of(f"{name}/0.log")
        if partition is not None and partition.topic == OFFSETS_TOPIC:
            offsets |= committed_in(disk, partition)
    return offsets


def committed_in(disk: Disk, place: TopicPartition) -> dict[tuple[str, TopicPartition], Offset]:
    """The same of one partition of `__consumer_offsets`."""
    return {
        (group, at): offset
        for batch in batches(disk, place)
        for group, at, offset in commits(batch)
    }


def commits(batch: Batch) -> Iterator[tuple[str, TopicPartition, Offset]]:
    """(group, partition, offset) of a batch of `__consumer_offsets`."""
    for record in open_batch(batch.data):
        stored = decode(record.key, record.value)
        if isinstance(stored, OffsetCommitRecord) and stored.offset is not None:
            yield stored.group, stored.partition, stored.offset.offset


class Chronicle:
    """Every batch that was ever written, at its base offset, in the order of the writes."""

    def __init__(self) -> None:
        self.written: dict[tuple[str, TopicPartition], dict[Offset, list[Batch]]] = {}

    def witness(self, region: str, path: str, data: bytes) -> list[tuple[TopicPartition, Batch]]:
        """Take note -> what was new."""
        partition = folder_of(path)
        if partition is None:
            return []
        log = self.written.setdefault((region, partition), {})
        found = list(parse(data))
        for batch in found:
            log.setdefault(batch.base_offset, []).append(batch)
        return [(partition, batch) for batch in found]

    def versions(self, region: str, partition: TopicPartition, base_offset: Offset) -> list[Batch]:
        return self.written.get((region, partition), {}).get(base_offset, [])

    def covered(self, region: str, partition: TopicPartition) -> list[tuple[Offset, Offset]]:
        """Ranges that were ever written, merged, ascending."""
        ranges = sorted(
            (batch.base_offset, batch.next_offset)
            for versions in self.written.get((region, partition), {}).values()
            for batch in versions
        )
        merged: list[tuple[Offset, Offset]] = []
        for base, following in ranges:
            if merged and base <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], following))
            else:
                merged.append((base, following))
        return merged
