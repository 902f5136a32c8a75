"""What a core may be handed by its host. Nothing here waits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from brokers.ids import Buffer, Buffers

ROOT_LOGGER = "root"


class LogLevels(Protocol):
    """The loggers of a process. Levels are Kafka's: TRACE, DEBUG, INFO, WARN, ERROR, FATAL."""

    def levels(self) -> Mapping[str, str]:
        """The level in effect of every logger, the root logger's among them."""

    def set_level(self, logger: str, level: str | None) -> None:
        """None: the level of its parent."""


class Rng(Protocol):
    """Randomness as an argument: `random.Random` in production, seeded in the simulator."""

    def random(self) -> float: ...

    def randbytes(self, n: int, /) -> bytes: ...

    def randrange(self, start: int, stop: int, /) -> int: ...


class DiskError(Exception):
    """The disk refused: full, read-only, broken. The message is for the operator."""


class SyncError(DiskError):
    """The device failed a sync. What was appended since the last one can still be read, and may never reach the disk.

    Linux reports a failed write once and takes the pages for clean, so that the next sync succeeds without them: what
    is to be relied on must be written again before.
    """


class FileRange(Protocol):
    """`len()` bytes of a file by reference: what moves them need not read them.

    It holds the file: that the name is removed, or its handle forgotten, takes nothing from it.
    """

    def __len__(self) -> int: ...

    def __bytes__(self) -> bytes:
        """Fewer than `len` if the file was truncated since. `DiskError` when the disk refuses."""


class Appending(Protocol):
    """An append for any thread: the first to `run` it does it, others wait for it and hear the same."""

    def run(self) -> int:
        """The size of the file then. `DiskError` where the disk refused; the file may hold a part of it."""

    def give_up(self) -> None:
        """When this returns nothing is being written, and nothing will be."""


class Replacing(Protocol):
    """A replacement of a file for any thread: the first to `run` it does it."""

    @property
    def is_over(self) -> bool:
        """Nothing is being written, and nothing will be."""

    @property
    def is_durable(self) -> bool:
        """It was done. Unless it is, a crash leaves the old file or the new one."""

    def run(self) -> None:
        """`DiskError` where the disk refused."""

    def give_up(self) -> None:
        """When this returns it is over."""


class FileReader(Protocol):
    """A file that was opened for one thread."""

    def read(self, position: int, size: int) -> bytes:
        """Fewer bytes past the end of the file. `DiskError` where the disk refuses."""

    def close(self) -> None: ...


class FileWriter(Protocol):
    """A new file, written by one thread. It gets its name in `finish`."""

    def write(self, data: Buffer) -> None:
        """Append. `DiskError` where the disk refuses."""

    def finish(self) -> None:
        """Sync the file and give it its name, in place of an older one. No sync makes the name durable."""

    def give_up(self) -> None:
        """Remove what was written, as far as the disk lets it."""


class Volume(NamedTuple):
    """The size of a file system, and what this process may still write to it."""

    total_bytes: int
    usable_bytes: int


class Files(Protocol):
    """A flat file system below one data directory. Paths are relative, `/`-separated.

    Every call raises `DiskError` when the disk refuses. What `append` wrote, and the name of a file or directory that
    it or `make_directory` made, is durable only after `sync` of the file; `truncate`, `replace`, `rename`, `remove` and
    their `_several` are durable when they return. Reads past the end return fewer bytes. `append` makes the file if
    there is none (never its directory) and returns its size after the write. `sync` raises `SyncError`. `sync`,
    `touch`, `reader` and `writer` may be called from another thread.
    """

    def append(self, path: str, buffers: Buffers) -> int: ...

    def begin_append(self, path: str, buffers: Buffers) -> Appending:
        """Opens or makes the file. Until the append has run, or is given up, nobody else changes it; it may be read."""

    def read(self, path: str, position: int, size: int) -> Buffer: ...

    def refer(self, path: str, position: int, size: int) -> FileRange:
        """What `read` would return, unread."""

    def size(self, path: str) -> int: ...

    def exists(self, path: str) -> bool: ...

    def truncate(self, path: str, size: int) -> None: ...

    def sync(self, path: str) -> None: ...

    def preallocate(self, path: str, size: int) -> None:
        """Take the disk that a file of so many bytes needs, if there is room; what can be read stays as it is."""

    def release(self, path: str) -> None:
        """Give back what `preallocate` took beyond the end of the file."""

    def touch(self, path: str) -> None:
        """Make an empty file if there is none. No sync makes it durable: it is for the next process, if that comes."""

    def reader(self, path: str) -> FileReader:
        """Open the file for the calling thread."""

    def writer(self, path: str) -> FileWriter:
        """A new file for the calling thread. Until `finish` it is `path.tmp`. Nobody else writes the path meanwhile."""

    def rewrite(self, path: str, position: int) -> None:
        """Write what lies from `position` on once more, byte for byte: the next sync then answers for it."""

    def replace(self, path: str, data: Buffer) -> None:
        """Write the whole file atomically: temporary name, sync, rename, sync of the directory."""

    def begin_replace(self, path: str, data: Buffer) -> Replacing:
        """The same, later. Until it is over nobody else changes the file or reads it."""

    def write(self, path: str, data: Buffer) -> None:
        """`replace` for the next process. After a power cut there may be the old file, the new one or a torn one, until
        `sync` of it.
        """

    def rename(self, path: str, new_path: str) -> None:
        """Rename a file or a directory durably."""

    def remove(self, path: str) -> None:
        """Remove a file, or a directory with everything in it; absent is fine."""

    def remove_several(self, paths: Sequence[str]) -> None:
        """Remove files of one directory, with one sync of it. A crash before the end leaves any of them."""

    def begin_removal(self, paths: Sequence[str]) -> Callable[[], None]:
        """Remove files of one directory, or one directory with everything in it; their names are gone at once. The
        result gives back the space and makes that durable, in any thread, and raises `DiskError`. A crash before its
        end leaves any of them."""

    def rename_several(self, renames: Sequence[tuple[str, str]]) -> None:
        """Rename files of one directory, each to a name that may be another's, with one sync of it. A crash before the
        end leaves any of them."""

    def begin_changes(
        self, removed: Sequence[str], renames: Sequence[tuple[str, str]]
    ) -> Callable[[], None]:
        """Remove and rename files of one directory, each to a name that may be another's. The result makes that
        durable, in any thread, and raises `DiskError`. A crash before its end leaves any of the changes."""

    def make_directory(self, path: str) -> None: ...

    def list(self, path: str) -> Iterator[str]:
        """Names directly below a directory, sorted; nothing if it does not exist."""

    def close(self, path: str) -> None:
        """Forget cached handles below a path."""

    def space(self) -> Volume:
        """What the directory's file system holds."""
