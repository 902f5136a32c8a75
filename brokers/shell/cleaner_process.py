"""Runs cleanings for a node, in a process of its own: `python -m brokers.shell.cleaner_process PID`, the node's.

The loop over all records would hold the interpreter's lock of the node, and delay every request by milliseconds. The
node writes jobs and reads results (`cleaner_jobs`). The process ends when its input does, also in the middle of a job.
On Linux the kernel ends it with the node, however that ends: the next life of the node writes files of the same names.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Final

from brokers.shell.cleaner_jobs import parse_job, result_line
from brokers.shell.files import DiskFiles
from brokers.storage.cleaning.log_cleaning import LogCleaning, Step

PAUSE_FROM_S: Final = 0.01  # shorter pauses are added up
_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def throttled(steps: Iterator[Step], bytes_per_second: float) -> Iterator[Step]:
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


def main() -> None:
    _end_with(int(sys.argv[1]))
    jobs: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    while True:
        root, plan = parse_job(jobs.get())
        steps = LogCleaning(DiskFiles(root), plan).steps()
        for step in throttled(steps, plan.limits.bytes_per_second):
            if not isinstance(step, int):
                sys.stdout.buffer.write(result_line(step))
                sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
