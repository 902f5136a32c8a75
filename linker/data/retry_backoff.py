"""How long to wait before a retry, and for how long retries have failed."""

from brokers.ids import Instant
from brokers.timers import Act
from linker.region_client import RegionClient


class RetryBackoff:
    """Pauses double from `retry.backoff.ms` to `replica.fetch.backoff.ms`.

    Each is drawn from its upper half, so that many do not end at once.
    """

    def __init__(self, region: RegionClient) -> None:
        self._region = region
        self._retries = 0
        self._failing_since: Instant | None = None
        self._timer: int | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a retry is due later."""
        return self._timer is not None

    def wait(self, first_ms: int, longest_ms: int, retry: Act, now: Instant) -> None:
        """`retry` runs after the next pause."""

        def due(at: Instant) -> list[object]:
            self._timer = None
            return retry(at)

        self._timer = self._region.timers.set(now + self._pause(first_ms, longest_ms), due)

    def _pause(self, first_ms: int, longest_ms: int) -> int:
        pause = min(first_ms << min(self._retries, 16), longest_ms)
        self._retries += 1
        return pause // 2 + int(self._region.rng.random() * pause / 2)

    def failed_for(self, now: Instant) -> int:
        """Milliseconds since the first of the failures in a row; 0 if this is the first."""
        if self._failing_since is None:
            self._failing_since = now
        return now - self._failing_since

    def restore(self) -> None:
        """An attempt succeeded: begin with the shortest pause again."""
        self._retries, self._failing_since = 0, None

    def cancel(self) -> None:
        """There will be no retry."""
        self.restore()
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
