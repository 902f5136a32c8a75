"""How many partitions a broker creates because Metadata requests ask for them (KIP-599).

A token bucket, as Kafka's: a token for each partition, `rate` more a second, at most those of the whole window. What is
asked for while there is a token is granted as a whole, and the bucket may owe some afterwards.
"""

from brokers.ids import Instant


class ControllerMutationQuota:
    """`rate` None: without limit."""

    def __init__(self, rate: int | None, window_seconds: int) -> None:
        self._rate = rate
        self._tokens_max = 0 if rate is None else rate * window_seconds
        self._tokens = float(self._tokens_max)
        self._filled_at: Instant | None = None

    def take(self, partitions: int, now: Instant) -> bool:
        """Whether so many partitions may be created now."""
        if self._rate is None:
            return True
        since = 0 if self._filled_at is None else max(0, now - self._filled_at)
        self._filled_at = now
        self._tokens = min(self._tokens_max, self._tokens + self._rate * since / 1_000)
        if self._tokens <= 0:
            return False
        self._tokens -= partitions
        return True
