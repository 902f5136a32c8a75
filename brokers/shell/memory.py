"""Settings of the C library's allocator and of Python's garbage collector.

A fetch allocates megabytes and frees them soon after. By default, glibc returns such blocks to the kernel each time and
requests new pages for the next fetch; faulting these in was half of the CPU time of serving twelve partitions (0.8
against 0.4 CPU-seconds per GB).

What is kept is kept once: glibc would do so in each of its arenas, of which it has one for each thread up to eight for
each processor. gRPC receives in threads of its own, whose arenas came to 120 to 480 MB where peers sent
frames of 16 MiB without end.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Of mallopt(3).
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -2, -3, -8
KEPT_BYTES = 128 << 20
GROWN_BY_BYTES = 16 << 20  # pages that are not touched cost nothing
MAPPED_FROM_BYTES = 32 << 20  # the maximum of glibc


def keep_freed_memory() -> bool:
    """Has the process keep up to `KEPT_BYTES` of freed memory; False where the C library has no such setting."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    wanted = (
        (M_MMAP_THRESHOLD, MAPPED_FROM_BYTES),
        (M_TRIM_THRESHOLD, KEPT_BYTES),
        (M_TOP_PAD, GROWN_BY_BYTES),
        (M_ARENA_MAX, 1),
    )
    return all(mallopt(name, value) for name, value in wanted)


@contextmanager
def collector_paused() -> Iterator[None]:
    """For imports, which make much and leave nothing behind: a seventh of their CPU time was the collector's."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def spare_collector() -> None:
    """Excludes all objects that exist after the start from garbage collection, whose pauses they would lengthen."""
    gc.collect()
    gc.freeze()
