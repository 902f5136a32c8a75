"""How long requests of one kind took: a count, a sum, and quantiles of the last minutes.

Times fall into buckets that grow by a fifth, so a quantile is off by a tenth at most. There are two windows, the
running one and the one before it, and quantiles speak of both: of the last 2.5 to 5 minutes, as Kafka's do (its samples
fade over about five).
"""

from bisect import bisect_right
from itertools import accumulate

WINDOW_SECONDS = 150.0
_SHORTEST, _GROWTH, _BUCKETS = 1e-5, 1.2, 90  # from 10 µs to 2 minutes
BOUNDS = tuple(_SHORTEST * _GROWTH**step for step in range(_BUCKETS))


class Durations:
    """`add` one, ask `quantiles`. All times in seconds; `now` is any clock that never runs backwards."""

    __slots__ = ("_before", "_ends_at", "_window", "count", "total")

    def __init__(self, now: float) -> None:
        self.count = 0
        self.total = 0.0
        self._window = [0] * (_BUCKETS + 1)
        self._before = [0] * (_BUCKETS + 1)
        self._ends_at = now + WINDOW_SECONDS

    def add(self, seconds: float, now: float) -> None:
        if now >= self._ends_at:
            self._turn(now)
        self.count += 1
        self.total += seconds
        self._window[bisect_right(BOUNDS, seconds)] += 1

    def quantiles(self, wanted: tuple[float, ...], now: float) -> tuple[float, ...]:
        """Of what was added in the last minutes; 0 where that is nothing, as Kafka says it."""
        if now >= self._ends_at:
            self._turn(now)
        below = [*accumulate(map(sum, zip(self._before, self._window, strict=True)))]
        if not below[-1]:
            return (0.0,) * len(wanted)
        return tuple(_middle(bisect_right(below, share * below[-1])) for share in wanted)

    def _turn(self, now: float) -> None:
        """The running window is over; after a long silence both are."""
        is_recent = now < self._ends_at + WINDOW_SECONDS
        self._before = self._window if is_recent else [0] * (_BUCKETS + 1)
        self._window = [0] * (_BUCKETS + 1)
        self._ends_at = now + WINDOW_SECONDS


def _middle(bucket: int) -> float:
    """The value that speaks for a bucket: between its bounds by ratio, as the bounds are."""
    if bucket == 0:
        return _SHORTEST / 2
    return BOUNDS[min(bucket, _BUCKETS) - 1] * float(_GROWTH**0.5)
