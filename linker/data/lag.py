"""How far one mirror partition is behind its source, exactly, in records, bytes and milliseconds, on idle topics too.

A moment is a pair (C, H) that the source sends: at C on its clock, its high watermark was H. The lag in milliseconds
is the age of the newest moment whose H the mirror holds. An age is the difference of two readings of the source's
clock, plus the time since the newer one arrived, by this node's clock. So clock skew between the regions has no effect.

A source that is a mirror itself says with each moment how far it is behind the region in which its records begin.
That and the lag behind the source are the lag behind the first region. Bytes are what the source had beyond what it had
sent, and what was received and the mirror does not hold yet.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

from brokers.ids import Instant, Offset
from linker.frames import OffsetBounds

MOMENTS_MAX: Final = 256  # beyond this, every second moment is dropped: the lag is then too large by one step at most


@dataclass(slots=True)
class SourceClock:
    """The source's clock in the newest frame of a stream, and when that frame arrived here."""

    clock: Instant = -1
    received_at: Instant = -1

    def update(self, clock: Instant, now: Instant) -> None:
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
        self._held_clock: Instant = -1
        self._held_origin_lag_ms = -1  # at that time
        self._origin_lag_ms = -1  # in the newest moment
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

    def source_at(self, clock: Instant, bounds: OffsetBounds, before: Instant) -> None:
        """`before` is the clock of the frame before: until then, the partition stood at the moment received last."""
        high_watermark = bounds.high_watermark
        if self._moments:
            newest = self._moments[-1]
            self._moments[-1] = newest._replace(clock=max(newest.clock, before))
        elif self.high_watermark >= 0:
            self._hold(before, self._origin_lag_ms)
        self.high_watermark = high_watermark
        self._bytes_ahead, self._origin_lag_ms = bounds.bytes_ahead, bounds.origin_lag_ms
        while self._moments and self._moments[-1].high_watermark > high_watermark:
            self._moments.pop()  # the source lost records: `lineage` decides what that means
        if len(self._moments) >= MOMENTS_MAX:
            self._moments = deque(list(self._moments)[1::2])
        self._moments.append(_Moment(clock, high_watermark, bounds.origin_lag_ms))

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

    def records(self, mirror_high_watermark: Offset) -> int:
        """Offsets that the mirror is behind; -1 unknown."""
        return (
            max(0, self.high_watermark - mirror_high_watermark) if self.high_watermark >= 0 else -1
        )

    def milliseconds(self, source: SourceClock, now: Instant) -> int:
        """The age of the newest moment whose records the mirror holds; -1 unknown."""
        held = source.clock if self.caught_up else self._held_clock
        if held < 0 or source.clock < 0:
            return -1
        return (source.clock - held) + max(0, now - source.received_at)

    def origin_milliseconds(self, source: SourceClock, now: Instant) -> int:
        """The same, behind the region in which the records begin; -1 unknown."""
        own = self.milliseconds(source, now)
        origin = self._origin_lag_ms if self.caught_up else self._held_origin_lag_ms
        return own + origin if own >= 0 and origin >= 0 else -1

    def bytes(self) -> int:
        """Of record batches that the source has and the mirror does not hold; -1 unknown."""
        return self._bytes_ahead + self._received_bytes if self._bytes_ahead >= 0 else -1

    def moment(self, source: SourceClock) -> Instant:
        """The source's clock when it was last known to be at `high_watermark`; -1 unknown."""
        return source.clock if self.high_watermark >= 0 else -1
