"""Runs cleanings for a node, in a process of its own: `python -m brokers.shell.cleaner_process PID`, the node's.

The loop over all records would hold the interpreter's lock of the node, and delay every request by milliseconds. The
node writes jobs and reads results (`cleaner_jobs`). The process ends when its input does, also in the middle of a job.
On Linux the kernel ends it with the node, however that ends: the next life of the node writes files of the same names.

Segments are read and their checksums compared in one thread, a little ahead of what becomes of them, and synced in
another: so a cleaning uses some of a second core.
"""

import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Final

from brokers.ports import DiskError
from brokers.shell.cleaner_jobs import parse_job, result_line
from brokers.shell.reading_ahead import ahead
from brokers.shell.syncing_behind import FollowingThread, SyncedBehind
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
)
from brokers.storage.cleaning.log_cleaning import LogCleaning, Step

PAUSE_FROM_S: Final = 0.01  # shorter pauses are added up
_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def throttled(steps: Iterator[Step], bytes_per_second: float) -> Generator[Step, None, None]:
    """Wait so long between two steps that the rate is kept."""
    owed = 0.0
    for step in steps:
        if isinstance(step, int):
            owed += step / bytes_per_second
            if owed >= PAUSE_FROM_S:
                before = time.monotonic()
                time.sleep(owed)
                owed -= time.monotonic() - before
        yield step


def _read_jobs(jobs: "SimpleQueue[bytes]") -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    os._exit(0)


def _end_with(parent: int) -> None:
    """Also while this process is stopped, or gets no time."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # it has ended before


def clean(
    root: str, plan: CleaningPlan, thread: FollowingThread, write: Callable[[bytes], object]
) -> None:
    """One cleaning of a log in the directory `root`. A result is written once what it tells of is on the disk."""
    last: CleaningDone | CleaningFailed | None = None
    cleaning = LogCleaning(SyncedBehind(root, thread), plan, ahead)
    steps = throttled(cleaning.steps(), plan.limits.bytes_per_second)
    with suppress(DiskError), closing(steps):  # `end` has the error
        for step in steps:
            if isinstance(step, CleanedSegment):
                thread.do(partial(write, result_line(step)))
            elif not isinstance(step, int):
                last = step
    error = thread.end()
    if error is not None:
        last = CleaningFailed(str(error), is_final=False)
    assert last is not None
    write(result_line(last))


def main() -> None:
    _end_with(int(sys.argv[1]))
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    jobs: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    thread = FollowingThread()
    gc.freeze()  # what was imported is not looked through again
    while True:
        clean(*parse_job(jobs.get()), thread, _write)
        if give_back is not None:
            give_back(0)  # the process may wait for long


def _write(line: bytes) -> None:
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)  # the node has ended


if __name__ == "__main__":
    main()
