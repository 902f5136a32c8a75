"""A node's disk: `SimFiles` with a fuse that kills the node between any two operations, and with a witness.

The witness sees every byte that reaches a log, however short it stays: a checker can ask later what was ever written.
"""

from collections.abc import Callable
from uuid import UUID

from brokers.ids import NO_ID, Buffers
from brokers.ports import Rng
from tests.sim.fused import Fused

Witness = Callable[[str, bytes], None]  # path, bytes appended


class Killed(BaseException):
    """The process ends here, in the middle of a step. No error of the disk: nobody may catch it."""


class Disk(Fused):
    """`fuse` changes from now the process is killed; None: it lives.

    `directory` is what its `meta.properties` say: a node never takes one disk for another.
    `on_crash` is given the loss of power, to see what it takes.
    """

    def __init__(self, witness: Witness, directory: UUID = NO_ID) -> None:
        super().__init__()
        self.directory = directory
        self.fuse: int | None = None
        self.on_crash: Callable[[Callable[[], None]], None] = lambda crash: crash()
        self._witness = witness

    def append(self, path: str, buffers: Buffers) -> int:
        before = self.size(path) if self.exists(path) else 0
        try:
            return super().append(path, buffers)
        finally:
            if buffers and path.endswith(".log") and self.exists(path):
                self._witness(path, bytes(self.read(path, before, self.size(path) - before)))

    def crash(self, rng: Rng) -> None:
        self.on_crash(lambda: super(Disk, self).crash(rng))

    def wipe(self, directory: UUID) -> None:
        """Another disk in its place, with nothing on it."""
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
