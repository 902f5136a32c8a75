"""Appends to open files: at once, or by the first thread that runs a `DiskAppending`."""

import os
from threading import Lock
from typing import Final

from brokers.ids import Buffers
from brokers.ports import DiskError
from brokers.shell.handles import Handle
from brokers.shell.refusals import refusal

_BUFFERS_MAX: Final = 1024  # IOV_MAX of Linux


class DiskAppending:
    """`Appending` of the real disk."""

    def __init__(self, handle: Handle, buffers: Buffers) -> None:
        handle.writing = True
        self._handle = handle
        self._buffers = buffers
        self._outcome: int | DiskError | None = None
        self._lock = Lock()

    def run(self) -> int:
        with self._lock:
            if self._outcome is None:
                self._end(self._append())
            if isinstance(self._outcome, DiskError):
                raise self._outcome
            assert self._outcome is not None
            return self._outcome

    def give_up(self) -> None:
        with self._lock:
            if self._outcome is None:
                self._end(DiskError(f"{self._handle.path}: given up"))

    def _append(self) -> int | DiskError:
        try:
            append_all(self._handle, self._buffers)
        except OSError as error:
            return refusal(self._handle.path, error)
        return self._handle.size

    def _end(self, outcome: int | DiskError) -> None:
        self._outcome = outcome
        self._buffers = ()
        self._handle.writing = False


def append_all(handle: Handle, buffers: Buffers) -> None:
    """Append everything; a short write (a signal, a nearly full disk) is continued until an error."""
    while len(buffers) > _BUFFERS_MAX:
        append_all(handle, buffers[:_BUFFERS_MAX])
        buffers = buffers[_BUFFERS_MAX:]
    written = os.writev(handle.descriptor, buffers)
    handle.size += written
    if written < sum(map(len, buffers)):
        rest = memoryview(b"".join(buffers))[written:]
        write_all(handle.descriptor, rest)
        handle.size += len(rest)


def write_all(descriptor: int, data: memoryview) -> None:
    """Write everything at the descriptor's position; short writes are continued."""
    while data:
        data = data[os.write(descriptor, data) :]
