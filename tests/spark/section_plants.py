"""Two sides with the files that sections judge, and faults planted in these."""

import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import crc32c

from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.segments.checkpoints import CLEANER_OFFSETS
from tests.spark import facts, generate
from tests.spark.cases import audit
from tests.spark.file_sides import SIDES

KEY = ("t", 0)
OFFSETS = ("__consumer_offsets", 7)
EPOCHS, PRODUCERS, GROUPS, TOPICS = (
    "leader epochs",
    "producer snapshots",
    "group offsets",
    "partitions and configurations",
)
RECORDS = "record counts"


def made(number: int) -> list[generate.Made]:
    """Three leader epochs, and a producer that writes every fourth batch."""
    batches = generate.batches(random.Random(number), 40)
    sequence, found = 0, []
    for number, one in enumerate(batches):
        one = replace(one, leader_epoch=number // 15, producer_id=-1, base_sequence=-1)
        if number % 4 == 0:
            one = replace(one, producer_id=7, producer_epoch=2, base_sequence=sequence)
            sequence += len(one.rows)
        found.append(one)
    return found


def snapshot(*entries: tuple[int, int, int, int]) -> bytes:
    """Kafka's `.snapshot`: producer id, epoch, last sequence and last offset of each."""
    body = struct.pack(">i", len(entries))
    for producer_id, epoch, sequence, offset in entries:
        body += struct.pack(">qhiqiqiq", producer_id, epoch, sequence, offset, 0, 5, 0, -1)
    return struct.pack(">hI", 1, crc32c.crc32c(body)) + body


def commits(*rows: tuple[str, str, int, int | None]) -> list[tuple[generate.Made, bytes]]:
    """Batches of `__consumer_offsets`: group, topic, partition, and the offset or None for a tombstone."""
    log = []
    for number, (group, topic, partition, offset) in enumerate(rows):
        key = struct.pack(">h", 1) + _text(group) + _text(topic) + struct.pack(">i", partition)
        value = None
        if offset is not None:
            value = struct.pack(">hqi", 3, offset, -1) + _text("") + struct.pack(">q", 9)
        log.append(generate.Made(number, (generate.Row(0, key, value),)))
    return generate.stored(log)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


class SectionSides:
    """The same partition on both, with a snapshot; groups as the test says."""

    def __init__(self, folder: Path, number: int = 5) -> None:
        self.made = made(number)
        self.folders: dict[str, Path] = {}
        self.configs: dict[str, dict[str, str]] = {name: {} for name in SIDES}
        for name in SIDES:
            log = {0: generate.stored(self.made)}
            self.folders[name] = Path(generate.write_partition(str(folder / name), *KEY, log))
            (self.folders[name] / self.snapshot_name).write_bytes(self.snapshot())

    @property
    def snapshot_name(self) -> str:
        return f"{self.made[30].base_offset:020}.snapshot"

    def snapshot(self) -> bytes:
        newest = self.made[28]
        last = newest.base_sequence + len(newest.rows) - 1
        return snapshot((7, 2, last, newest.next_offset - 1), (9, 0, -1, -1))

    def groups(self, name: str, *rows: tuple[str, str, int, int | None]) -> None:
        log = {0: commits(*rows)}
        generate.write_partition(str(self.folders[name].parent), *OFFSETS, log)

    def audit(self, **said: object) -> AuditResult:
        regions = {
            side: facts.region(
                name,
                str(self.folders[name].parent),
                configs=self.configs[name],
                **said,  # type: ignore[arg-type]
            )
            for name, side in SIDES.items()
        }
        return audit(Options(**regions, engine="local", master="local[1]"))  # type: ignore[arg-type]


Planted = tuple[str, str]
"""The section that must say so, and the side that must be blamed."""
SectionPlant = Callable[[SectionSides, str, random.Random], Planted]


def _epochs(change: Callable[[dict[int, int]], Mapping[int, int]]) -> SectionPlant:
    """A leader-epoch checkpoint that does not fit its batches."""

    def plant(sides: SectionSides, where: str, seed: random.Random) -> Planted:
        right = {epoch: sides.made[15 * epoch].base_offset for epoch in range(3)}
        generate.write_epochs(str(sides.folders[where]), dict(change(right)))
        return EPOCHS, SIDES[where]

    return plant


def _snapshot(change: Callable[[SectionSides, bytes], bytes]) -> SectionPlant:
    """A producer snapshot that does not fit the log below it."""

    def plant(sides: SectionSides, where: str, seed: random.Random) -> Planted:
        path = sides.folders[where] / sides.snapshot_name
        path.write_bytes(change(sides, path.read_bytes()))
        return PRODUCERS, SIDES[where]

    return plant


def _flipped(sides: SectionSides, data: bytes) -> bytes:
    return generate.flipped(data, len(data) - 3)


def _cut_short(sides: SectionSides, data: bytes) -> bytes:
    return data[:-9]


def _other_sequence(sides: SectionSides, data: bytes) -> bytes:
    newest = sides.made[28]
    return snapshot((7, 2, newest.base_sequence + 90, newest.next_offset - 1))


def _other_offset(sides: SectionSides, data: bytes) -> bytes:
    newest = sides.made[28]
    last = newest.base_sequence + len(newest.rows) - 1
    return snapshot((7, 2, last, sides.made[27].next_offset - 1))


def _beyond_itself(sides: SectionSides, data: bytes) -> bytes:
    return snapshot((7, 2, 1, sides.made[35].next_offset))


def _of_nobody(sides: SectionSides, data: bytes) -> bytes:
    newest = sides.made[28]
    last = newest.base_sequence + len(newest.rows) - 1
    return snapshot((8, 2, last, newest.next_offset - 1))


def group_past_the_end(sides: SectionSides, where: str, seed: random.Random) -> Planted:
    end = sides.made[-1].next_offset
    sides.groups("west", ("g", "t", 0, end))
    sides.groups("east", ("g", "t", 0, end + seed.randrange(1, 1_000)))
    return GROUPS, ""


def group_far_beyond(sides: SectionSides, where: str, seed: random.Random) -> Planted:
    """Its source has no such group."""
    sides.groups("west", ("other", "t", 0, 1))
    sides.groups("east", ("g", "t", 0, seed.choice((2**62, 2**63 - 1))))
    return GROUPS, ""


def more_partitions_on_the_mirror(sides: SectionSides, where: str, seed: random.Random) -> Planted:
    generate.write_partition(str(sides.folders["east"].parent), "t", 1, {})
    return TOPICS, ""


def another_configuration(sides: SectionSides, where: str, seed: random.Random) -> Planted:
    """One of those that a link always keeps."""
    key = seed.choice(("max.message.bytes", "cleanup.policy", "message.timestamp.type"))
    values = {"cleanup.policy": ("delete", "compact")}.get(key, ("5", "6"))
    sides.configs = {name: {key: value} for name, value in zip(SIDES, values, strict=True)}
    for name in SIDES:  # as nodes leave it that have compacted nothing
        generate.write_checkpoint(str(sides.folders[name].parent), CLEANER_OFFSETS, {})
    return TOPICS, ""


SECTION_PLANTS: dict[str, SectionPlant] = {
    "epoch_begins_later": _epochs(lambda epochs: {**epochs, 1: epochs[1] + 9}),
    "epoch_begins_earlier": _epochs(lambda epochs: {**epochs, 1: epochs[1] - 9}),
    "another_epoch": _epochs(
        lambda epochs: {epoch + (epoch == 2): offset for epoch, offset in epochs.items()}
    ),
    "epoch_is_missing": _epochs(
        lambda epochs: {epoch: offset for epoch, offset in epochs.items() if epoch != 1}
    ),
    "snapshot_flipped": _snapshot(_flipped),
    "snapshot_cut_short": _snapshot(_cut_short),
    "snapshot_other_sequence": _snapshot(_other_sequence),
    "snapshot_other_offset": _snapshot(_other_offset),
    "snapshot_beyond_itself": _snapshot(_beyond_itself),
    "snapshot_of_nobody": _snapshot(_of_nobody),
    "group_past_the_end": group_past_the_end,
    "group_far_beyond": group_far_beyond,
    "more_partitions_on_the_mirror": more_partitions_on_the_mirror,
    "another_configuration": another_configuration,
}
