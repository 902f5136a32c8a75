"""The durations of one kind of request: a count, a sum, and quantiles of the last minutes.

A bucket's bounds differ by a fifth, so a quantile is off by a tenth at most. Quantiles cover two windows, the current
one and the one before it: the last 2.5 to 5 minutes, similar to Kafka's, whose samples decay over about 5 minutes.
"""

from bisect import bisect_right
from itertools import accumulate

WINDOW_SECONDS = 150.0
_SHORTEST, _GROWTH, _BUCKETS = 1e-5, 1.2, 90  # from 10 µs to 2 minutes
BOUNDS = tuple(_SHORTEST * _GROWTH**step for step in range(_BUCKETS))


class Durations:
    """All times are in seconds; `now` is of any clock that never runs backwards."""

    __slots__ = ("_before", "_ends_at", "_window", "count", "total")

    def __init__(self, now: float) -> None:
        self.count = 0
        self.total = 0.0
        self._window = [0] * (_BUCKETS + 1)
        self._before = [0] * (_BUCKETS + 1)
        self._ends_at = now + WINDOW_SECONDS

    def add(self, seconds: float, now: float) -> None:
        if now >= self._ends_at:
            self._rotate(now)
        self.count += 1
        self.total += seconds
        self._window[bisect_right(BOUNDS, seconds)] += 1

    def quantiles(self, wanted: tuple[float, ...], now: float) -> tuple[float, ...]:
        """Quantiles of the durations of the last minutes; 0 where there are none, as in Kafka."""
        if now >= self._ends_at:
            self._rotate(now)
        below = [*accumulate(map(sum, zip(self._before, self._window, strict=True)))]
        if not below[-1]:
            return (0.0,) * len(wanted)
        return tuple(_typical(bisect_right(below, share * below[-1])) for share in wanted)

    def _rotate(self, now: float) -> None:
        """Begins a new window. After a long time without requests, the window before it is empty too."""
        is_recent = now < self._ends_at + WINDOW_SECONDS
        self._before = self._window if is_recent else [0] * (_BUCKETS + 1)
        self._window = [0] * (_BUCKETS + 1)
        self._ends_at = now + WINDOW_SECONDS


def _typical(bucket: int) -> float:
    """The value that represents a bucket: the geometric mean of its bounds."""
    if bucket == 0:
        return _SHORTEST / 2
    return BOUNDS[min(bucket, _BUCKETS) - 1] * float(_GROWTH**0.5)
