"""Runs cleanings for a node, in a process of its own: `python -m brokers.shell.cleaner_process`.

The loop over all records would hold the interpreter's lock of the node, and delay every request by milliseconds. The
node writes one job a line and reads the results, one a line, as JSON. The process ends when its input does, also in the
middle of a job: it ends with the node, however that ends.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from brokers.effects import CleaningLimits, LastBatch
from brokers.events import CleaningStats
from brokers.shell.files import DiskFiles
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.log_cleaning import LogCleaning, Step

PAUSE_FROM_S: Final = 0.01  # shorter pauses are added up


def job_line(root: str, plan: CleaningPlan) -> bytes:
    """One cleaning in the log directory `root`, as a line."""
    return json.dumps([root, plan]).encode() + b"\n"


def parse_job(line: bytes) -> tuple[str, CleaningPlan]:
    """The inverse of `job_line`."""
    root, fields = json.loads(line)
    plan = CleaningPlan(*fields)
    return root, plan._replace(
        segments=tuple(PlannedSegment(*each) for each in plan.segments),
        last_batches=tuple(LastBatch(*each) for each in plan.last_batches),
        limits=CleaningLimits(*plan.limits),
    )


def result_line(step: CleanedSegment | CleaningDone | CleaningFailed) -> bytes:
    """One result, as a line."""
    fields: list[Any] = list(step)
    if isinstance(step, CleaningDone):
        stats = step.stats
        fields = [step.next_offset, [getattr(stats, name) for name in CleaningStats.__slots__]]
    return json.dumps([type(step).__name__, *fields]).encode() + b"\n"


def parse_result(line: bytes) -> CleanedSegment | CleaningDone | CleaningFailed:
    """The inverse of `result_line`."""
    kind, *fields = json.loads(line)
    if kind == CleanedSegment.__name__:
        return CleanedSegment(*fields)
    if kind == CleaningFailed.__name__:
        return CleaningFailed(*fields)
    next_offset, stats = fields
    return CleaningDone(next_offset, CleaningStats(*stats))


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
