"""How a partition stands at its source, as frames tell it."""

from typing import Final, NamedTuple

from brokers.ids import Instant, Offset


class BehindOrigin(NamedTuple):
    """How far a partition of a mirror topic is behind the region in which its records begin. -1: unknown.

    `is_lower_bound`: that region, or one on the way, may have more records and bytes than is known.
    """

    milliseconds: int = -1
    records: int = -1
    size: int = -1
    is_lower_bound: bool = False


NOTHING_TOLD: Final = BehindOrigin()
AT_ORIGIN: Final = BehindOrigin(0, 0, 0)  # of a topic that is no mirror


class OffsetBounds(NamedTuple):
    """The offsets of a partition of the source (a `Standing` on the wire). -1: unknown.

    A source of an earlier release does not tell `in_sync_log_start`, which is as in `PartitionState`.
    From version 6 on: `bytes_ahead`, from what the subscription has got to the log's end; `origin`, how far the source
    itself is behind. From 7 on: what the log lacks, as in `brokers/log/completeness.py`.
    """

    log_start_offset: Offset
    high_watermark: Offset
    last_stable_offset: Offset
    bytes_ahead: int = -1
    origin: BehindOrigin = NOTHING_TOLD
    complete_from: Offset = -1
    markers_from: Offset = -1
    markers_removed_at: Instant = -1
    in_sync_log_start: Offset = -1

    @property
    def deleted_below(self) -> Offset:
        """What is below it a mirror deletes, too: no broker that leads the partition next has it."""
        if self.in_sync_log_start < 0:
            return self.log_start_offset
        return min(self.log_start_offset, self.in_sync_log_start)


class SegmentPosition(NamedTuple):
    """Where a log ends: in the segment that begins at `base_offset`, of which it has `size` bytes. -1: unknown."""

    base_offset: Offset = -1
    size: int = 0


NOWHERE: Final = SegmentPosition()
