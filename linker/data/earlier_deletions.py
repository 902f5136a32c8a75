"""Finds what the source has, and this region deleted before it mirrored that source.

It deletes what its source has deleted, and its own records while the topic is its own. A source that it has later may
still have them: they are below the mirror's log start, and no link brings them. They are a hole (P8).
"""

from brokers.ids import Instant, Offset, TopicPartition
from linker.records.hole_ledger import Hole, HoleCause, in_order
from linker.region_client import RegionClient


def earlier_deletion(
    region: RegionClient,
    partition: TopicPartition,
    log_start: Offset,
    source_log_start: Offset,
    now: Instant,
) -> Hole | None:
    """What is below the mirror's log start and above its source's; None if that is in the ledger already."""
    if log_start <= source_log_start:
        return None  # nearly always: the ledger of a topic may be long
    base = source_log_start
    for hole in in_order(region.holes.of(region.view.image, partition.topic)):
        if hole.partition == partition and hole.missing and hole.base_offset <= base:
            base = max(base, hole.next_offset)
    if base >= log_start:
        return None
    return Hole(partition, base, log_start, HoleCause.DELETED_EARLIER, now)
