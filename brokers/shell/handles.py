"""Open files, and ranges of files that are sent without being read."""

import os

from brokers.shell.refusals import refusals


class Handle:
    """An open file and its size. Closed when nothing refers to it: ranges of a removed file can still be sent."""

    __slots__ = ("__weakref__", "cut_at", "descriptor", "path", "size", "writing")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self.cut_at: int | None = None  # the file was truncated here since it was opened
        self.size = os.fstat(descriptor).st_size
        self.writing = False  # in another thread, which updates `size`

    def __del__(self) -> None:
        os.close(self.descriptor)


class DiskRange:
    """`FileRange` of an open file: `size` bytes from `position` on."""

    __slots__ = ("_handle", "position", "size")

    def __init__(self, handle: Handle, position: int, size: int) -> None:
        self._handle = handle
        self.position = position
        self.size = size

    def __len__(self) -> int:
        return self.size

    @property
    def path(self) -> str:
        return self._handle.path

    @property
    def is_cut(self) -> bool:
        """Whether the file was truncated within the range since."""
        cut_at = self._handle.cut_at
        return cut_at is not None and cut_at < self.position + self.size

    @property
    def descriptor(self) -> int:
        """The file's descriptor, which is open as long as the range exists."""
        return self._handle.descriptor

    def __bytes__(self) -> bytes:
        with refusals(self.path):
            return read_at(self.descriptor, self.position, self.size)


def read_at(descriptor: int, position: int, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end of the file; short reads are continued."""
    data = os.pread(descriptor, size, position)
    while 0 < len(data) < size:
        more = os.pread(descriptor, size - len(data), position + len(data))
        if not more:
            break
        data += more
    return data
