"""A mirror topic as one broker knows it, for the link coordinator."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.ids import Instant, LeaderEpoch, Offset


@dataclass(frozen=True, slots=True)
class MirrorPartitionStatus:
    """A mirror partition as its leader sees it; -1 is unknown.

    `is_running`: the link copies it, or tries to. `is_caught_up`: for a promotion, it holds all that the source had
    after the promotion began. `is_drained`: the link places nothing any more, and what it placed is replicated.
    `last_epoch` is the largest leader epoch in the log. `common_offset`: the end of what the log had in common with its
    source when that was last asked. `is_following`: the source has agreed to go on from the end of this log; in a
    restore, the replicas in sync have truncated theirs, too. `origin_lag`, in records, `origin_lag_bytes` and
    `origin_lag_ms` are behind the region in which the records begin. `source_began_at`: below it the source never held
    anything, as it said when the histories parted. `is_lower_bound`: nothing is heard of the source's partition now, so
    it may have more than `source_high_watermark`; `is_origin_lower_bound`: or a region on the way hears nothing.
    `is_unreached`: it is to be copied, and there is no stream to the broker that leads its source.
    """

    index: int
    leader_epoch: LeaderEpoch
    log_start_offset: Offset
    log_end_offset: Offset
    high_watermark: Offset
    last_epoch: LeaderEpoch
    source_high_watermark: Offset = -1
    source_clock: Instant = -1
    lag_ms: int = -1
    since_received_ms: int = -1
    is_running: bool = False
    is_caught_up: bool = False
    is_drained: bool = False
    trouble: str = ""
    common_offset: Offset = -1
    is_following: bool = False
    lag_bytes: int = -1
    origin_lag_ms: int = -1
    source_began_at: Offset = -1
    is_unreached: bool = False
    is_lower_bound: bool = False
    origin_lag: int = -1
    origin_lag_bytes: int = -1
    is_origin_lower_bound: bool = False


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """What one broker knows of a mirror topic whose record it has in this version.

    `clamped`: the partitions of `__consumer_offsets`, each with its leader epoch, whose groups it has moved back to the
    cut. `sealed`: the partitions whose orphan tail it has sealed, as leader or follower, with the tail's bytes; -1: an
    older release does not say. `because`: why it has not done more of what is pending. While a restore looks for what
    is in common: `committed`, by group and partition, the offsets of the groups that it coordinates; `heard`, the
    partitions of `__consumer_offsets` of which it knows all.
    """

    topic: str
    record_version: Offset
    partitions: tuple[MirrorPartitionStatus, ...] = ()
    clamped: tuple[tuple[int, LeaderEpoch], ...] = ()
    sealed: Mapping[int, int] = field(default_factory=dict)
    because: str = ""
    committed: tuple[tuple[str, int, Offset], ...] = ()
    heard: tuple[tuple[int, LeaderEpoch], ...] = ()
