"""The holes that a mirror partition comes to, and whether it may go on (`mirror.hole.policy`)."""

from dataclasses import dataclass, replace
from typing import Final

from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import PartitionState
from linker.data.earlier_deletions import earlier_deletion
from linker.data.mirror_link import ReplicatorHost
from linker.data.missed_markers import MissedMarkers
from linker.data.pending import PendingHole, skip_before
from linker.frames import Agreed, Chunk
from linker.records.hole_ledger import Hole, HoleCause
from linker.region_client import Effects, RegionClient


@dataclass(frozen=True, slots=True)
class HolesFound:
    """`pending` is to be recorded before anything else. `refused` is not None: the replicator must stop, and why."""

    pending: tuple[PendingHole, ...] = ()
    refused: Effects | None = None
    because: str = ""


NOTHING: Final = HolesFound()


class HoleFinder:
    """Of one mirror partition."""

    def __init__(
        self, region: RegionClient, partition: TopicPartition, host: ReplicatorHost
    ) -> None:
        self._region = region
        self._partition = partition
        self._host = host
        self._markers = MissedMarkers(region, partition)

    def agreed(
        self,
        frame: Agreed,
        expected: Offset,
        chosen: HoleCause | None,
        state: PartitionState,
        now: Instant,
    ) -> HolesFound:
        """The source goes on at `frame.start_offset`, the mirror stands at `expected`. `chosen` as in `skip_before`."""
        is_skipped = frame.start_offset > expected
        # A log that skips something begins anew behind it.
        holds = not is_skipped and expected > state.log_start_offset
        epoch, start = frame.leader_epoch, frame.start_offset
        missed = self._markers.agreed(epoch, frame.bounds, start, now, holds=holds)
        if not is_skipped and chosen is None:
            return self._with_earlier(self._missed(missed, now), frame, state, now)
        pending = skip_before(frame, self._partition, expected, chosen, now)
        # A partition that holds nothing yet begins where its source does.
        if chosen is None and (expected > 0 or state.epochs):
            return self._judged(pending, now)
        return HolesFound((pending,))

    def _with_earlier(
        self, found: HolesFound, frame: Agreed, state: PartitionState, now: Instant
    ) -> HolesFound:
        """What this region has deleted already is no reason to stop."""
        starts = state.log_start_offset, frame.bounds.log_start_offset
        hole = earlier_deletion(self._region, self._partition, *starts, now)
        if hole is None or found.refused is not None:
            return found
        return replace(found, pending=(PendingHole(hole, None), *found.pending))

    def before(self, chunk: Chunk, now: Instant) -> HolesFound:
        """The next chunk has come."""
        return self._missed(self._markers.found(chunk.bounds, chunk.offset, now), now)

    def placed(self, chunk: Chunk) -> None:
        """It is in the mirror's log."""
        self._markers.placed(chunk.bounds, chunk.next_offset)

    def _missed(self, hole: Hole | None, now: Instant) -> HolesFound:
        return self._judged(PendingHole(hole, None), now) if hole is not None else NOTHING

    def _judged(self, pending: PendingHole, now: Instant) -> HolesFound:
        hole = pending.hole
        refused = self._host.refuse_hole(hole, now)
        if refused is None:
            return HolesFound((pending,))
        because = f"the source begins at {hole.next_offset} (mirror.hole.policy)"
        if hole.lacks_markers:
            because = (
                f"the source has removed deletion markers between {hole.base_offset} and"
                f" {hole.next_offset} (mirror.hole.policy)"
            )
        return HolesFound(refused=refused, because=because)
