"""How far one mirror partition is behind its source, exactly, in records, bytes and milliseconds, on idle topics too.

A moment is a pair (C, H) that the source sends: at C on its clock, its high watermark was H. The lag in milliseconds
is the age of the newest moment whose H the mirror holds. An age is the difference of two readings of the source's
clock, plus the time since the newer one arrived, by this node's clock. So clock skew between the regions has no effect.

A source that is a mirror itself says with each moment how far it is behind the region in which its records begin.
That and the lag behind the source are the lag behind the first region. Bytes are what the source had beyond what it had
sent, and what was received and the mirror does not hold yet.

Where nobody tells of the partition any more (a stream is lost, the link is paused), the source's clock stands still:
the lag in milliseconds grows, and records and bytes are those of the newest moment that was told, so at least so many.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from brokers.ids import Instant, Offset
from linker.offset_bounds import NOTHING_TOLD, BehindOrigin, OffsetBounds

MOMENTS_MAX: Final = 256  # beyond this, every second moment is dropped: the lag is then too large by one step at most


@dataclass(slots=True)
class SourceClock:
    """The source's clock in the newest frame of a stream, and when that frame arrived here. `before`: in the frame
    before it. `heard_at`: when the last one came, also if the source's clock was set back."""

    clock: Instant = -1
    received_at: Instant = -1
    before: Instant = -1
    heard_at: Instant = -1

    def update(self, clock: Instant, now: Instant) -> None:
        self.before, self.heard_at = self.clock, now
        if clock >= self.clock:
            self.clock, self.received_at = clock, now


class _Moment(NamedTuple):
    clock: Instant
    high_watermark: Offset
    origin_lag_ms: int


class MirrorLag:
    """One partition. `source_at`: a chunk or beacon arrived; `mirror_at`: the mirror may have advanced."""

    def __init__(self) -> None:
        self.high_watermark: Offset = -1  # the source's, in its newest moment; -1 unknown
        self.is_told = False  # whether the source tells of changes now
        self._source = SourceClock()  # that of a stream while the source tells, then a copy
        self._held_clock: Instant = -1
        self._held_origin_lag_ms = -1  # at that time
        self._origin = NOTHING_TOLD  # in the newest moment
        self._moments: deque[_Moment] = deque()
        self._bytes_ahead = -1
        # The ends and sizes of chunks that are not held yet.
        self._received: deque[tuple[Offset, int]] = deque()
        self._received_bytes = 0

    def subscribed(self, offset: Offset) -> None:
        """The source goes on from there: what was received and not placed will come again."""
        while self._received and self._received[-1][0] > offset:
            self._received_bytes -= self._received.pop()[1]

    def received(self, next_offset: Offset, size: int) -> None:
        """A chunk has arrived."""
        self._received.append((next_offset, size))
        self._received_bytes += size

    def source_at(self, clock: Instant, bounds: OffsetBounds, source: SourceClock) -> None:
        """From now on the partition stands so at each reading of `source`, until something else is told."""
        # Until the frame before, the partition stood at the moment received last; while nobody told, nobody knows.
        before = source.before if self._source is source else self._source.clock
        self._source, self.is_told = source, True
        high_watermark = bounds.high_watermark
        if self._moments:
            newest = self._moments[-1]
            self._moments[-1] = newest._replace(clock=max(newest.clock, before))
        elif self.high_watermark >= 0:
            self._hold(before, self._origin.milliseconds)
        self.high_watermark = high_watermark
        self._bytes_ahead, self._origin = bounds.bytes_ahead, bounds.origin
        while self._moments and self._moments[-1].high_watermark > high_watermark:
            self._moments.pop()  # the source lost records: `lineage` decides what that means
        if len(self._moments) >= MOMENTS_MAX:
            self._moments = deque(list(self._moments)[1::2])
        self._moments.append(_Moment(clock, high_watermark, bounds.origin.milliseconds))

    def freeze(self) -> None:
        """The source tells of it no more."""
        if self.is_told:
            self._source, self.is_told = replace(self._source), False

    def mirror_at(self, high_watermark: Offset) -> None:
        """The mirror holds everything below its high watermark."""
        while self._moments and self._moments[0].high_watermark <= high_watermark:
            held = self._moments.popleft()
            self._hold(held.clock, held.origin_lag_ms)
        while self._received and self._received[0][0] <= high_watermark:
            self._received_bytes -= self._received.popleft()[1]

    def _hold(self, clock: Instant, origin_lag_ms: int) -> None:
        if clock >= self._held_clock:
            self._held_clock, self._held_origin_lag_ms = clock, origin_lag_ms

    @property
    def caught_up(self) -> bool:
        """Whether the mirror holds all that the source is known to have."""
        return self.high_watermark >= 0 and not self._moments

    @property
    def is_lower_bound(self) -> bool:
        """Whether the source may have more than is known."""
        return self.high_watermark >= 0 and not self.is_told

    def records(self, mirror_high_watermark: Offset) -> int:
        """Offsets that the mirror is behind; -1 unknown."""
        return (
            max(0, self.high_watermark - mirror_high_watermark) if self.high_watermark >= 0 else -1
        )

    def milliseconds(self, now: Instant) -> int:
        """The age of the newest moment whose records the mirror holds; -1 unknown."""
        source = self._source
        held = source.clock if self.caught_up else self._held_clock
        if held < 0 or source.clock < 0:
            return -1
        return (source.clock - held) + max(0, now - source.received_at)

    def bytes(self) -> int:
        """Of record batches that the source has and the mirror does not hold; -1 unknown."""
        return self._bytes_ahead + self._received_bytes if self._bytes_ahead >= 0 else -1

    def behind_origin(self, mirror_high_watermark: Offset, now: Instant) -> BehindOrigin:
        """The same, behind the region in which the records begin."""
        at_held = self._origin.milliseconds if self.caught_up else self._held_origin_lag_ms
        return BehindOrigin(
            _sum(self.milliseconds(now), at_held),
            _sum(self.records(mirror_high_watermark), self._origin.records),
            _sum(self.bytes(), self._origin.size),
            self.is_lower_bound or self._origin.is_lower_bound,
        )

    def moment(self) -> Instant:
        """The source's clock when it was last known to be at `high_watermark`; -1 unknown."""
        return self._source.clock if self.high_watermark >= 0 else -1

    def since_told(self, now: Instant) -> int:
        """Milliseconds since the newest frame about this partition, as every beacon is; -1 if there was none."""
        return max(0, now - self._source.heard_at) if self._source.heard_at >= 0 else -1


def _sum(own: int, of_source: int) -> int:
    return own + of_source if own >= 0 and of_source >= 0 else -1
