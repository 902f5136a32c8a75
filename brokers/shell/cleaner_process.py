"""Runs cleanings for a node, in a process of its own: `python -m brokers.shell.cleaner_process`.

The loop over all records would hold the interpreter's lock of the node, and delay every request by milliseconds. The
node writes jobs and reads results (`cleaner_jobs`). The process ends when its input does, also in the middle of a job:
it ends with the node, however that ends.
"""

import os
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


def main() -> None:
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
