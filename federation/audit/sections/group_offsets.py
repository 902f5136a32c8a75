"""Committed group offsets of both regions, out of their own `__consumer_offsets` (P6).

On a mirror none may point past the mirror's data. A group that is ahead of its own commits at the source reads here,
or was moved by somebody: that is noted.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from federation.audit.comparison.findings import Severity
from federation.audit.cut.bounds import Bounds
from federation.audit.facts.region_facts import RegionFacts
from federation.audit.fetch.spool import spooled
from federation.audit.sections.section import Problem, Section, section
from federation.audit.segments.batches import Batch, walk
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.records import Unopenable, records
from federation.audit.segments.replica import ReadableReplica

TOPIC = "__consumer_offsets"
NAME = "group offsets"
CONTROL = 0x20
OFFSET_KEY_VERSIONS = (0, 1)


class GroupOffset(NamedTuple):
    """A group's place in a partition."""

    group: str
    topic: str
    partition: int


class Committed(NamedTuple):
    """A region's commits, the last of each; `because` says why some may be missing."""

    offsets: dict[GroupOffset, int]
    because: str = ""


def read(side: Mapping[Key, Bounds], facts: RegionFacts | None) -> Committed:
    """From the replica of each partition that reaches furthest; a region that says so has no such topic."""
    found: dict[GroupOffset, int] = {}
    logs = {key: bounds.log for key, bounds in sorted(side.items()) if key[0] == TOPIC}
    has_none = facts is not None and all(one.name != TOPIC for one in facts.topics)
    because = "" if any(logs.values()) or has_none else f"no {TOPIC} was found"
    for key, log in logs.items():
        try:
            for group, offset in _commits(log) if log is not None else ():
                found[group] = offset
                if offset < 0:
                    del found[group]
        except (OSError, Unopenable, struct.error, UnicodeDecodeError) as error:
            because = f"{TOPIC}-{key[1]}: {error}"
    return Committed(found, because)


def judge(
    source: Committed,
    mirror: Committed,
    ends: Mapping[Key, Bounds],
    prefix: str,
    cut: frozenset[Key],
) -> Section:
    """`ends` are the mirror's partitions by the source's names; `cut` those that are mirrors no more."""
    problems, judged = [], 0
    for at, offset in sorted(mirror.offsets.items()):
        if not at.topic.startswith(prefix):
            continue
        key = at.topic.removeprefix(prefix), at.partition
        bounds = ends.get(key)
        if bounds is None:
            continue
        judged += 1
        end = max([bounds.end, *(one.log.end_offset for one in bounds.replicas)])
        if offset > end:
            end = max([end, *(one.log.end_now() for one in bounds.replicas)])  # a live log goes on
        if offset > end:
            because = f"group {at.group} stands at {offset}, the mirror ends at {end}"
            problems.append(Problem(*key, offset, because))
        there = source.offsets.get(at._replace(topic=key[0]))
        if key not in cut and there is not None and offset > there:
            because = f"group {at.group} stands at {offset}, at the source at {there}"
            problems.append(Problem(*key, offset, because, severity=Severity.NOTE))
    because = mirror.because or source.because
    return section(NAME, "P6", judged, "commits", problems, because)


def _commits(log: ReadableReplica) -> Iterator[tuple[GroupOffset, int]]:
    """In the order of the log; -1 where a commit was deleted."""
    if log.is_empty:
        return
    with spooled(log.stretch(log.first_covering(log.first_offset), log.end)) as parts:
        for part in parts:
            for batch in walk(part):
                if isinstance(batch, Batch) and batch.sound and not batch.attributes & CONTROL:
                    yield from _of_batch(batch)


def _of_batch(batch: Batch) -> Iterator[tuple[GroupOffset, int]]:
    with open(batch.path, "rb", buffering=0) as file:
        file.seek(batch.position)
        data = file.read(batch.size)
    for record in records(data):
        if record.key is not None and len(record.key) > 2:
            (version,) = struct.unpack_from(">h", record.key)
            if version in OFFSET_KEY_VERSIONS:
                offset = struct.unpack_from(">q", record.value, 2)[0] if record.value else -1
                yield _key(record.key), offset


def _key(data: bytes) -> GroupOffset:
    group, position = _text(data, 2)
    topic, position = _text(data, position)
    return GroupOffset(group, topic, struct.unpack_from(">i", data, position)[0])


def _text(data: bytes, position: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">h", data, position)
    stop = position + 2 + max(0, length)
    if stop > len(data):
        raise Unopenable(f"a text of {length} bytes does not fit")
    return data[position + 2 : stop].decode(), stop
