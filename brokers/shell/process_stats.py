"""Metrics of this process, under the names of Prometheus' client libraries.

The names are the standard metrics of "Writing client libraries" in its documentation, and those of its Python library
for the garbage collector. Most are read from /proc; without it (macOS) only the processor time is reported.
"""

import gc
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from brokers.telemetry.exposition import family, labelled

_STAT: Final = Path("/proc/self/stat")
_DESCRIPTORS: Final = Path("/proc/self/fd")
_STARTED_AT: Final = time.time()  # approximately: this module is imported at the start
# Indexes of fields of /proc/self/stat after the name.
_VIRTUAL_SIZE, _RESIDENT_PAGES = (20, 21)


def process_text() -> Iterator[str]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = round(used.ru_utime + used.ru_stime, 3)
    yield from _one(
        "process_cpu_seconds_total", "counter", "Processor time, user and system", seconds
    )
    yield from _one("process_start_time_seconds", "gauge", "Since the Unix epoch", _STARTED_AT)
    if _STAT.exists():
        yield from _kernel_text()
    yield from _collector_text()


def _kernel_text() -> Iterator[str]:
    fields = _STAT.read_text().rpartition(")")[2].split()
    resident = int(fields[_RESIDENT_PAGES]) * os.sysconf("SC_PAGE_SIZE")
    yield from _one(
        "process_virtual_memory_bytes", "gauge", "Virtual memory", int(fields[_VIRTUAL_SIZE])
    )
    yield from _one("process_resident_memory_bytes", "gauge", "Resident memory", resident)
    open_now = sum(1 for _ in _DESCRIPTORS.iterdir())
    yield from _one("process_open_fds", "gauge", "Open file descriptors", open_now)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield from _one("process_max_fds", "gauge", "Most file descriptors allowed", limit)


def _collector_text() -> Iterator[str]:
    generations = [(labelled(generation=index), each) for index, each in enumerate(gc.get_stats())]
    for name, key, about in (
        ("python_gc_objects_collected_total", "collected", "Objects that the collector freed"),
        (
            "python_gc_objects_uncollectable_total",
            "uncollectable",
            "Objects that it could not free",
        ),
        ("python_gc_collections_total", "collections", "Times that a generation was collected"),
    ):
        yield from family(
            name, "counter", about, ((each[key], labels) for labels, each in generations)
        )


def _one(name: str, kind: str, about: str, value: float) -> Iterator[str]:
    assert kind in ("gauge", "counter")
    return family(name, "gauge" if kind == "gauge" else "counter", about, iter([(value, "")]))
