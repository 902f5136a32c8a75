"""From a cut to units, and from units to tasks.

Units follow the source's segments, long ones in several, so that they do not depend on the number of cores. Tasks
are packed largest first: what Spark costs, it costs per task (30 ms), not per byte.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from federation.audit.comparison.findings import Side
from federation.audit.comparison.unit import Unit, UnitCopy
from federation.audit.cut.bounds import AuditedReplica, Bounds, clean_point, compared_range
from federation.audit.segments.replica import Position, ReadableReplica, Stretch

TASK_BYTES = 1 << 30
UNIT_BYTES = 256 << 20
FETCHED_UNIT_BYTES = 64 << 20
"""A worker keeps the unit's bytes of every replica that it fetches in a temporary file."""
WORKER_BYTES_MIN = 64 << 20
"""Below this a second worker costs more than it saves."""


class EngineFailed(Exception):
    """The tasks could not be run: nothing is known of any of them."""


def units(source: Bounds, mirror: Bounds, unit_bytes: int | None = None) -> Iterator[Unit]:
    """One unit per source segment in the compared range, in offset order; of what is agreed, on every replica.

    Where the batches of another replica have no boundary at a source segment's base (damage, or batches cut anew),
    two units become one. What compaction may have changed is one unit, judged by key.
    """
    start, stop = compared_range(source, mirror)
    if source.log is None or mirror.log is None or start >= stop:
        return
    topic, partition = source.log.topic, source.log.partition
    replicas = [(Side.SOURCE, one) for one in source.replicas]
    replicas += [(Side.MIRROR, one) for one in mirror.replicas]
    from_offset, here = start, [_start(one.log, start) for _, one in replicas]
    is_fetched = any(not one.log.folder for _, one in replicas)
    step = unit_bytes or (FETCHED_UNIT_BYTES if is_fetched else UNIT_BYTES)
    clean = clean_point(source, mirror)
    planned = [one for one in source.log.boundaries(start, stop, step) if one > clean]
    planned += [clean] if start < clean < stop else []
    for offset in _boundaries(planned, [one for _, one in replicas], start, stop):
        there = [_place(one.log, offset, stop) for _, one in replicas]
        if None in there:
            continue
        by_key = from_offset < clean
        copies = (
            UnitCopy(
                side,
                one.log.node,
                *_stretch(one.log, begin, _beyond(one, offset, end) if by_key else end),
                one.clean,
                one.markers_from,
            )
            for (side, one), begin, end in zip(replicas, here, there, strict=True)
            if end is not None and one.since <= from_offset and offset <= one.until
        )
        unit = Unit(topic, partition, from_offset, offset, tuple(copies), by_key)
        if unit.of(Side.SOURCE) and unit.of(Side.MIRROR):
            yield unit
        from_offset, here = offset, [place for place in there if place is not None]


def _beyond(one: AuditedReplica, offset: int, end: Position) -> Position:
    """What was cleaned beyond the unit says what of it was replaced."""
    if one.clean <= offset or one.log.is_empty:
        return end
    if one.clean >= one.log.end_offset:
        return one.log.end
    return one.log.first_at(one.clean, is_stop=True) or one.log.end


def _boundaries(
    planned: Iterable[int], replicas: Sequence[AuditedReplica], start: int, stop: int
) -> list[int]:
    """Those that are planned, and where a replica begins or ends to be judged."""
    found = {*planned, *(offset for one in replicas for offset in (one.since, one.until))}
    return [*sorted(offset for offset in found if start < offset < stop), stop]


def _start(log: ReadableReplica, offset: int) -> Position:
    return Position(0, 0, offset) if log.is_empty else log.first_covering(offset)


def _place(log: ReadableReplica, offset: int, stop: int) -> Position | None:
    if log.is_empty:
        return Position(0, 0, offset)
    place = log.first_at(offset, is_stop=offset == stop)
    # At the very end, doubt means to read on to the last byte.
    return log.end if place is None and offset == stop else place


def _stretch(log: ReadableReplica, start: Position, stop: Position) -> Stretch:
    return Stretch() if log.is_empty else log.stretch(start, stop)


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
