"""How a partition stands on this node, for layers above."""

from typing import NamedTuple

from brokers.ids import Instant, LeaderEpoch, Offset


class PartitionState(NamedTuple):
    """The offsets of one partition; `epochs` is its leader-epoch history, (leader epoch, start offset) ascending.

    `is_leader`: this node leads it; `is_serving`: and its log is open; `shortage`: why its disk takes no link's data.
    `is_followed`: each replica in sync has fetched in this leader epoch, so it holds nothing that its leader does not.
    `in_sync_log_start`: no replica in sync has a lower log start offset, so none that leads next without an unclean
    election has.
    `complete_from`, `markers_from`, `markers_removed_at`: what it lacks by compaction, as `Completeness` has it.
    """

    log_start_offset: Offset
    log_end_offset: Offset
    high_watermark: Offset
    last_stable_offset: Offset
    leader_epoch: LeaderEpoch
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]
    segment_bases: tuple[Offset, ...]
    online: bool
    is_leader: bool = True
    is_followed: bool = True
    segment_sizes: tuple[int, ...] = ()
    shortage: str = ""
    complete_from: Offset = 0
    markers_from: Offset = 0
    markers_removed_at: Instant = -1
    in_sync_log_start: Offset = 0

    @property
    def is_serving(self) -> bool:
        return self.online and self.is_leader
