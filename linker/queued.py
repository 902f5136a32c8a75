"""What waits in a feed for its turn: chunks, and holes to be recorded and skipped."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.ids import Instant, Offset, TopicPartition
from linker.frames import Agreed, Chunk
from linker.holes import Hole, HoleCause
from linker.line import Window


@dataclass(frozen=True, slots=True)
class Arrived:
    """A chunk that waits for its turn, and the window that it came through."""

    chunk: Chunk
    window: Window


@dataclass(frozen=True, slots=True)
class Skip:
    """A hole, and where the next batch begins: just before the hole's end where a batch holds the log start."""

    hole: Hole
    offset: Offset


Queued: TypeAlias = Arrived | Skip


def skip_before(
    agreed: Agreed, partition: TopicPartition, expected: Offset, from_latest: bool, now: Instant
) -> Skip:
    """The mirror ends at `expected` and goes on where the source says, further on."""
    cause = HoleCause.START_OFFSET_LATEST if from_latest else HoleCause.SOURCE_LOG_START
    # A batch that holds the log start begins before it; it is placed whole, and trimmed as at the source.
    next_offset = max(agreed.start_offset, agreed.standing.log_start_offset)
    return Skip(Hole(partition, expected, next_offset, cause, now), agreed.start_offset)
