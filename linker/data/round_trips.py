"""How much a stream carries in a round trip, as its receiver sees it.

A receiver measures rounds by the credit that it gives (as TCP's do by their window: Fisk, Feng: Dynamic Right-Sizing in
TCP, 2001; Linux does it so): a byte beyond all that was granted when a round began can come a round trip later at the
earliest, but for the few chunks by which a source may exceed its credit. So the shortest round is a round trip, or more
where the window is not what limits the stream.
"""

from typing import Final

from brokers.ids import Instant

CHUNKS_BEYOND: Final = 4  # that a source reads at once, each as long as a batch may be


class RoundTrips:
    """`round_trip_ms` is never less than what it takes."""

    def __init__(self, round_trip_ms: int) -> None:
        """As long as an answer took when the stream was opened."""
        self.round_trip_ms = round_trip_ms
        self.lasted_ms = 0  # the round before
        self._arrived_bytes = 0
        self._arrived_before = 0  # this round
        self._ends_above = 0
        self._largest_bytes = 0
        self._began_at: Instant | None = None

    def carries(self, size: int, granted_bytes: int, now: Instant) -> int | None:
        """`size` bytes more have come. At the end of a round, how many do in a round trip at this rate; else None."""
        self._arrived_bytes += size
        self._largest_bytes = max(self._largest_bytes, size)
        began_at = self._began_at
        beyond = self._arrived_bytes - CHUNKS_BEYOND * self._largest_bytes
        if began_at is not None and beyond <= self._ends_above:
            return None
        before = self._arrived_before
        self._began_at, self._arrived_before = now, self._arrived_bytes
        self._ends_above = granted_bytes
        if began_at is None:
            return None
        self.lasted_ms = max(1, now - began_at)
        self.round_trip_ms = min(self.round_trip_ms, self.lasted_ms)
        return (self._arrived_bytes - before) * self.round_trip_ms // self.lasted_ms
