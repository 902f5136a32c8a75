"""Where two leader-epoch histories agree.

A leader epoch has one leader, which writes an offset once. So two logs that agree on the leader epoch of their last
common offset agree on everything before it (KIP-101, KIP-320), and the question needs no bytes.
"""

from typing import NamedTuple

from brokers.ids import NO_PARTITION_LEADER_EPOCH, LeaderEpoch, Offset
from linker.errors import MirrorError
from linker.frames import EpochStarts


class LineageVerdict(NamedTuple):
    """`agreed_offset` is where the histories diverge, or the mirror's end if they do not (then `error` is NO_ERROR)."""

    agreed_offset: Offset
    error: MirrorError
    because: str = ""


def compare(
    mirror: EpochStarts,
    mirror_end: Offset,
    source: EpochStarts,
    *,
    log_start: Offset,
    log_end: Offset,
    began_at: Offset = 0,
) -> LineageVerdict:
    """Whether a mirror with this history, which ends at `mirror_end`, can continue from a source with that one.

    Below `began_at` the source never held anything, so there is nothing that the mirror could contradict.
    """
    latest = _latest_written(mirror, mirror_end)
    source_latest = source[-1][0] if source else NO_PARTITION_LEADER_EPOCH
    agreed = max(agreed_offset(mirror, mirror_end, source, log_end), min(mirror_end, began_at))
    if mirror_end <= log_start:
        agreed = mirror_end  # nothing in common is left to compare; a hole is recorded
    if latest > source_latest and mirror_end > 0:
        agreed = min(agreed, mirror_end)
        because = f"the mirror holds leader epoch {latest}, the source is at {source_latest}"
        return LineageVerdict(
            agreed, MirrorError.NON_MONOTONIC_SOURCE_EPOCH, _with_offset(because, agreed)
        )
    if mirror_end > log_end:
        agreed = min(agreed, log_end)
        because = f"the mirror ends at {mirror_end}, the source at {log_end}"
        return LineageVerdict(
            agreed, MirrorError.UNEXPECTED_TRUNCATION, _with_offset(because, agreed)
        )
    if agreed < mirror_end:
        because = f"the histories part below the mirror's end {mirror_end}"
        return LineageVerdict(
            agreed, MirrorError.UNEXPECTED_TRUNCATION, _with_offset(because, agreed)
        )
    return LineageVerdict(mirror_end, MirrorError.NO_ERROR)


def _latest_written(history: EpochStarts, end: Offset) -> LeaderEpoch:
    """The newest epoch that has records, as they say what was lost. That of a leader that wrote nothing is known to its
    own log only: a follower that leads next has never heard of it (KIP-101). Of a log whose records are all deleted,
    the last entry stays."""
    latest = history[-1][0] if history else NO_PARTITION_LEADER_EPOCH
    written = epoch_before(history, end)
    return written if written != NO_PARTITION_LEADER_EPOCH else latest


def _with_offset(because: str, agreed: Offset) -> str:
    return f"{because}; both have the same records up to offset {agreed}"


def agreed_offset(
    mirror: EpochStarts, mirror_end: Offset, source: EpochStarts, log_end: Offset
) -> Offset:
    """The end of the newest leader epoch that both know, in the log where it ends first.

    Where they know none together, the mirror's log start is not common either if the source's records of other leader
    epochs begin below: the mirror has deleted records of its own there (DeleteRecords, retention).
    """
    if not mirror:
        return min(mirror_end, log_end)
    ends = {epoch: _end_of(source, epoch, log_end) for epoch, _ in source}
    for epoch, _ in reversed(mirror):
        if epoch in ends:
            return min(ends[epoch], _end_of(mirror, epoch, mirror_end))
    first, start = mirror[0]
    return min(start, mirror_end, _end_of(source, first, log_end))


def _end_of(history: EpochStarts, epoch: LeaderEpoch, log_end: Offset) -> Offset:
    return next((start for other, start in history if other > epoch), log_end)


def epoch_before(history: EpochStarts, offset: Offset) -> LeaderEpoch:
    """The leader epoch of the last offset below `offset`; -1 if there is none."""
    return max(
        (epoch for epoch, start in history if start < offset), default=NO_PARTITION_LEADER_EPOCH
    )
