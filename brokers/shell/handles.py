"""Open files, and ranges of them that can be handed on unread."""

import os

from brokers.shell.refusals import refusals


class Handle:
    """An open file and its size. Closed once nobody refers to it: what is being sent outlives a removed file."""

    __slots__ = ("__weakref__", "cut_at", "descriptor", "path", "size", "writing")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self.cut_at: int | None = None  # what is behind is not what it was when the file was opened
        self.size = os.fstat(descriptor).st_size
        self.writing = False  # in another thread, which alone knows the size

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
        """Whether the file was truncated since, and not all of the range is left."""
        cut_at = self._handle.cut_at
        return cut_at is not None and cut_at < self.position + self.size

    @property
    def descriptor(self) -> int:
        """Of the file; open as long as the range is there."""
        return self._handle.descriptor

    def __bytes__(self) -> bytes:
        with refusals(self.path):
            return read_at(self.descriptor, self.position, self.size)


def read_at(descriptor: int, position: int, size: int) -> bytes:
    """Up to the end of the file, however often the system cuts the read short."""
    data = os.pread(descriptor, size, position)
    while 0 < len(data) < size:
        more = os.pread(descriptor, size - len(data), position + len(data))
        if not more:
            break
        data += more
    return data
