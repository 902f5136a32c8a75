"""P8: every offset below a mirror's end was in the mirror once, or is in the hole ledger."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import Offset, TopicPartition
from tests.sim.evidence import batches, log_start, partitions

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Needs the ledger as the operator was told of it."""
    if evidence.statements.mirror is None:
        return
    mirror = evidence.regions[evidence.destination]
    cut = evidence.statements.cut
    for partition in partitions(mirror.disk):
        end = mirror.end(partition)
        if cut is not None:
            end = cut[partition.partition].offset if partition.partition in cut else 0
        yield from _unrecorded(evidence, partition, end)
        holes = [following for _, following in evidence.holes_of(partition)]
        first = [batch.base_offset for batch in batches(mirror.disk, partition)[:1]]
        start = max([log_start(mirror.disk, partition), *first])
        if start > max([0, evidence.deleted_below(mirror.name, partition), *holes]):
            yield f"{partition} starts at {start}, and nobody deleted what was below"


def _unrecorded(evidence: "Evidence", partition: TopicPartition, end: Offset) -> Iterator[str]:
    known = [
        *evidence.chronicle.covered(evidence.destination, partition),
        *evidence.holes_of(partition),
    ]
    position = 0
    for base, following in sorted(known):
        if base > position and position < end:
            yield f"{partition} skips [{position}, {min(base, end)}), which is not in the ledger"
        position = max(position, following)
    if position < end:
        yield f"{partition} skips [{position}, {end}), which is not in the ledger"
