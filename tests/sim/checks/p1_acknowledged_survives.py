"""P1: whatever a region acknowledged with `acks=all` is on its disk, at the offset that the client was told."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Needs no crash to be found: a reply that came before the write is found by the next kill."""
    if not evidence.durable:
        return
    held = {}
    for ack in evidence.statements.acknowledged:
        region, partition, offset = ack.place
        if (region, partition) not in held:
            held[region, partition] = evidence.regions[region].values(partition)
        values, deleted = held[region, partition], evidence.deleted_below(region, partition)
        if offset >= deleted and values.get(offset) != ack.value:
            yield f"{ack.value!r:.40} was acknowledged at {ack.place}; there lies {values.get(offset)!r:.40}"
