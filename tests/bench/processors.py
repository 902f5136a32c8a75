"""Processes of a trial that have one processor alone (Linux: `sched_setaffinity`)."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

OWN = 0  # this process


def pair() -> tuple[int, int]:
    """Two that this process may use. Raises RuntimeError where there are none."""
    usable = sorted(os.sched_getaffinity(OWN)) if hasattr(os, "sched_setaffinity") else []
    if len(usable) < 2:
        raise RuntimeError("this needs two processors, and a system that gives processes theirs")
    return usable[0], usable[1]


@contextmanager
def confined(pids: Iterable[int], processor: int) -> Iterator[None]:
    """These processes, this one, and all that either starts meanwhile. The others stay there when it is over."""
    before = os.sched_getaffinity(OWN)
    for pid in (os.getpid(), *pids):
        confine(pid, processor)
    try:
        yield
    finally:
        os.sched_setaffinity(OWN, before)


def confine(pid: int, processor: int) -> None:
    """All threads of a process, and whatever they start from now on."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {processor})
