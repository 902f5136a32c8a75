"""Finds that a mirror may never get a deletion marker which its source had.

A mirror holds a record of a key. The source's log gets a marker that deletes the key, compacts both away
`delete.retention.ms` later, and the mirror comes only then: it would keep the record for ever. The source says from
where on it has removed no marker (`markers_from`), and when it removed the last one. What the mirror copied since it
was empty, or at `markers_from`, is in step with that; what it copied before a removal may not be. What was received and
then dropped, as the stream ended or a batch was refused, is not copied: a mirror that subscribes again is as far in
step as what it has placed. It is not known which keys are meant, or whether the mirror has any of them: what is found
is a doubt, and it is recorded.
"""

from typing import NamedTuple

from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from linker.offset_bounds import OffsetBounds
from linker.records.hole_ledger import Hole, HoleCause
from linker.region_client import RegionClient


class _Source(NamedTuple):
    """What the source's log was when something was copied from it. Another leader, or another time of its last removal,
    is another state."""

    epoch: LeaderEpoch
    removed_at: Instant


class MissedMarkers:
    """Of one mirror partition. `_known` is what was received last; `_placed` how far the log is with what was placed,
    and from which state of the source that came."""

    def __init__(self, region: RegionClient, partition: TopicPartition) -> None:
        self._region = region
        self._partition = partition
        self._epoch: LeaderEpoch = -1
        self._known: _Source | None = None
        self._placed: tuple[Offset, _Source] | None = None

    def agreed(
        self, epoch: LeaderEpoch, bounds: OffsetBounds, offset: Offset, now: Instant, *, holds: bool
    ) -> Hole | None:
        """The mirror goes on at `offset`. `holds`: it has records below."""
        self._epoch = epoch
        self._known = self._in_step_at(offset) if holds else self._source(bounds)
        return self.found(bounds, offset, now)

    def found(self, bounds: OffsetBounds, offset: Offset, now: Instant) -> Hole | None:
        """The range in which markers may be missing, before what follows at `offset` is placed; None if there is none,
        or it is in the ledger already."""
        before, self._known = self._known, self._source(bounds)
        if bounds.markers_from <= offset or before == self._known:
            return None
        cause = HoleCause.SOURCE_REMOVED_MARKERS
        hole = Hole(self._partition, offset, bounds.markers_from, cause, now)
        return None if self._is_recorded(hole) else hole

    def placed(self, bounds: OffsetBounds, next_offset: Offset) -> None:
        """What came with these bounds is in the mirror's log, which ends at `next_offset`."""
        self._placed = next_offset, self._source(bounds)

    def _in_step_at(self, offset: Offset) -> _Source | None:
        """None: the log does not end with what was placed, as after a truncation."""
        return self._placed[1] if self._placed is not None and self._placed[0] == offset else None

    def _source(self, bounds: OffsetBounds) -> _Source:
        return _Source(self._epoch, bounds.markers_removed_at)

    def _is_recorded(self, hole: Hole) -> bool:
        return any(
            one.lacks_markers
            and one.partition == self._partition
            and one.base_offset <= hole.base_offset
            and one.next_offset >= hole.next_offset
            for one in self._region.holes.of(self._region.view.image, self._partition.topic)
        )
