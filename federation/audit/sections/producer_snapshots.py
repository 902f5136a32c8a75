"""Producer snapshots: their checksums, and whether each entry names a batch that the log has (KIP-98, P10).

An entry that is wrong makes a broker refuse a producer's next batch, or take a retry for new.
"""

import os
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

from federation.audit.comparison.findings import Side
from federation.audit.cut.bounds import Bounds
from federation.audit.sections.batch_headers import covering
from federation.audit.sections.section import Problem
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.replica import ReadableReplica

SNAPSHOT = re.compile(r"(\d{20})\.snapshot")
PREFIX = struct.Struct(">hIi")
"""Version, CRC-32C of all after it, count of entries."""
ENTRY = struct.Struct(">qhiqiqiq")
VERSION = 1


class SnapshotEntry(NamedTuple):
    """A producer's newest batch below the snapshot's offset; -1 where it has none."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int


def problems(key: Key, side: Side, bounds: Bounds) -> tuple[int, list[Problem]]:
    """How many snapshots of a side were read, and what is wrong with them."""
    found: list[Problem] = []
    count = 0
    for one in bounds.replicas:
        if not one.log.folder:
            continue
        replica = f"{side} {one.log.node}"
        for name in _listed(one.log.folder):
            path = os.path.join(one.log.folder, name)
            try:
                entries = _read(path)
            except FileNotFoundError:
                continue  # retention took it
            except (OSError, ValueError, struct.error) as error:
                found.append(Problem(*key, int(name[:20]), f"{name}: {error}", replica))
                continue
            count += 1
            found += (
                Problem(*key, offset, f"{name}: {because}", replica)
                for offset, because in _against_batches(one.log, int(name[:20]), entries)
            )
    return count, found


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if SNAPSHOT.fullmatch(name))
    except OSError:
        return []


def _read(path: str) -> list[SnapshotEntry]:
    """Kafka's entries; whatever a broker keeps behind them is covered by the checksum. Raises ValueError."""
    with open(path, "rb") as file:
        data = file.read()
    version, crc, count = PREFIX.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"version {version}")
    if crc32c(data[6:]) != crc:
        raise ValueError("the checksum is wrong")
    if not 0 <= count <= (len(data) - PREFIX.size) // ENTRY.size:
        raise ValueError(f"{count} entries do not fit")
    rows = (ENTRY.unpack_from(data, PREFIX.size + n * ENTRY.size) for n in range(count))
    return [SnapshotEntry(*row[:4]) for row in rows]


def _against_batches(
    log: ReadableReplica, bound: int, entries: list[SnapshotEntry]
) -> Iterator[tuple[int, str]]:
    for entry in entries:
        if entry.last_offset < 0:
            continue
        if entry.last_offset >= bound:
            yield entry.last_offset, f"producer {entry.producer_id} wrote beyond the snapshot"
            continue
        batch = covering(log, entry.last_offset)
        if batch is None or entry.last_sequence < 0:
            continue  # expired or compacted, or a transaction's marker
        there = batch.producer_id, batch.last_sequence, batch.last_offset
        if there != (entry.producer_id, entry.last_sequence, entry.last_offset):
            yield (
                entry.last_offset,
                f"producer {entry.producer_id}'s sequence {entry.last_sequence} is not the batch there,"
                f" which is producer {batch.producer_id}'s {batch.last_sequence}",
            )
