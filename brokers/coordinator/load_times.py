"""How long partitions of a coordinator's topic took to load (Kafka's partition-load-time, KIP-475)."""

from collections import deque
from typing import Final

from brokers.ids import Instant

WINDOW_MS: Final = 30_000  # over which Kafka takes the maximum and the average


class LoadTimes:
    """Milliseconds from the start of a load, its waiting for other partitions included, to its end."""

    def __init__(self) -> None:
        self._ended: deque[tuple[Instant, int]] = deque()  # (end, duration), in the order of ends

    def add(self, began: Instant, now: Instant) -> None:
        self._ended.append((now, now - began))
        self.recent(now)

    def recent(self, now: Instant) -> list[int]:
        """Of the loads that ended in the last 30 s."""
        while self._ended and self._ended[0][0] <= now - WINDOW_MS:
            self._ended.popleft()
        return [taken for _, taken in self._ended]
