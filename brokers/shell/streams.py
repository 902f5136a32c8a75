"""Files that a worker thread reads or writes."""

import os
from contextlib import suppress

from brokers.ids import Buffer
from brokers.shell.appending import write_all
from brokers.shell.refusals import refusal, refusals


class DiskReader:
    """`FileReader` of the real disk."""

    def __init__(self, path: str, root: str) -> None:
        self._path = path
        with refusals(path):
            self._descriptor = os.open(os.path.join(root, path), os.O_RDONLY | os.O_CLOEXEC)

    def read(self, position: int, size: int) -> bytes:
        try:
            return os.pread(self._descriptor, size, position)
        except OSError as error:
            raise refusal(self._path, error) from error

    def close(self) -> None:
        os.close(self._descriptor)


class DiskWriter:
    """`FileWriter` of the real disk."""

    def __init__(self, path: str, root: str, temporary_suffix: str) -> None:
        self._path = path
        self._target = os.path.join(root, path)
        self._temporary = self._target + temporary_suffix
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with refusals(path):
            self._descriptor = os.open(self._temporary, flags, 0o644)

    def write(self, data: Buffer) -> None:
        with refusals(self._path):
            write_all(self._descriptor, memoryview(data))

    def finish(self) -> None:
        with refusals(self._path):
            os.fsync(self._descriptor)
            os.replace(self._temporary, self._target)
            self._close()

    def give_up(self) -> None:
        self._close()
        with suppress(OSError):
            os.unlink(self._temporary)

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
