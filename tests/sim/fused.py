"""A disk whose process may end just before any operation that changes it."""

from collections.abc import Sequence

from brokers.ids import Buffer, Buffers
from tests.sim.files import SimFiles


class Fused(SimFiles):
    """`burn` is called before each change, and raises where the process ends."""

    def burn(self) -> None:
        raise NotImplementedError

    def append(self, path: str, buffers: Buffers) -> int:
        self.burn()
        return super().append(path, buffers)

    def truncate(self, path: str, size: int) -> None:
        self.burn()
        super().truncate(path, size)

    def sync(self, path: str) -> None:
        self.burn()
        super().sync(path)

    def replace(self, path: str, data: Buffer) -> None:
        self.burn()
        super().replace(path, data)

    def write(self, path: str, data: Buffer) -> None:
        self.burn()
        super().write(path, data)

    def finish(self, temporary: str, path: str) -> None:
        self.burn()
        super().finish(temporary, path)

    def rename(self, path: str, new_path: str) -> None:
        self.burn()
        super().rename(path, new_path)

    def remove(self, path: str) -> None:
        self.burn()
        super().remove(path)

    def change(self, path: str, new_path: str | None) -> None:
        self.burn()
        super().change(path, new_path)

    def sync_changes(self, paths: Sequence[str]) -> None:
        self.burn()
        super().sync_changes(paths)
