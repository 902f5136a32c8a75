"""P6: a carried group offset lies within what the mirror holds then, and not beyond what the group committed.

Not even where the mirror begins later than that: whoever moved would skip what lies between.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import OFFSETS_TOPIC, Offset, TopicPartition
from tests.sim.evidence import Batch, commits, committed

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def on_written(
    evidence: "Evidence", region: str, partition: TopicPartition, batch: Batch
) -> Iterator[str]:
    """The instant when it is written is the one that counts."""
    if region != evidence.destination or partition.topic != OFFSETS_TOPIC:
        return
    for group, at, offset in commits(batch):
        if evidence.statements.moved:
            yield from _judge_own(evidence, group, at, offset)
        else:
            yield from _judge(evidence, group, at, offset)


def _judge_own(
    evidence: "Evidence", group: str, partition: TopicPartition, offset: Offset
) -> Iterator[str]:
    """Once the group lives here, nobody else moves it."""
    tried = evidence.statements.attempts.get((evidence.destination, group, partition), {})
    if offset not in tried:
        yield f"group {group} was moved to {offset} of {partition}, where it has not asked to be"


def on_restart(evidence: "Evidence", region: str) -> Iterator[str]:
    """A crash must not take the data and leave the offset."""
    if region == evidence.destination and evidence.durable and not evidence.statements.moved:
        for (group, at), offset in committed(evidence.regions[region].disk).items():
            yield from _judge(evidence, group, at, offset)


def _judge(
    evidence: "Evidence", group: str, partition: TopicPartition, offset: Offset
) -> Iterator[str]:
    mirror = evidence.regions[evidence.destination]
    end = mirror.end(partition)
    if offset > end:
        yield f"group {group} stands at {offset} of {partition}, the mirror ends at {end}"
    tried = evidence.statements.attempts.get((evidence.source, group, partition), {})
    if offset > max([0, *tried]):
        yield f"group {group} stands at {offset} of {partition}, it never tried to commit beyond {max([0, *tried])}"


def at_end(evidence: "Evidence") -> Iterator[str]:
    """A member that moved began where the mirror's data ended, or before."""
    cut = evidence.statements.cut
    for found in evidence.statements.found:
        if cut is None or found.region != evidence.destination or found.own:
            continue
        index = found.partition.partition
        bound = cut[index].offset if index in cut else 0
        if found.offset > bound:
            yield f"group {found.group} was sent to {found.offset} of {found.partition}, cut at {bound}"
