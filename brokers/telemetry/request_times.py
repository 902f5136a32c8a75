"""The parts of one kind of request's time, as Kafka's RequestMetrics have them."""

from collections.abc import Iterator
from operator import sub
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
# Below this the quantiles have a part as 0, as most parts are: to put each into a bucket would cost more than the rest.
_ZERO_SECONDS: Final = 5e-5
_GATHERED_MAX: Final = 256


class RequestParts(NamedTuple):
    """Seconds, in the order of `PARTS`."""

    request_queue: float
    local: float
    remote: float
    response_queue: float
    response_send: float


class RequestStamps(NamedTuple):
    """When a request got on, in seconds; a part of its time lies between each two of them, in the order of `PARTS`."""

    arrived: float
    taken_up: float
    worked_on: float
    answered: float
    turn_came: float
    sent: float


class RequestTimes:
    """All times are in seconds, of any clock that never runs backwards.

    What is added is kept as it is until some of it has gathered, or somebody reads: together it costs half as much.
    """

    __slots__ = ("_gathered", "_parts", "_sums", "_total")

    def __init__(self, now: float) -> None:
        self._total = Durations(now)
        self._parts = tuple(Durations(now) for _ in PARTS)
        self._sums = [0.0] * len(PARTS)
        self._gathered: list[tuple[float, ...]] = []

    def add(self, stamps: tuple[float, ...]) -> None:
        """`stamps` are `RequestStamps`, or a plain tuple of the same."""
        gathered = self._gathered
        gathered.append(stamps)
        if len(gathered) >= _GATHERED_MAX:
            self._count()

    @property
    def total(self) -> Durations:
        """From the arrival until all of the answer was sent."""
        self._count()
        return self._total

    def by_name(self) -> Iterator[tuple[str, Durations, float]]:
        """Each part: its durations, but those that count as 0, and the sum of all."""
        self._count()
        return zip(PARTS, self._parts, self._sums, strict=True)

    def _count(self) -> None:
        if not self._gathered:
            return
        stamps = list(zip(*self._gathered, strict=True))
        self._gathered.clear()
        now = stamps[-1][-1]
        self._total.add_all(list(map(sub, stamps[-1], stamps[0])), now)
        for index, durations in enumerate(self._parts):
            spent = list(map(sub, stamps[index + 1], stamps[index]))
            self._sums[index] += sum(spent)
            if max(spent) >= _ZERO_SECONDS:
                long = [seconds for seconds in spent if seconds >= _ZERO_SECONDS]
                durations.add_all(long, now)
