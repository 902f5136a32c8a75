"""Memory is touched before each trial, for ours and the peer alike.

What a virtual machine's host has taken back costs up to 2 ms a MB to touch again, whoever asks: without this the same
code looks 2 to 5 times slower by the minute. Memory that is free goes back to the host within seconds. So a longer
trial begins with a page cache that is full, as that of a broker is that has run for a day.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIB = 1 << 30
TOUCHED_MAX = 6 * GIB
SHARED = Path("/dev/shm")  # files in memory
CHUNK = bytes(1 << 20)


def sized(available: int, room: int) -> int:
    """How many bytes to touch: half of what is available, as far as files in memory have room for it."""
    return max(0, min(TOUCHED_MAX, available // 2, room))


def available(meminfo: str, which: str = "MemAvailable") -> int:
    """What programs may have without swapping, in bytes; 0 where the kernel does not say."""
    for line in meminfo.splitlines():
        name, _, value = line.partition(":")
        if name == which:
            return int(value.split()[0]) * 1024
    return 0


def touch() -> int:
    """How many bytes were touched; they are free again."""
    try:
        shared = os.statvfs(SHARED)
        meminfo = Path("/proc/meminfo").read_text()
    except OSError:
        return 0
    size = sized(available(meminfo), shared.f_bavail * shared.f_frsize) // len(CHUNK) * len(CHUNK)
    with tempfile.TemporaryFile(dir=SHARED) as file:
        for _ in range(size // len(CHUNK)):
            file.write(CHUNK)
    return size


@contextmanager
def full_page_cache(directory: Path) -> Iterator[None]:
    """While it lasts, nearly no memory is free: a file in `directory` has what was, and gives way to other files."""
    free = available(Path("/proc/meminfo").read_text(), "MemFree")
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(free // len(CHUNK)):
            file.write(CHUNK)
        file.flush()
        os.fsync(file.fileno())
        yield
