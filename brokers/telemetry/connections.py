"""Connections by listener: Kafka's kafka.server:type=socket-server-metrics, of one network processor."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from brokers.telemetry.exposition import Kind, family, labelled

WINDOW_SECONDS: Final = 30.0  # as Kafka's samples of rates
_PREFIX: Final = "kafka_server_socket_server_metrics_connection_"


class EventRate:
    """Counts events; `per_second` is of the last 30 to 60 seconds, or of those since the first question or event."""

    __slots__ = ("_before", "_began_at", "_now", "count")

    def __init__(self, now: float) -> None:
        self.count = 0
        self._before: int | None = None  # in the window before this one
        self._now = 0
        self._began_at = now

    def add(self, now: float) -> None:
        self._rotate(now)
        self.count += 1
        self._now += 1

    def per_second(self, now: float) -> float:
        self._rotate(now)
        seconds = now - self._began_at + (0 if self._before is None else WINDOW_SECONDS)
        return (self._now + (self._before or 0)) / max(seconds, 1.0)

    def _rotate(self, now: float) -> None:
        passed = int((now - self._began_at) // WINDOW_SECONDS)
        if passed > 0:
            self._before, self._now = (self._now if passed == 1 else 0), 0
            self._began_at += passed * WINDOW_SECONDS


class ListenerConnections:
    """Those of one listener."""

    __slots__ = ("closed", "created")

    def __init__(self, now: float) -> None:
        self.created, self.closed = EventRate(now), EventRate(now)

    @property
    def open(self) -> int:
        return self.created.count - self.closed.count


_FAMILIES: Final[tuple[tuple[str, Kind, str, Callable[[ListenerConnections, float], float]], ...]] = (
    ("count", "gauge", "Open connections", lambda of, now: of.open),
    ("creation_total", "counter", "Connections accepted", lambda of, now: of.created.count),
    ("creation_rate", "gauge", "Connections accepted a second", lambda of, now: of.created.per_second(now)),
    ("close_total", "counter", "Connections closed", lambda of, now: of.closed.count),
    ("close_rate", "gauge", "Connections closed a second", lambda of, now: of.closed.per_second(now)),
)  # fmt: skip


def connections_text(by_listener: Mapping[str, ListenerConnections], now: float) -> Iterator[str]:
    for name, kind, about, read in _FAMILIES:
        samples = (
            (round(read(of, now), 3), labelled(listener=listener, networkProcessor=0))
            for listener, of in sorted(by_listener.items())
        )
        yield from family(_PREFIX + name, kind, about, samples)
