"""The parts of one kind of request's time, as Kafka's RequestMetrics have them."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from brokers.telemetry.durations import Durations

# Kafka's name of each part, in lower case -> what it is here.
PARTS: Final = {
    "requestqueuetimems": "Milliseconds until the node took the request up, after it was read",
    "localtimems": "Milliseconds in which the node worked on the request",
    "remotetimems": "Milliseconds that the answer waited for replicas, other nodes, a sync of the disk, or its time",
    "responsequeuetimems": "Milliseconds that the answer waited for earlier ones of its connection",
    "responsesendtimems": "Milliseconds until all of the answer was in the hands of the kernel",
}
# Below this the quantiles have a part as 0: putting it into a bucket would cost as much as what it measures.
_ZERO_SECONDS: Final = 5e-5


class RequestParts(NamedTuple):
    """Seconds, in the order of `PARTS`."""

    request_queue: float
    local: float
    remote: float
    response_queue: float
    response_send: float


class RequestTimes:
    """All times are in seconds; `now` is of any clock that never runs backwards."""

    __slots__ = ("_parts", "_sums", "total")

    def __init__(self, now: float) -> None:
        self.total = Durations(now)
        self._parts = tuple(Durations(now) for _ in PARTS)
        self._sums = [0.0] * len(PARTS)

    def add(self, total: float, parts: tuple[float, ...], now: float) -> None:
        """`parts` are in the order of `PARTS`, `total` is their sum."""
        self.total.add(total, now)
        sums = self._sums
        sums[0] += parts[0]
        sums[1] += parts[1]
        sums[2] += parts[2]
        sums[3] += parts[3]
        sums[4] += parts[4]
        if total >= _ZERO_SECONDS:
            for seconds, durations in zip(parts, self._parts, strict=True):
                if seconds >= _ZERO_SECONDS:
                    durations.add(seconds, now)

    def by_name(self) -> Iterator[tuple[str, Durations, float]]:
        """Each part: its durations, but those that count as 0, and the sum of all."""
        return zip(PARTS, self._parts, self._sums, strict=True)
