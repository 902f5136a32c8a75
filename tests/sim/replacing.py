"""Files that are replaced later, on a disk in memory, which knows no threads."""

from collections.abc import Callable


class SimReplacing:
    """`Replacing`."""

    def __init__(self, replace: Callable[[], None]) -> None:
        self._replace = replace
        self.is_over = False
        self.is_durable = False

    def run(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._replace()
            self.is_durable = True

    def give_up(self) -> None:
        self.is_over = True
