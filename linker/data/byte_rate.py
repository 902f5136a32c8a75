"""How many bytes a second a link copies to one broker (`io.max.bytes.per.second`): a limit on the credit it gives."""

from collections import deque
from collections.abc import Callable
from typing import Final

from brokers.ids import Instant
from linker.region_client import Effects, RegionClient

MS: Final = 1_000


class ByteRate:
    """A token bucket, shared by all streams of a link on this broker. It holds a second's worth at most."""

    def __init__(self, region: RegionClient, limit: Callable[[], int]) -> None:
        """`limit` returns bytes a second; 0 is no limit."""
        self._region = region
        self._limit = limit
        self._waiting: deque[tuple[int, Callable[[], Effects]]] = deque()
        self._tokens = 0.0
        self._filled_at: Instant | None = None
        self._is_armed = False

    @property
    def limit(self) -> int:
        return self._limit()

    def defer(self, size: int, grant: Callable[[], Effects]) -> None:
        """`grant` runs when `size` bytes more may be asked for: at once where the bucket is not empty."""
        self._waiting.append((size, grant))
        self._arm(0)

    def _arm(self, due: Instant) -> None:
        if not self._is_armed:
            self._is_armed = True
            self._region.timers.set(due, self._serve)

    def _serve(self, now: Instant) -> Effects:
        self._is_armed = False
        limit = self.limit
        since = now - self._filled_at if self._filled_at is not None else MS
        self._filled_at = now
        self._tokens = min(limit, self._tokens + limit * max(0, since) / MS)
        effects: Effects = []
        while self._waiting and (self._tokens > 0 or not limit):
            size, grant = self._waiting.popleft()
            self._tokens -= size if limit else 0
            effects += grant()
        if self._waiting:
            # Not much later, since the limit may be changed.
            self._arm(now + min(MS, 1 + int(-self._tokens * MS / limit)))
        return effects
