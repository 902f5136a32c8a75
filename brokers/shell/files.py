"""The real disk behind the `Files` port: one data directory, plain system calls, a bounded cache of open files.

Called from the node's loop, but for `sync`, which a worker thread may call while the loop appends to the same file:
it opens the file for itself and shares nothing but a set of names.
"""

import errno
import os
import resource
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

from brokers.ids import Buffer, Buffers
from brokers.ports import DiskError

OPEN_FILES_MAX = 2048
_BUFFERS_MAX = 1024  # IOV_MAX of Linux
_TEMPORARY_SUFFIX = ".tmp"

_HINTS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EROFS: "the file system is read-only; check it and mount it again",
    errno.EIO: "the device reports errors; check the disk",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
    errno.EACCES: "permission denied; check who owns the data directory",
}


class _Handle:
    """An open file and its size. Closed once nobody refers to it: what is being sent outlives a removed file."""

    __slots__ = ("__weakref__", "cut_at", "descriptor", "path", "size")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self.cut_at: int | None = None  # what is behind is not what it was when the file was opened
        self.size = os.fstat(descriptor).st_size

    def __del__(self) -> None:
        os.close(self.descriptor)


class DiskRange:
    """`FileRange` of an open file: `size` bytes from `position` on."""

    __slots__ = ("_handle", "position", "size")

    def __init__(self, handle: _Handle, position: int, size: int) -> None:
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
        with _refusals(self.path):
            return _read(self.descriptor, self.position, self.size)


class DiskFiles:
    """`Files` below one directory, which must exist."""

    def __init__(self, root: str | Path, *, open_files_max: int = OPEN_FILES_MAX) -> None:
        self._root = str(root)
        self._handles: OrderedDict[str, _Handle] = OrderedDict()
        self._left: WeakSet[_Handle] = WeakSet()  # forgotten, but a range holds them open
        # Half of what the process may open: connections need the rest.
        self._open_files_max = min(
            open_files_max, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2
        )
        # Directories all of whose names are on the disk for certain. None is at first: a process that was killed may
        # have left names that it never synced.
        self._synced_names: set[str] = set()

    def append(self, path: str, buffers: Buffers) -> int:
        try:
            handle = self._handle(path, create=True)
            _write_all(handle, buffers)
        except OSError as error:
            self.close(path)  # a part may have been written: the size is looked up again
            raise _refusal(path, error) from error
        return handle.size

    def read(self, path: str, position: int, size: int) -> Buffer:
        try:
            return _read(self._handle(path).descriptor, position, size)
        except OSError as error:
            raise _refusal(path, error) from error

    def refer(self, path: str, position: int, size: int) -> DiskRange:
        try:
            handle = self._handle(path)
        except OSError as error:
            raise _refusal(path, error) from error
        return DiskRange(handle, position, max(0, min(size, handle.size - position)))

    def size(self, path: str) -> int:
        with _refusals(path):
            return self._handle(path).size

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._path(path))

    def truncate(self, path: str, size: int) -> None:
        with _refusals(path):
            handle = self._handle(path)
            os.ftruncate(handle.descriptor, size)
            self._cut(path, size)
            os.fsync(handle.descriptor)

    def sync(self, path: str) -> None:
        with _refusals(path):
            _sync(self._path(path))
            directory = path
            while directory:
                directory = os.path.dirname(directory)
                if directory not in self._synced_names:
                    self._sync_names(directory)

    def replace(self, path: str, data: Buffer) -> None:
        with _refusals(path):
            self.close(path)
            temporary = self._path(path) + _TEMPORARY_SUFFIX
            descriptor = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644
            )
            try:
                _write_plainly(descriptor, memoryview(data))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, self._path(path))
            self._sync_names(os.path.dirname(path))

    def rename(self, path: str, new_path: str) -> None:
        with _refusals(path):
            self.close(path)
            self.close(new_path)
            os.rename(self._path(path), self._path(new_path))
            for directory in {os.path.dirname(path): None, os.path.dirname(new_path): None}:
                self._sync_names(directory)

    def remove(self, path: str) -> None:
        with _refusals(path):
            self.close(path)
            target = self._path(path)
            if not os.path.lexists(target):
                return
            if os.path.isdir(target):
                shutil.rmtree(target)
            else:
                os.unlink(target)
            self._sync_names(os.path.dirname(path))

    def make_directory(self, path: str) -> None:
        with _refusals(path):
            if not os.path.isdir(self._path(path)):
                os.makedirs(self._path(path))
                self._synced_names.discard(os.path.dirname(path))

    def list(self, path: str) -> Iterator[str]:
        with _refusals(path):
            directory = self._path(path)
            return iter(sorted(os.listdir(directory)) if os.path.isdir(directory) else [])

    def close(self, path: str) -> None:
        handle = self._handles.pop(path, None)
        if handle is not None:
            self._left.add(handle)
            return
        for name in [name for name in self._handles if name.startswith(f"{path}/")]:
            self._left.add(self._handles.pop(name))

    def _cut(self, path: str, size: int) -> None:
        """Ranges that reach behind a cut are void, though more be appended; the file gets a handle without a past."""
        self.close(path)
        for handle in self._left:
            if handle.path == path:
                handle.cut_at = size if handle.cut_at is None else min(size, handle.cut_at)

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _handle(self, path: str, *, create: bool = False) -> _Handle:
        handle = self._handles.get(path)
        if handle is not None:
            self._handles.move_to_end(path)
            return handle
        return self._open(path, create)

    def _open(self, path: str, create: bool) -> _Handle:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path(path), flags)
        except FileNotFoundError:
            if not create:
                raise
            descriptor = os.open(self._path(path), flags | os.O_CREAT, 0o644)
            self._synced_names.discard(os.path.dirname(path))
        while len(self._handles) >= self._open_files_max:
            self._left.add(self._handles.popitem(last=False)[1])
        handle = self._handles[path] = _Handle(path, descriptor)
        return handle

    def _sync_names(self, directory: str) -> None:
        # Before the sync: a name that comes meanwhile asks for another.
        self._synced_names.add(directory)
        try:
            _sync(self._path(directory))
        except OSError:
            self._synced_names.discard(directory)
            raise


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """For all but the byte path, where a context manager costs more than the call."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: str, error: OSError) -> DiskError:
    """What the system refused, as the port's error with what to do about it."""
    hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
    return DiskError(f"{path}: {hint}")


def _write_all(handle: _Handle, buffers: Buffers) -> None:
    """Append everything; a short write (a signal, a nearly full disk) is continued until the disk says why."""
    while len(buffers) > _BUFFERS_MAX:
        _write_all(handle, buffers[:_BUFFERS_MAX])
        buffers = buffers[_BUFFERS_MAX:]
    written = os.writev(handle.descriptor, buffers)
    handle.size += written
    if written < sum(map(len, buffers)):
        rest = memoryview(b"".join(buffers))[written:]
        _write_plainly(handle.descriptor, rest)
        handle.size += len(rest)


def _write_plainly(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read(descriptor: int, position: int, size: int) -> bytes:
    """Up to the end of the file, however often the system cuts the read short."""
    data = os.pread(descriptor, size, position)
    while 0 < len(data) < size:
        more = os.pread(descriptor, size - len(data), position + len(data))
        if not more:
            break
        data += more
    return data


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
