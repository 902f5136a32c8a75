"""P3: what a reader saw stays: no answer held more than its bound, and every record read is there at the end."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokers.ids import Offset, TopicPartition

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """A record that was shown and then lost was shown too early."""
    if not evidence.durable:
        return
    held: dict[tuple[str, TopicPartition], dict[Offset, bytes]] = {}
    for (region, partition, offset), value in evidence.statements.read.items():
        if (region, partition) not in held:
            held[region, partition] = evidence.regions[region].values(partition)
        values, deleted = held[region, partition], evidence.deleted_below(region, partition)
        if offset >= deleted and values.get(offset) != value:
            yield f"{value!r:.40} was read at {region} {partition}@{offset}; there lies {values.get(offset)!r:.40}"
