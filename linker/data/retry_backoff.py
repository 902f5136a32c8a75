"""How long to wait before a retry, and for how long retries have failed."""

from typing import Final

from brokers.ids import Instant
from brokers.ports import Rng

PAUSE_MS_MAX: Final = 5_000


class RetryBackoff:
    """Pauses double from `retry.backoff.ms`. Each is drawn from its upper half, so that many do not end at once."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._retries = 0
        self._failing_since: Instant | None = None

    def pause(self, first_ms: int) -> int:
        """Milliseconds until the next attempt."""
        pause = min(first_ms << min(self._retries, 16), PAUSE_MS_MAX)
        self._retries += 1
        return pause // 2 + int(self._rng.random() * pause / 2)

    def failed_for(self, now: Instant) -> int:
        """Milliseconds since the first of the failures in a row; 0 if this is the first."""
        if self._failing_since is None:
            self._failing_since = now
        return now - self._failing_since

    def restore(self) -> None:
        """An attempt succeeded: begin with the shortest pause again."""
        self._retries, self._failing_since = 0, None
