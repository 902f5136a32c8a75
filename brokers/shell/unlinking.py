"""Files lose their names at once, and their space later, in another thread.

The kernel needs a millisecond for each 20 MB of page cache that it gives up with a file. Where the file system is
mounted with `discard`, it also waits for the disk, for small files too. It does both when the last descriptor of a file
without a name is closed.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

HELD_MAX: Final = 512  # descriptors of one removal: connections and open logs need the others
HELD_SMALL_MAX: Final = 256  # of those, until when files below WORTH_BYTES get one
WORTH_BYTES: Final = 1 << 20


def unlink(path: str, held: list[int]) -> None:
    """Remove a file, or a directory with all in it; absent is fine. `held` gets descriptors of what takes space."""
    if os.path.isdir(path) and not os.path.islink(path):
        _hold(_files_below(path), held)
        shutil.rmtree(path)
        return
    _hold([path], held)
    with suppress(FileNotFoundError):
        os.unlink(path)


def _files_below(directory: str) -> Iterable[str]:
    for folder, _, names in os.walk(directory):
        yield from (f"{folder}/{name}" for name in names)


def _hold(paths: Iterable[str], held: list[int]) -> None:
    """What cannot be opened is removed all the same, and its space given up at once."""
    for path in paths:
        if len(held) == HELD_MAX:
            return
        with suppress(OSError):
            file = os.lstat(path)
            is_small = file.st_size < WORTH_BYTES
            if not is_small or (file.st_blocks and len(held) < HELD_SMALL_MAX):
                held.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW))


def close_all(held: list[int]) -> None:
    while held:
        os.close(held.pop())
