"""What a node and the processes that clean its logs say to one another: one job or result a line, as JSON."""

import json
from typing import Any

from brokers.compaction import CleaningLimits, CleaningStats, LastBatch
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)


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
