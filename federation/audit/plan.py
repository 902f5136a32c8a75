"""From a cut to units, and from units to tasks.

Units follow the source's segments, and nothing else, so that they do not depend on the number of cores. Tasks
are packed largest first: what Spark costs, it costs per task (30 ms), not per byte.
"""

import heapq
from collections.abc import Iterator, Sequence

from federation.audit.comparison.findings import Side
from federation.audit.comparison.unit import Unit, UnitCopy
from federation.audit.cut.cut import AuditedReplica, Bounds, compared_range
from federation.audit.segments.batches import Part
from federation.audit.segments.replica_log import (
    Position,
    ReplicaLog,
    end_of,
    first_at,
    first_covering,
)

TASK_BYTES = 1 << 30
WORKER_BYTES_MIN = 64 << 20
"""Below this a second worker costs more than it saves."""


class EngineFailed(Exception):
    """The tasks could not be run: nothing is known of any of them."""


def units(source: Bounds, mirror: Bounds) -> Iterator[Unit]:
    """One unit per source segment in the compared range, in offset order; of what is agreed, on every replica.

    Where the batches of another replica have no boundary at a source segment's base (damage, or batches cut anew),
    two units become one.
    """
    start, stop = compared_range(source, mirror)
    if source.log is None or mirror.log is None or start >= stop:
        return
    topic, partition = source.log.topic, source.log.partition
    replicas = [(Side.SOURCE, one) for one in source.replicas]
    replicas += [(Side.MIRROR, one) for one in mirror.replicas]
    from_offset, here = start, [_start(one.log, start) for _, one in replicas]
    for offset in _boundaries(source.log, [one for _, one in replicas], start, stop):
        there = [_place(one.log, offset, stop) for _, one in replicas]
        if None in there:
            continue
        copies = (
            UnitCopy(side, one.log.node, _parts(one.log, begin, end))
            for (side, one), begin, end in zip(replicas, here, there, strict=True)
            if end is not None and one.since <= from_offset and offset <= one.until
        )
        unit = Unit(topic, partition, from_offset, offset, tuple(copies))
        if unit.of(Side.SOURCE) and unit.of(Side.MIRROR):
            yield unit
        from_offset, here = offset, [place for place in there if place is not None]


def _boundaries(
    log: ReplicaLog, replicas: Sequence[AuditedReplica], start: int, stop: int
) -> list[int]:
    """Bases of segments, and where a replica begins or ends to be judged."""
    found = {one.base_offset for one in log.segments}
    found.update(offset for one in replicas for offset in (one.since, one.until))
    return [*sorted(offset for offset in found if start < offset < stop), stop]


def _start(log: ReplicaLog, offset: int) -> Position:
    return first_covering(log, offset) if log.segments else Position(0, 0, offset)


def _place(log: ReplicaLog, offset: int, stop: int) -> Position | None:
    if not log.segments:
        return Position(0, 0, offset)
    place = first_at(log, offset)
    # At the very end, doubt means to read on to the last byte.
    return end_of(log) if place is None and offset == stop else place


def _parts(log: ReplicaLog, start: Position, stop: Position) -> tuple[Part, ...]:
    return log.parts(start, stop) if log.segments else ()


def pack(planned: Sequence[Unit], workers: int) -> list[list[Unit]]:
    """Tasks of about equal size: as many as workers, or more when that would make them long."""
    total = sum(unit.size for unit in planned)
    count = max(min(workers, total // WORKER_BYTES_MIN), total // (2 * TASK_BYTES), 1)
    tasks: list[list[Unit]] = [[] for _ in range(min(count, max(1, len(planned))))]
    loads = [(0, number) for number in range(len(tasks))]
    for unit in sorted(planned, key=lambda unit: (-unit.size, unit[:3])):
        load, number = heapq.heappop(loads)
        tasks[number].append(unit)
        heapq.heappush(loads, (load + unit.size, number))
    return [task for task in tasks if task]
