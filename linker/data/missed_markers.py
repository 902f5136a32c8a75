"""Finds that a mirror may never get a deletion marker which its source had.

A mirror holds a record of a key. The source's log gets a marker that deletes the key, compacts both away
`delete.retention.ms` later, and the mirror comes only then: it would keep the record for ever. The source says from
where on it has removed no marker (`markers_from`), and when it removed the last one. What the mirror copied since it
was empty, or at `markers_from`, is in step with that; what it copied before a removal may not be. It is not known
which keys are meant, or whether the mirror has any of them: what is found is a doubt, and it is recorded.
"""

from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from linker.offset_bounds import OffsetBounds
from linker.records.hole_ledger import Hole, HoleCause
from linker.region_client import RegionClient


class MissedMarkers:
    """Of one mirror partition. Another leader of the source, or another time of its last removal, is another state."""

    def __init__(self, region: RegionClient, partition: TopicPartition) -> None:
        self._region = region
        self._partition = partition
        self._epoch: LeaderEpoch = -1
        self._known: tuple[LeaderEpoch, Instant] | None = None

    def agreed(
        self, epoch: LeaderEpoch, bounds: OffsetBounds, offset: Offset, now: Instant, *, holds: bool
    ) -> Hole | None:
        """The mirror goes on at `offset`. `holds`: it has records below."""
        self._epoch = epoch
        if not holds:
            self._known = (epoch, bounds.markers_removed_at)
        return self.found(bounds, offset, now)

    def found(self, bounds: OffsetBounds, offset: Offset, now: Instant) -> Hole | None:
        """The range in which markers may be missing, before what follows at `offset` is placed; None if there is none,
        or it is in the ledger already."""
        before, self._known = self._known, (self._epoch, bounds.markers_removed_at)
        if bounds.markers_from <= offset or before == self._known:
            return None
        cause = HoleCause.SOURCE_REMOVED_MARKERS
        hole = Hole(self._partition, offset, bounds.markers_from, cause, now)
        return None if self._is_recorded(hole) else hole

    def forget(self) -> None:
        """What was found is not in the ledger yet: it must be found again."""
        self._known = None

    def _is_recorded(self, hole: Hole) -> bool:
        return any(
            one.lacks_markers
            and one.partition == self._partition
            and one.base_offset <= hole.base_offset
            and one.next_offset >= hole.next_offset
            for one in self._region.holes.of(self._region.view.image, self._partition.topic)
        )
