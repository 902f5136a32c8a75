"""Files that are replaced by another thread than the loop's."""

from collections.abc import Callable
from threading import Lock


class DiskReplacing:
    """`Replacing` of the real disk. `replace` raises `DiskError`."""

    def __init__(self, replace: Callable[[], None]) -> None:
        self._replace = replace
        self._lock = Lock()
        self.is_over = False
        self.is_durable = False

    def run(self) -> None:
        with self._lock:
            if self.is_over:
                return
            try:
                self._replace()
                self.is_durable = True
            finally:
                self.is_over = True

    def give_up(self) -> None:
        with self._lock:
            self.is_over = True
