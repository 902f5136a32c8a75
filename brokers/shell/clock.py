"""The node's clock: wall time that never runs backwards within a process."""

import time

from brokers.ids import Instant


class Clock:
    """Begins at the wall clock and advances with the monotonic one: timers do not follow a system clock that is set."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> Instant:
        return int((time.monotonic() + self._offset) * 1000)
