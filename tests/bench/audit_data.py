"""Logs of 1 KB records for the audit's bench, written without a broker: the same bytes in every replica."""

import random
import struct
from pathlib import Path
from typing import NamedTuple

from federation.audit.segments.checkpoints import HIGH_WATERMARKS
from tests.spark import generate

RECORD_BYTES = 1_000
SEGMENT_BYTES = 1 << 30
INDEX_BYTES = 4_096


class Shape(NamedTuple):
    """`gb` of all replicas of both regions; `batch_records` in every batch."""

    name: str
    partitions: int
    replicas: int
    gb: float
    batch_records: int


def write(folder: Path, shape: Shape) -> None:
    """One node's data directory."""
    value = random.Random(1).randbytes(RECORD_BYTES)
    rows = tuple(generate.Row(number, None, value) for number in range(shape.batch_records))
    batch = generate.Made(0, rows).encoded()
    share = int(shape.gb * 1e9) // (2 * shape.replicas * shape.partitions)
    batches = max(1, share // len(batch))
    for partition in range(shape.partitions):
        _log(folder / f"t-{partition}", batch, shape.batch_records, batches)
    ends = {("t", partition): batches * len(rows) for partition in range(shape.partitions)}
    generate.write_checkpoint(str(folder), HIGH_WATERMARKS, ends)


def _log(folder: Path, batch: bytes, records: int, batches: int) -> None:
    """The base offset is not under the checksum, so one batch serves for all."""
    folder.mkdir(parents=True)
    generate.write_epochs(str(folder), {0: 0})
    rest, per_segment = batch[8:], max(1, SEGMENT_BYTES // len(batch))
    for first in range(0, batches, per_segment):
        base, index, unindexed = first * records, [], 0
        with (folder / f"{base:020}.log").open("wb") as file:
            for number in range(first, min(first + per_segment, batches)):
                if unindexed > INDEX_BYTES:
                    index.append(((number + 1) * records - 1 - base, (number - first) * len(batch)))
                    unindexed = 0
                file.write(struct.pack(">q", number * records) + rest)
                unindexed += len(batch)
        entries = b"".join(struct.pack(">ii", *entry) for entry in index)
        (folder / f"{base:020}.index").write_bytes(entries)
