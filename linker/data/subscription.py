"""A partition that a source sends to a destination, and its range of bytes as chunks."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset, TopicPartition
from brokers.records.batch import iter_headers, parse_header
from brokers.region import PartitionState, RegionView
from linker.frames import Pace, Subscribe
from linker.offset_bounds import AT_ORIGIN, NOWHERE, BehindOrigin, OffsetBounds, SegmentPosition
from linker.region_client import RegionClient

LAG_STEP_MS: Final = 500  # as often as beacons come; what changes by less is not told
OriginLag: TypeAlias = Callable[[TopicPartition, Instant], BehindOrigin]  # of a mirror


class Piece(NamedTuple):
    """Whole batches of one segment, all there are in [offset, next_offset). `base`: the base offset of the segment that
    begins with them, -1 if it goes on."""

    offset: Offset
    next_offset: Offset
    data: Buffer
    base: Offset


@dataclass(slots=True)
class Subscription:
    """`position` is the next offset to send, -1 while it is looked for; `sent_bounds` are those that were sent last.

    `leader_epoch` is the one in which it began: a later one may have another log below `position`, as that of a region
    that was restored from its own mirror.
    `segment`: where `position` is in the source's log; until that has agreed, where `asked_at` is, the end of the
    destination's log. `is_chained`: the topic is a mirror itself. `is_watched`: nothing is sent of it but its bounds.
    """

    number: int
    partition: TopicPartition
    leader_epoch: LeaderEpoch
    position: Offset
    agreed: bool = False
    reading: bool = False
    weight: int = 1
    waits_until: Instant | None = None  # while it has fewer bytes than the destination wants
    sent_bounds: OffsetBounds | None = None
    asked_at: Offset = -1
    segment: SegmentPosition = NOWHERE
    is_chained: bool = False
    is_watched: bool = False

    def sent(self, piece: "Piece") -> None:
        self.position = piece.next_offset
        base, before = self.segment
        if piece.base >= 0:
            self.segment = SegmentPosition(piece.base, len(piece.data))
        elif base >= 0:
            self.segment = SegmentPosition(base, before + len(piece.data))

    def waits(self, size: int, pace: Pace, now: Instant, *, is_all: bool) -> Instant | None:
        """Until when more bytes may come before a chunk of `size` has to be sent (Kafka's fetch.min.bytes)."""
        due = now + pace.wait_max_ms if self.waits_until is None else self.waits_until
        self.waits_until = due if is_all and size < pace.min_bytes and now < due else None
        return self.waits_until

    def agree(self, start: Offset, state: PartitionState) -> None:
        """The destination goes on at `start`."""
        if start != self.stands_at or start == state.log_end_offset:
            self._locate(start, state)
        self.agreed, self.position = True, start

    @property
    def stands_at(self) -> Offset:
        """Where the destination does."""
        return self.position if self.agreed else self.asked_at

    def skipped_bytes(self, start: Offset, view: RegionView) -> int:
        """From where the destination stands to `start`; -1 unknown."""
        if start <= self.stands_at:
            return 0
        base, size = self.segment
        between = view.bytes_between(self.partition, base, start) if base >= 0 else -1
        return max(0, between - size) if between >= 0 else -1

    def _locate(self, offset: Offset, state: PartitionState) -> None:
        """Where a segment begins, or the log ends; anywhere else it is not known where."""
        if offset in state.segment_bases:
            self.segment = SegmentPosition(offset, 0)
        elif offset == state.log_end_offset and state.segment_sizes:
            self.segment = SegmentPosition(state.segment_bases[-1], state.segment_sizes[-1])
        else:
            self.segment = NOWHERE

    def bytes_ahead(self, state: PartitionState) -> int:
        """From `position` to the end of the log; -1 unknown."""
        if self.position >= state.high_watermark:
            return 0
        first = bisect_left(state.segment_bases, self.segment.base_offset)
        if first == len(state.segment_bases) or self.segment.base_offset < 0:
            return -1
        if state.segment_bases[first] != self.segment.base_offset:
            return -1
        return max(0, sum(state.segment_sizes[first:]) - self.segment.size)


def subscription_of(
    frame: Subscribe, state: PartitionState, position: Offset, *, is_chained: bool
) -> Subscription:
    """`state` is the partition's when it was asked for."""
    return Subscription(
        number=frame.subscription,
        partition=frame.partition,
        leader_epoch=state.leader_epoch,
        position=position,
        weight=frame.weight,
        asked_at=frame.offset,
        segment=frame.segment,
        is_chained=is_chained,
        is_watched=frame.is_watched,
    )


def began_at(region: RegionClient, partition: TopicPartition, state: PartitionState) -> Offset:
    """Below it the log never held anything. What is decided is not done yet where the log starts lower."""
    start = region.holes.chosen_start(region.view.image, partition) or 0
    return start if state.log_start_offset >= start else 0


def skipped(
    region: RegionClient, subscription: Subscription, start: Offset, state: PartitionState
) -> tuple[int, Offset, bool]:
    """What a destination that goes on at `start` does not get, as `Agreed` has it."""
    size = subscription.skipped_bytes(start, region.view)
    partition, gone = subscription.partition, (subscription.stands_at, state.log_start_offset)
    is_deleted = region.view.records_were_deleted(partition, *gone)
    return size, began_at(region, partition, state), is_deleted


def bounds_of(
    state: PartitionState, subscription: Subscription, origin_lag: OriginLag, now: Instant
) -> OffsetBounds:
    origin = origin_lag(subscription.partition, now) if subscription.is_chained else AT_ORIGIN
    if subscription.is_watched and subscription.position < state.log_start_offset:
        subscription.agree(state.log_start_offset, state)  # what lies below cannot be sent any more
    return OffsetBounds(
        state.log_start_offset,
        state.high_watermark,
        state.last_stable_offset,
        subscription.bytes_ahead(state),
        _in_steps(origin),
        state.complete_from,
        state.markers_from,
        state.markers_removed_at,
        state.in_sync_log_start,
    )


def _in_steps(origin: BehindOrigin) -> BehindOrigin:
    milliseconds = origin.milliseconds
    if milliseconds <= 0:
        return origin
    return origin._replace(milliseconds=milliseconds - milliseconds % LAG_STEP_MS)


def pieces(
    data: Buffer, offset: Offset, next_offset: Offset, bases: tuple[Offset, ...]
) -> Iterator[Piece]:
    """Split a range at the first batch of each segment.

    Compaction may have removed what lies before it, so that the segment's base offset is none at which a batch ends.
    """
    view, start, reached = memoryview(data), 0, offset
    following = bisect_right(bases, max(offset, parse_header(view).base_offset))
    begun = bases[following - 1] if following else -1
    base = begun if begun >= offset else -1
    if following < len(bases) and bases[following] < next_offset:
        for position, header in iter_headers(view):
            if following < len(bases) and header.base_offset >= bases[following]:
                yield Piece(offset, reached, view[start:position], base)
                following = bisect_right(bases, header.base_offset)
                offset, start, base = reached, position, bases[following - 1]
            reached = header.next_offset
    yield Piece(offset, next_offset, view[start:], base)
