"""How far one mirror partition is behind its source, exactly, in records and in milliseconds, on idle topics too.

A moment is a pair (C, H) that the source sends: at C on its clock, its high watermark was H. The lag in milliseconds
is the age of the newest moment whose H the mirror holds. An age is the difference of two readings of the source's
clock, plus the time since the newer one arrived, by this node's clock. So clock skew between the regions has no effect.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from brokers.ids import Instant, Offset

MOMENTS_MAX: Final = 256  # beyond this, every second moment is dropped: the lag is then too large by one step at most


@dataclass(slots=True)
class SourceClock:
    """The source's clock in the newest frame of a stream, and when that frame arrived here."""

    clock: Instant = -1
    received_at: Instant = -1

    def update(self, clock: Instant, now: Instant) -> None:
        if clock >= self.clock:
            self.clock, self.received_at = clock, now


class MirrorLag:
    """One partition. `source_at`: a chunk or beacon arrived; `mirror_at`: the mirror may have advanced."""

    def __init__(self) -> None:
        self.high_watermark: Offset = -1  # the source's, in its newest moment; -1 unknown
        self._held_clock: Instant = -1
        self._moments: deque[tuple[Instant, Offset]] = deque()

    def source_at(self, clock: Instant, high_watermark: Offset, before: Instant) -> None:
        """`before` is the clock of the frame before: until then, the partition stood at the moment received last."""
        if self._moments:
            at, pending = self._moments[-1]
            self._moments[-1] = max(at, before), pending
        elif self.high_watermark >= 0:
            self._held_clock = max(self._held_clock, before)
        self.high_watermark = high_watermark
        while self._moments and self._moments[-1][1] > high_watermark:
            self._moments.pop()  # the source lost records: `lineage` decides what that means
        if len(self._moments) >= MOMENTS_MAX:
            self._moments = deque(list(self._moments)[1::2])
        self._moments.append((clock, high_watermark))

    def mirror_at(self, high_watermark: Offset) -> None:
        """The mirror holds everything below its high watermark."""
        while self._moments and self._moments[0][1] <= high_watermark:
            self._held_clock = max(self._held_clock, self._moments.popleft()[0])

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

    def moment(self, source: SourceClock) -> Instant:
        """The source's clock when it was last known to be at `high_watermark`; -1 unknown."""
        return source.clock if self.high_watermark >= 0 else -1
