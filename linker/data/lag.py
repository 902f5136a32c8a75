"""How far one mirror partition is behind its source, exact in records and in time, on idle topics too.

The source says "as of my clock C, my high watermark is H". The newest such moment whose H the mirror holds is what a
failover now would stand on; its age is the lag in milliseconds. Ages are differences of one clock at a time (the
source's between two of its moments, ours since we heard the newer one), so skew between the regions does not enter.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from brokers.ids import Instant, Offset

MOMENTS_MAX: Final = (
    256  # beyond, moments are thinned out: the lag then reads too large by one step at most
)


@dataclass(slots=True)
class SourceClock:
    """The newest moment of the source that a stream told of, for all its partitions."""

    clock: Instant = -1
    heard_at: Instant = -1

    def hear(self, clock: Instant, now: Instant) -> None:
        if clock >= self.clock:
            self.clock, self.heard_at = clock, now


class MirrorLag:
    """One partition. `told` comes with chunks and beacons, `held` with the mirror's own progress."""

    def __init__(self) -> None:
        self.high_watermark: Offset = -1  # the source's, as last told; -1 unknown
        self._held_clock: Instant = -1
        self._moments: deque[tuple[Instant, Offset]] = deque()

    def told(self, clock: Instant, high_watermark: Offset, before: Instant) -> None:
        """`before` is the newest moment of the stream until now: whatever was held then was all there was."""
        if self._moments:
            at, pending = self._moments[-1]
            self._moments[-1] = max(at, before), pending  # until then it stood as it was last told
        elif self.high_watermark >= 0:
            self._held_clock = max(self._held_clock, before)
        self.high_watermark = high_watermark
        while self._moments and self._moments[-1][1] > high_watermark:
            self._moments.pop()  # the source came back with less; lineage judges that, not the lag
        if len(self._moments) >= MOMENTS_MAX:
            self._moments = deque(list(self._moments)[1::2])
        self._moments.append((clock, high_watermark))

    def held(self, high_watermark: Offset) -> None:
        """The mirror holds everything below this."""
        while self._moments and self._moments[0][1] <= high_watermark:
            self._held_clock = max(self._held_clock, self._moments.popleft()[0])

    @property
    def caught_up(self) -> bool:
        """Everything that was ever told of is held."""
        return self.high_watermark >= 0 and not self._moments

    def records(self, mirror_high_watermark: Offset) -> int:
        """Offsets that the mirror is behind; -1 unknown."""
        return (
            max(0, self.high_watermark - mirror_high_watermark) if self.high_watermark >= 0 else -1
        )

    def milliseconds(self, source: SourceClock, now: Instant) -> int:
        """Age of the newest moment that is fully held; -1 unknown."""
        held = source.clock if self.caught_up else self._held_clock
        if held < 0 or source.clock < 0:
            return -1
        return (source.clock - held) + max(0, now - source.heard_at)

    def moment(self, source: SourceClock) -> Instant:
        """The source's clock when it was last told to stand at `high_watermark`; -1 unknown."""
        return source.clock if self.high_watermark >= 0 else -1
