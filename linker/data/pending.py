"""What waits in a replicator's queue: chunks to place, and holes to record and skip."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.effects import Changed
from brokers.ids import Instant, Offset, Ticket, TopicPartition
from brokers.region import PartitionState, PlaceBatches
from linker.data.credit import CreditWindow
from linker.frames import Agreed, Chunk
from linker.offset_bounds import NOWHERE, SegmentPosition
from linker.records.hole_ledger import Hole, HoleCause


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk, and the credit window that its bytes belong to."""

    chunk: Chunk
    window: CreditWindow

    def placing(self, ticket: Ticket, writer: str, partition: TopicPartition) -> PlaceBatches:
        chunk = self.chunk
        gaps_below = chunk.bounds.complete_from
        return PlaceBatches(
            ticket, writer, partition, chunk.offset, chunk.data, chunk.roll, gaps_below
        )


@dataclass(frozen=True, slots=True)
class PendingHole:
    """A hole, and the base offset of the next batch: below the hole's end if that batch holds the log start. None:
    nothing is skipped."""

    hole: Hole
    offset: Offset | None

    @property
    def changes(self) -> tuple[Changed, ...]:
        """For the node's log; none for an empty hole."""
        hole = self.hole
        if hole.next_offset == hole.base_offset:
            return ()
        span = f"hole [{hole.base_offset}, {hole.next_offset})"
        return (Changed(f"mirror {hole.partition}", span, hole.cause.value),)


Queued: TypeAlias = PendingChunk | PendingHole


def skip_before(
    agreed: Agreed,
    partition: TopicPartition,
    expected: Offset,
    chosen: HoleCause | None,
    now: Instant,
) -> PendingHole:
    """The hole between the mirror's end, `expected`, and the later offset at which the source starts.

    `chosen`: why the mirror was asked to start there; None: it was not.
    """
    deleted = HoleCause.SOURCE_DELETED_RECORDS if agreed.is_deleted else HoleCause.SOURCE_LOG_START
    cause = chosen or deleted
    # A batch that holds the log start begins before it. It is placed as a whole, and the log start follows the source.
    next_offset = max(agreed.start_offset, agreed.bounds.log_start_offset)
    size = agreed.skipped_bytes if next_offset == agreed.start_offset else -1
    hole = Hole(partition, expected, next_offset, cause, now, size=size)
    return PendingHole(hole, agreed.start_offset)


def end_of(state: PartitionState) -> SegmentPosition:
    """The end of a mirror's log: the source's has the same segments."""
    if not state.segment_sizes:
        return NOWHERE
    return SegmentPosition(state.segment_bases[-1], state.segment_sizes[-1])
