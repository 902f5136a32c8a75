"""The real disk behind the `Files` port: one data directory, plain system calls, a bounded cache of open files.

Called from the node's loop, except `sync`, `touch`, `reader` and `writer`, which a worker thread may call while the
loop appends to the same file: they open the file themselves and share only a set of names and its lock, as the results
of `begin_changes`, `begin_removal` and `begin_replace` do. That of `begin_append` writes to the file that
the loop opened, which stays open until then.
"""

import os
import resource
import shutil
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import RLock
from weakref import WeakSet

from brokers.ids import Buffer, Buffers
from brokers.ports import DiskError, FileWriter, SyncError, Volume
from brokers.shell.appending import DiskAppending, append_all, write_all
from brokers.shell.handles import DiskRange, Handle, read_at
from brokers.shell.preallocation import preallocate
from brokers.shell.refusals import refusal, refusals
from brokers.shell.replacing import DiskReplacing
from brokers.shell.streams import DiskReader, DiskWriter
from brokers.shell.unlinking import close_all, unlink

OPEN_FILES_MAX = 2048
_TEMPORARY_SUFFIX = ".tmp"
_REWRITE_BYTES = 1 << 20


class DiskFiles:
    """`Files` below one directory, which must exist."""

    def __init__(self, root: str | Path, *, open_files_max: int = OPEN_FILES_MAX) -> None:
        self._root = str(root)
        self._handles: OrderedDict[str, Handle] = OrderedDict()
        # Paths of open files, by directory.
        self._open_below: defaultdict[str, set[str]] = defaultdict(set)
        self._left: WeakSet[Handle] = WeakSet()  # no longer in `_handles`, but held open by a range
        # Half of the process's limit: connections need the rest.
        self._open_files_max = min(
            open_files_max, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2
        )
        # Directories whose entries are all synced. None is at first: a process that was killed may have left entries
        # that it never synced.
        self._synced_names: set[str] = set()
        # Held during the sync of a directory: no other thread may rely on a sync that has not ended.
        self._naming = RLock()

    @property
    def root(self) -> str:
        """The directory's path."""
        return self._root

    def append(self, path: str, buffers: Buffers) -> int:
        try:
            handle = self._handle(path, create=True)
            append_all(handle, buffers)
        except OSError as error:
            self.close(path)  # a part may have been written: the next handle reads the size
            raise refusal(path, error) from error
        return handle.size

    def begin_append(self, path: str, buffers: Buffers) -> DiskAppending:
        with refusals(path):
            return DiskAppending(self._handle(path, create=True), buffers)

    def read(self, path: str, position: int, size: int) -> Buffer:
        try:
            return read_at(self._handle(path).descriptor, position, size)
        except OSError as error:
            raise refusal(path, error) from error

    def refer(self, path: str, position: int, size: int) -> DiskRange:
        try:
            handle = self._handle(path)
        except OSError as error:
            raise refusal(path, error) from error
        return DiskRange(handle, position, max(0, min(size, handle.size - position)))

    def size(self, path: str) -> int:
        with refusals(path):
            return self._handle(path).size

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._path(path))

    def truncate(self, path: str, size: int) -> None:
        with refusals(path):
            handle = self._handle(path)
            os.ftruncate(handle.descriptor, size)
            self._cut(path, size)
        self.sync(path)  # if it fails, the bytes before the cut are in doubt too

    def sync(self, path: str) -> None:
        try:
            _sync(self._path(path))
            directory = path
            while directory:
                directory = os.path.dirname(directory)
                with self._naming:
                    if directory not in self._synced_names:
                        self._sync_names(directory)
        except FileNotFoundError as error:
            raise refusal(path, error) from error
        except OSError as error:
            raise SyncError(str(refusal(path, error))) from error

    def preallocate(self, path: str, size: int) -> None:
        with refusals(path):
            preallocate(self._handle(path, create=True).descriptor, size)

    def release(self, path: str) -> None:
        with refusals(path):
            handle = self._handle(path)
            os.ftruncate(handle.descriptor, handle.size)

    def touch(self, path: str) -> None:
        with refusals(path):
            os.close(os.open(self._path(path), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))

    def reader(self, path: str) -> DiskReader:
        return DiskReader(path, self._root)

    def writer(self, path: str) -> FileWriter:
        return DiskWriter(path, self._root, _TEMPORARY_SUFFIX)

    def rewrite(self, path: str, position: int) -> None:
        # A descriptor without O_APPEND, with which Linux would put every write at the end.
        with refusals(path):
            descriptor = os.open(self._path(path), os.O_RDWR | os.O_CLOEXEC)
            try:
                while data := read_at(descriptor, position, _REWRITE_BYTES):
                    _write_at(descriptor, data, position)
                    position += len(data)
            finally:
                os.close(descriptor)

    def replace(self, path: str, data: Buffer) -> None:
        self.close(path)
        self._replace(path, data)

    def begin_replace(self, path: str, data: Buffer) -> DiskReplacing:
        self.close(path)
        return DiskReplacing(partial(self._replace, path, data))

    def _replace(self, path: str, data: Buffer) -> None:
        with refusals(path):
            self._put_in_place(path, data, durably=True)
            self._sync_names(os.path.dirname(path))

    def write(self, path: str, data: Buffer) -> None:
        self.close(path)
        with refusals(path):
            self._put_in_place(path, data, durably=False)
            self._synced_names.discard(os.path.dirname(path))

    def _put_in_place(self, path: str, data: Buffer, *, durably: bool) -> None:
        temporary = self._path(path) + _TEMPORARY_SUFFIX
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            write_all(descriptor, memoryview(data))
            if durably:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, self._path(path))

    def rename(self, path: str, new_path: str) -> None:
        with refusals(path):
            self.close(path)
            self.close(new_path)
            os.rename(self._path(path), self._path(new_path))
            for directory in {os.path.dirname(path): None, os.path.dirname(new_path): None}:
                self._sync_names(directory)

    def remove(self, path: str) -> None:
        with refusals(path):
            self.close(path)
            target = self._path(path)
            if not os.path.lexists(target):
                return
            if os.path.isdir(target):
                shutil.rmtree(target)
            else:
                os.unlink(target)
            self._sync_names(os.path.dirname(path))

    def remove_several(self, paths: Sequence[str]) -> None:
        for path in paths:
            with refusals(path):
                self.close(path)
                with suppress(FileNotFoundError):
                    os.unlink(self._path(path))
        self._sync_folders(paths)

    def begin_removal(self, paths: Sequence[str]) -> Callable[[], None]:
        held: list[int] = []
        try:
            for path in paths:
                with refusals(path):
                    self.close(path)
                    unlink(self._path(path), held)
        except DiskError:
            close_all(held)
            raise
        return partial(self._end_removal, held, paths)

    def _end_removal(self, held: list[int], paths: Sequence[str]) -> None:
        close_all(held)
        self._sync_folders(paths)

    def rename_several(self, renames: Sequence[tuple[str, str]]) -> None:
        for path, new_path in renames:
            with refusals(path):
                self.close(path)
                self.close(new_path)
                os.rename(self._path(path), self._path(new_path))
        self._sync_folders([new_path for _, new_path in renames])

    def begin_changes(
        self, removed: Sequence[str], renames: Sequence[tuple[str, str]]
    ) -> Callable[[], None]:
        for path in removed:
            with refusals(path):
                self.close(path)
                with suppress(FileNotFoundError):
                    os.unlink(self._path(path))
        for path, new_path in renames:
            with refusals(path):
                self._rename_open(path, new_path)
        changed = [*removed, *(new_path for _, new_path in renames)]
        self._synced_names.difference_update(map(os.path.dirname, changed))
        return partial(self._sync_folders, changed)

    def _rename_open(self, path: str, new_path: str) -> None:
        """Ranges of the file are of its new name from now on, also when that is cut."""
        handle = self._handles.get(path)
        self.close(path)
        self.close(new_path)
        os.rename(self._path(path), self._path(new_path))
        if handle is not None:
            handle.path = new_path

    def _sync_folders(self, paths: Sequence[str]) -> None:
        for directory in dict.fromkeys(map(os.path.dirname, paths)):
            with refusals(directory):
                self._sync_names(directory)

    def make_directory(self, path: str) -> None:
        with refusals(path):
            if not os.path.isdir(self._path(path)):
                os.makedirs(self._path(path))
                self._synced_names.discard(os.path.dirname(path))

    def list(self, path: str) -> Iterator[str]:
        with refusals(path):
            directory = self._path(path)
            return iter(sorted(os.listdir(directory)) if os.path.isdir(directory) else [])

    def close(self, path: str) -> None:
        if path in self._handles:
            self._leave(path)
            return
        for name in list(self._open_below.get(path, ())):
            self._leave(name)

    def _leave(self, path: str) -> None:
        self._left.add(self._handles.pop(path))
        for directory in _above(path):
            names = self._open_below[directory]
            names.discard(path)
            if not names:
                del self._open_below[directory]

    def space(self) -> Volume:
        with refusals(self._root):
            found = os.statvfs(self._root)
        return Volume(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    def _cut(self, path: str, size: int) -> None:
        """Ranges that reach behind a cut are void, though more be appended; the file gets a handle without a past."""
        self.close(path)
        for handle in self._left:
            if handle.path == path:
                handle.cut_at = size if handle.cut_at is None else min(size, handle.cut_at)

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _handle(self, path: str, *, create: bool = False) -> Handle:
        handle = self._handles.get(path)
        if handle is not None:
            self._handles.move_to_end(path)
            return handle
        return self._open(path, create)

    def _open(self, path: str, create: bool) -> Handle:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path(path), flags)
        except FileNotFoundError:
            if not create:
                raise
            descriptor = os.open(self._path(path), flags | os.O_CREAT, 0o644)
            self._synced_names.discard(os.path.dirname(path))
        while len(self._handles) >= self._open_files_max and (least_used := self._least_used()):
            self._leave(least_used)
        handle = self._handles[path] = Handle(path, descriptor)
        for directory in _above(path):
            self._open_below[directory].add(path)
        return handle

    def _least_used(self) -> str | None:
        """The least recently used file that is not being written."""
        return next((name for name, each in self._handles.items() if not each.writing), None)

    def _sync_names(self, directory: str) -> None:
        with self._naming:
            # Before the sync: a name that is added during the sync needs another one.
            self._synced_names.add(directory)
            try:
                _sync(self._path(directory))
            except OSError:
                self._synced_names.discard(directory)
                raise


def _above(path: str) -> Iterator[str]:
    """The directories that a path lies in, the nearest first; not the root."""
    while path := os.path.dirname(path):
        yield path


def _write_at(descriptor: int, data: bytes, position: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, position)
        rest, position = rest[written:], position + written


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
