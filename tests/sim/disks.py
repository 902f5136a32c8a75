"""A node's disk: `SimFiles` with a fuse that kills the node between any two operations, and with witnesses.

One sees every byte that reaches a log, however short it stays: a checker can ask later what was ever written. Another
sees what a node takes from a log, just after it has.
"""

from collections.abc import Callable
from uuid import UUID

from brokers.ids import NO_ID, Buffer, Buffers
from brokers.ports import Rng
from tests.sim.fused import Fused

Witness = Callable[[str, bytes], None]  # path, bytes appended
_LOG = ".log"


class Killed(BaseException):
    """The process ends here, in the middle of a step. No error of the disk: nobody may catch it."""


class Disk(Fused):
    """`fuse` changes from now the process is killed; None: it lives.

    `directory` is what its `meta.properties` say: a node never takes one disk for another.
    `on_crash` is given the loss of power, to see what it takes; `losses` counts what no process has done. `on_removed`
    is told the path of a log's file, and what was in it and is not in that log any more; `on_replaced` the path of a
    file that was written anew.
    """

    def __init__(self, witness: Witness, directory: UUID = NO_ID) -> None:
        super().__init__()
        self.directory = directory
        self.fuse: int | None = None
        self.on_crash: Callable[[Callable[[], None]], None] = lambda crash: crash()
        self.on_removed: Callable[[str, bytes], None] = lambda path, data: None
        self.on_replaced: Callable[[str], None] = lambda path: None
        self.losses = 0
        self._witness = witness

    def append(self, path: str, buffers: Buffers) -> int:
        before = self.size(path) if self.exists(path) else 0
        try:
            return super().append(path, buffers)
        finally:
            if buffers and path.endswith(_LOG) and self.exists(path):
                self._witness(path, bytes(self.read(path, before, self.size(path) - before)))

    def truncate(self, path: str, size: int) -> None:
        lost = self._log_of(path, size)
        super().truncate(path, size)
        self._tell(lost)

    def remove(self, path: str) -> None:
        lost = self._logs_at(path)
        super().remove(path)
        self._tell(lost)

    def rename(self, path: str, new_path: str) -> None:
        lost = self._logs_at(path)
        super().rename(path, new_path)
        self._tell(lost)

    def change(self, path: str, new_path: str | None) -> None:
        lost = self._log_of(path)
        super().change(path, new_path)
        self._tell(lost)

    def replace(self, path: str, data: Buffer) -> None:
        super().replace(path, data)
        self.on_replaced(path)

    def _logs_at(self, path: str) -> list[tuple[str, bytes]]:
        """Of a log's file, or of those in a log's folder: the path and what it holds."""
        if path.endswith(_LOG) or self.is_file(path):
            return self._log_of(path)
        names = [name for name in self.list(path) if name.endswith(_LOG)]
        return [each for name in names for each in self._log_of(f"{path}/{name}")]

    def _log_of(self, path: str, position: int = 0) -> list[tuple[str, bytes]]:
        if not (path.endswith(_LOG) and self.is_file(path)):
            return []
        return [(path, bytes(self.read(path, position, self.size(path) - position)))]

    def _tell(self, lost: list[tuple[str, bytes]]) -> None:
        for path, data in lost:
            if data:
                self.on_removed(path, data)

    def crash(self, rng: Rng) -> None:
        self.losses += 1
        self.on_crash(lambda: super(Disk, self).crash(rng))

    def wipe(self, directory: UUID) -> None:
        """Another disk in its place, with nothing on it."""
        self.losses += 1
        self.remove_all()
        self.directory = directory

    def burn(self) -> None:
        if self.fuse is None:
            return
        if self.fuse == 0:
            self.fuse = None
            self.end_process()
            raise Killed
        self.fuse -= 1
