"""What waits in a feed for its turn: chunks, and holes to be recorded and skipped."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.ids import Instant, Offset, TopicPartition
from linker.data.credit import CreditWindow
from linker.frames import Agreed, Chunk
from linker.records.hole_ledger import Hole, HoleCause


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that waits for its turn, and the window that it came through."""

    chunk: Chunk
    window: CreditWindow


@dataclass(frozen=True, slots=True)
class PendingHole:
    """A hole, and where the next batch begins: just before the hole's end where a batch holds the log start."""

    hole: Hole
    offset: Offset


Queued: TypeAlias = PendingChunk | PendingHole


def skip_before(
    agreed: Agreed, partition: TopicPartition, expected: Offset, from_latest: bool, now: Instant
) -> PendingHole:
    """The mirror ends at `expected` and goes on where the source says, further on."""
    cause = HoleCause.START_OFFSET_LATEST if from_latest else HoleCause.SOURCE_LOG_START
    # A batch that holds the log start begins before it; it is placed whole, and trimmed as at the source.
    next_offset = max(agreed.start_offset, agreed.standing.log_start_offset)
    return PendingHole(Hole(partition, expected, next_offset, cause, now), agreed.start_offset)
