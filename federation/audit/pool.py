"""The engine without a JVM: the same functions over the same tasks, in this machine's processes."""

import multiprocessing
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from federation.audit.comparison.compare import compare
from federation.audit.comparison.unit import Unit, UnitOutcome
from federation.audit.plan import EngineFailed, pack


def workers(master: str) -> int:
    """Cores that a Spark master URL names: local, local[N], local[*]; raises EngineFailed for any other."""
    named = re.fullmatch(r"local(?:\[(\*|[1-9]\d*)\])?", master)
    if named is None:
        raise EngineFailed(f"the local engine runs on local[N] or local[*], not on {master}")
    if named[1] == "*":
        return len(os.sched_getaffinity(0))
    return int(named[1] or 1)


def run(
    units: Sequence[Unit], *, master: str, payload: bool, done: Callable[[list[UnitOutcome]], None]
) -> None:
    """`done` is called with the outcomes of each task, in no particular order."""
    tasks = pack(units, workers(master))
    if len(tasks) <= 1:
        for unit in units:
            done([compare(unit, payload)])
        return
    # Spawned, not forked: the caller may have threads (progress, a Kafka client), and those do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers(master), len(tasks)), mp_context=context) as pool:
        for ended in as_completed([pool.submit(compare_all, task, payload) for task in tasks]):
            done(ended.result())


def compare_all(task: Sequence[Unit], payload: bool) -> list[UnitOutcome]:
    return [compare(unit, payload) for unit in task]
