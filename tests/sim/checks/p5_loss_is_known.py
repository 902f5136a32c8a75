"""P5: the recorded cut is exact: of what the source acknowledged, all below it is here, nothing above it is.

The promise's other half, that the old side keeps what it had beyond the cut, is judged by P1's checker: whatever the
old region acknowledged is in its log at the end. Nothing can take it away yet but an operator of that region.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import Offset, TopicPartition
from linker.records.mirror_record import CutKind, CutPartition
from tests.sim.evidence import batches
from tests.sim.statements import NEVER_MIRRORED, Acknowledged

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Speaks once the operator was told of a cut."""
    cut = evidence.statements.cut
    if cut is None:
        return
    acknowledged: dict[TopicPartition, list[Acknowledged]] = {}
    for ack in evidence.statements.acknowledged:
        if ack.place.region == evidence.source:
            acknowledged.setdefault(ack.place.partition, []).append(ack)
    for partition, acks in acknowledged.items():
        yield from _losses(evidence, partition, acks, cut.get(partition.partition, NEVER_MIRRORED))
    for index, one in cut.items():
        topic = evidence.statements.mirror.record.topic  # type: ignore[union-attr]
        yield from _histories(evidence, TopicPartition(topic, index), one)


def _losses(
    evidence: "Evidence", partition: TopicPartition, acks: list[Acknowledged], cut: CutPartition
) -> Iterator[str]:
    mirror = evidence.regions[evidence.destination]
    values = mirror.values(partition)
    deleted = evidence.deleted_below(mirror.name, partition)
    everything = set(values.values())
    holes = evidence.holes_of(partition)
    for ack in acks:
        offset = ack.place.offset
        gone = offset < deleted or any(base <= offset < end for base, end in holes)
        if (
            offset < cut.offset
            and not gone
            and values.get(offset) != ack.value
            and evidence.durable
        ):
            where = f"{partition}@{offset}, below the cut at {cut.offset}"
            yield f"{ack.value!r:.40} was acknowledged at {where}, and is not here"
        once = evidence.statements.is_idempotent(
            ack.value
        )  # else a retry may have left a second one
        if offset >= cut.offset and ack.value in everything and once and evidence.durable:
            yield f"{ack.value!r:.40} counts as lost ({partition}@{offset}, cut at {cut.offset}) and is here"


def _histories(evidence: "Evidence", partition: TopicPartition, cut: CutPartition) -> Iterator[str]:
    """Whose a batch is shows in its leader epoch: the old region's below the cut, the new one's from there on."""
    mirror = evidence.regions[evidence.destination].disk
    for batch in batches(mirror, partition):
        if evidence.durable and (batch.base_offset >= cut.offset) != (
            batch.leader_epoch >= cut.leader_epoch
        ):
            yield (
                f"{partition}@{batch.base_offset} has leader epoch {batch.leader_epoch};"
                f" the cut is at {cut.offset}, and begins epoch {cut.leader_epoch}"
            )
    if evidence.statements.mirror.record.cut.kind is CutKind.PROMOTE:  # type: ignore[union-attr]
        yield from _promoted(evidence, partition, cut)


def _promoted(evidence: "Evidence", partition: TopicPartition, cut: CutPartition) -> Iterator[str]:
    """A promotion has proven that nothing is missing; if nobody wrote meanwhile, nothing is."""
    if cut.missing != 0:
        yield f"{partition} was promoted with {cut.missing} records missing"
    end: Offset = evidence.regions[evidence.source].end(partition)
    if evidence.statements.planned and evidence.durable and cut.offset != end:
        yield f"{partition} was promoted at {cut.offset}, its quiet source ends at {end}"
