"""How much a stream carries in a round trip, as its receiver sees it.

A receiver measures rounds by the credit that it gives (as TCP's do by their window: Fisk, Feng: Dynamic Right-Sizing in
TCP, 2001; Linux does it so): a byte beyond all that was granted when a round began can come a round trip later at the
earliest, but for the few chunks by which a source may exceed its credit. So the shortest round is a round trip, or more
where the window is not what limits the stream.

Where the window is what limits it, all of it comes at once, and nothing more until the credit for it has gone back and
been used: of such a round the longest time in which nothing was here to place is left out. What is left says how fast
the network and the log are, so that a window reaches its size in one step, not by doubling every second round trip.
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
        self._silent_ms = 0  # the longest time of this round in which nothing was here
        self._silent_since: Instant | None = None
        self._arrived_bytes = 0
        self._arrived_before = 0  # this round
        self._ends_above = 0
        self._largest_bytes = 0
        self._first_bytes: int | None = None  # of credit, until they have come
        self._began_at: Instant = 0

    def opened(self, granted_bytes: int, now: Instant) -> None:
        """So much is granted now, and nothing was before: the first byte comes a round trip later at the earliest."""
        self._first_bytes, self._began_at = granted_bytes, now

    def carries(
        self, size: int, granted_bytes: int, now: Instant, *, is_last: bool = False
    ) -> int | None:
        """`size` bytes more are placed. At the end of a round, how many can be in a round trip at this rate; else None.

        `is_last`: nothing more is here to place.
        """
        self._arrived_bytes += size
        self._largest_bytes = max(self._largest_bytes, size)
        if self._silent_since is not None:
            self._silent_ms = max(self._silent_ms, now - self._silent_since)
        self._silent_since = now if is_last else None
        if self._arrived_bytes - CHUNKS_BEYOND * self._largest_bytes <= self._ends_above:
            return self._first_credit_carries(now)
        self.lasted_ms = max(1, now - self._began_at)
        self.round_trip_ms = min(self.round_trip_ms, self.lasted_ms)
        carried = self._in_a_round_trip(self._busy_ms())
        self._began_at, self._arrived_before, self._silent_ms = now, self._arrived_bytes, 0
        self._ends_above = granted_bytes
        return carried

    def _first_credit_carries(self, now: Instant) -> int | None:
        """The same once all has come that the first credit allowed, if that was sooner than a round trip.

        The second round is its: the first one has told how long a round trip is at most, if the handshake has not.
        """
        if self._first_bytes is None or not self._ends_above:
            return None
        if self._arrived_bytes < self._first_bytes:
            return None
        self._first_bytes, busy_ms = None, now - self._began_at
        return self._in_a_round_trip(max(1, busy_ms)) if busy_ms < self.round_trip_ms else None

    def _in_a_round_trip(self, busy_ms: int) -> int:
        return (self._arrived_bytes - self._arrived_before) * self.round_trip_ms // busy_ms

    def _busy_ms(self) -> int:
        """Of the round that ends. The first one had no credit yet to use up; one of two round trips and more has waited
        for something else."""
        if not self._ends_above or self.lasted_ms >= 2 * self.round_trip_ms:
            return self.lasted_ms
        return max(1, self.lasted_ms - self._silent_ms)
