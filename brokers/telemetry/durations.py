"""The durations of one kind of request: a count, a sum, and quantiles of the last minutes.

A bucket's bounds differ by a fifth, so a quantile is off by a tenth at most. Quantiles cover two windows, the current
one and the one before it: the last 2.5 to 5 minutes, similar to Kafka's, whose samples decay over about 5 minutes.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import accumulate

WINDOW_SECONDS = 150.0
_SHORTEST, _GROWTH, _BUCKETS = 1e-5, 1.2, 90  # from 10 µs to 2 minutes
BOUNDS = tuple(_SHORTEST * _GROWTH**step for step in range(_BUCKETS))
_bucket = partial(bisect_right, BOUNDS)


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
        self._window[_bucket(seconds)] += 1

    def add_all(self, durations: Sequence[float], now: float) -> None:
        """Durations that ended about `now`: a third of what they cost one by one."""
        if now >= self._ends_at:
            self._rotate(now)
        self.count += len(durations)
        self.total += sum(durations)
        for bucket, count in Counter(map(_bucket, durations)).items():
            self._window[bucket] += count

    def recent(self, now: float) -> int:
        """The number of durations of the last minutes."""
        if now >= self._ends_at:
            self._rotate(now)
        return sum(self._before) + sum(self._window)

    def quantiles(
        self, wanted: tuple[float, ...], now: float, of: int | None = None
    ) -> tuple[float, ...]:
        """Quantiles of the durations of the last minutes; 0 where there are none, as in Kafka.

        `of`: how many there were, where those of 0 seconds are not added.
        """
        recent = self.recent(now)
        zeros = 0 if of is None else max(0, of - recent)
        if not recent + zeros:
            return (0.0,) * len(wanted)
        counts = map(sum, zip(self._before, self._window, strict=True))
        below = [zeros + count for count in accumulate(counts)]
        ranks = [share * (recent + zeros) for share in wanted]
        return tuple(0.0 if rank < zeros else _typical(bisect_right(below, rank)) for rank in ranks)

    def _rotate(self, now: float) -> None:
        """Begins a new window. After a long time without requests, the window before it is empty too.

        Windows that began together go on to end together.
        """
        passed = int((now - self._ends_at) // WINDOW_SECONDS) + 1
        self._before = self._window if passed == 1 else [0] * (_BUCKETS + 1)
        self._window = [0] * (_BUCKETS + 1)
        self._ends_at += passed * WINDOW_SECONDS


def _typical(bucket: int) -> float:
    """The value that represents a bucket: the geometric mean of its bounds."""
    if bucket == 0:
        return _SHORTEST / 2
    return BOUNDS[min(bucket, _BUCKETS) - 1] * float(_GROWTH**0.5)
