"""P2: what lies in a mirror is, byte for byte, what lies or lay at the same offsets of the source."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import TopicPartition
from linker.records.mirror_record import CutPartition
from tests.sim.evidence import Batch, batches, log_start, partitions
from tests.sim.statements import NEVER_MIRRORED

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def on_written(
    evidence: "Evidence", region: str, partition: TopicPartition, batch: Batch
) -> Iterator[str]:
    """No batch gets into a mirror that the source has not written before."""
    statements = evidence.statements
    if region != evidence.destination or partition.topic.startswith("__"):
        return
    if statements.mirror_asked and not statements.ending_asked:
        yield from _unknown(evidence, partition, batch)


def _unknown(evidence: "Evidence", partition: TopicPartition, batch: Batch) -> Iterator[str]:
    versions = evidence.chronicle.versions(evidence.source, partition, batch.base_offset)
    if all(batch.data != version.data for version in versions):
        yield f"the mirror of {partition} got a batch at {batch.base_offset} that the source never had"


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Below the cut, if there is one, every batch is the source's."""
    cut = evidence.statements.cut
    for partition in partitions(evidence.regions[evidence.destination].disk):
        one = None if cut is None else cut.get(partition.partition, NEVER_MIRRORED)
        yield from _judge(evidence, partition, one)


def _judge(
    evidence: "Evidence", partition: TopicPartition, cut: CutPartition | None
) -> Iterator[str]:
    mirror = evidence.regions[evidence.destination].disk
    source = evidence.regions[evidence.source].disk
    there = {batch.base_offset: batch for batch in batches(source, partition)}
    start = log_start(mirror, partition)
    for batch in batches(mirror, partition):
        if (
            cut is not None
            and batch.base_offset < cut.offset < batch.next_offset
            and not _is_new(evidence, batch, cut)
        ):
            yield f"the cut of {partition} at {cut.offset} goes through the batch at {batch.base_offset}"
        if batch.next_offset <= start or (cut is not None and _is_new(evidence, batch, cut)):
            continue
        yield from _unknown(evidence, partition, batch)
        same = there.get(batch.base_offset)
        if evidence.follows_source and same is not None and same.data != batch.data:
            yield f"{partition} differs at {batch.base_offset} between source and mirror"


def _is_new(evidence: "Evidence", batch: Batch, cut: CutPartition) -> bool:
    """Written here after the cut; where crashes take what was not synced, even at an offset below it."""
    again = not evidence.durable and batch.leader_epoch >= cut.leader_epoch
    return batch.base_offset >= cut.offset or again
