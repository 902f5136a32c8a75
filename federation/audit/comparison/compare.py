"""Compare one unit: both sides' bytes of one offset range, wherever the engine put the task.

A unit is one source segment and whatever the mirror holds of its offsets, so what it finds does not depend on how
units were packed into tasks. The fast path reads every byte of both sides once; the slow path is taken for a unit
that is not plainly equal.
"""

import json
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import Any, NamedTuple

from federation.audit.comparison import merge
from federation.audit.comparison.classify import Scene, classify, displaced
from federation.audit.comparison.digests import digest, digest_and_walk, size
from federation.audit.comparison.findings import Class, Finding, Side, continues, from_row, joined
from federation.audit.segments.batches import OFFSET_MAX, Batch, Break, Part, walk

LATER = frozenset({Class.MISSING_ON_MIRROR, Class.EXTRA_ON_MIRROR})
"""Joined only once they have been set against what other units found."""


class Unit(NamedTuple):
    """Offsets [from_offset, to_offset) of a partition, and where each side's bytes of them are."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    source: tuple[Part, ...]
    mirror: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of both sides."""
        return size(self.source) + size(self.mirror)


class UnitOutcome(NamedTuple):
    """What comparing a unit came to. `missing_file` names a file that went away while the audit ran."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    source_bytes: int
    mirror_bytes: int
    batches: int
    records: int
    held_offsets: int
    source_digest: str
    mirror_digest: str
    findings: tuple[Finding, ...]
    missing_file: str = ""


def outcome_from_row(row: list[Any]) -> UnitOutcome:
    """An outcome out of its JSON form, a list in field order."""
    outcome = UnitOutcome(*row)
    return outcome._replace(findings=tuple(from_row(finding) for finding in outcome.findings))


def unit_from_row(row: list[Any]) -> Unit:
    """A unit out of its JSON form, a list in field order."""
    source, mirror = (tuple(Part(*part) for part in parts) for parts in row[4:])
    return Unit(row[0], row[1], row[2], row[3], source, mirror)


def compare(unit: Unit, payload: bool) -> UnitOutcome:
    """Never raises for what files hold or lack: that is an outcome."""
    try:
        mirror = digest(unit.mirror)
    except OSError as error:
        return _unread(unit, Side.MIRROR, error)
    try:
        source = digest_and_walk(unit.source, unit.mirror)
    except OSError as error:
        return _unread(unit, Side.SOURCE, error)
    outcome = UnitOutcome(
        *unit[:4],
        source.bytes_read,
        mirror.bytes_read,
        source.batches,
        source.records,
        source.offsets - _below(unit),
        source.digest,
        mirror.digest,
        (),
    )
    whole = (source.bytes_read, mirror.bytes_read) == (size(unit.source), size(unit.mirror))
    if whole and source.sound and source.digest == mirror.digest:
        return outcome
    try:
        return _differences(unit, outcome, payload)
    except OSError as error:
        return _unread(unit, Side.BOTH, error)


def _below(unit: Unit) -> int:
    """Offsets of the first batch that are below the unit: a log may start in the middle of a batch."""
    return max(0, unit.from_offset - unit.source[0].floor) if unit.source else 0


def _unread(unit: Unit, side: Side, error: OSError) -> UnitOutcome:
    evidence: dict[str, object] = {"error": error.strerror or type(error).__name__}
    finding = _unreadable(unit, side, unit.from_offset, unit.to_offset, evidence)
    missing = str(error.filename) if isinstance(error, FileNotFoundError) else ""
    return UnitOutcome(*unit[:4], 0, 0, 0, 0, 0, "", "", (finding,), missing)


def _differences(unit: Unit, outcome: UnitOutcome, payload: bool) -> UnitOutcome:
    """The slow path: a table of batches per side, set against each other."""
    scene = Scene(unit.topic, unit.partition, lru_cache(maxsize=64)(_bytes_of), payload)
    source, source_breaks = _table(unit.source, unit)
    mirror, mirror_breaks = _table(unit.mirror, unit)
    findings = [_broken(unit, Side.SOURCE, one) for one in source_breaks]
    findings += [_broken(unit, Side.MIRROR, one) for one in mirror_breaks]
    rising = []
    for side, parts, batches, others in (
        (Side.SOURCE, unit.source, source, mirror),
        (Side.MIRROR, unit.mirror, mirror, source),
    ):
        kept, strays = _in_place(unit, parts, batches, others)
        rising.append(kept)
        for stray, elsewhere in strays:
            findings.append(displaced(stray, side, scene, elsewhere or _covers(kept, stray)))
    last: Finding | None = None
    for island in merge.islands(*rising):
        for finding in classify(island, scene, last):
            if last is not None and continues(finding, last) and finding.kind not in LATER:
                last = findings[-1] = joined(last, finding)
            else:
                last = finding
                findings.append(finding)
    return outcome._replace(
        batches=len(source),
        records=sum(max(0, batch.records) for batch in source),
        held_offsets=sum(batch.next_offset - batch.base_offset for batch in rising[0])
        - _below(unit),
        findings=tuple(findings),
    )


def _table(parts: Sequence[Part], unit: Unit) -> tuple[list[Batch], list[Break]]:
    """The unit's batches in file order, and what is no batch; a torn tail above the cut is neither.

    Where its first or last byte was in doubt, the parts hold more than the unit, which is left out here.
    """
    batches: list[Batch] = []
    breaks: list[Break] = []
    for part in parts:
        for found in walk(part):
            if isinstance(found, Batch):
                batches.append(found)
            elif found.base_offset < unit.to_offset or found.next_offset < OFFSET_MAX:
                breaks.append(found)
    if parts and parts[0].floor < unit.from_offset:
        batches = list(dropwhile(lambda one: one.next_offset <= unit.from_offset, batches))
    if parts and parts[-1].ceiling == OFFSET_MAX:
        while batches and batches[-1].base_offset >= unit.to_offset:
            batches.pop()
    return batches, breaks


def _in_place(
    unit: Unit, parts: Sequence[Part], batches: Sequence[Batch], others: Sequence[Batch]
) -> tuple[list[Batch], list[tuple[Batch, bool]]]:
    """The batches of one side that stand in order and in their unit; the others, and whether another unit is theirs."""
    floor = parts[0].floor if parts else unit.from_offset

    def elsewhere(batch: Batch) -> bool:
        return not floor <= batch.base_offset < unit.to_offset

    kept, strays = merge.in_order(batches, {merge.identity(batch) for batch in others})
    outside = [(batch, elsewhere(batch)) for batch in strays]
    outside += [(batch, True) for batch in kept if elsewhere(batch)]
    return [batch for batch in kept if not elsewhere(batch)], outside


def _covers(kept: Sequence[Batch], stray: Batch) -> bool:
    """The stray's offsets are in place as well."""
    after = bisect_right(kept, stray.base_offset, key=lambda batch: batch.next_offset)
    return after < len(kept) and kept[after].base_offset < stray.next_offset


def _bytes_of(batch: Batch) -> bytes:
    with open(batch.path, "rb", buffering=0) as file:
        file.seek(batch.position)
        return file.read(batch.size)


def _broken(unit: Unit, side: Side, found: Break) -> Finding:
    evidence: dict[str, object] = {
        "file": found.path.rsplit("/", 1)[-1],
        "position": found.position,
        "bytes": found.size,
    }
    stop = max(found.base_offset, min(found.next_offset, unit.to_offset))
    finding = _unreadable(unit, side, found.base_offset, stop, evidence)
    # Bytes between two batches that miss no offset hide nothing, but no reader gets past them.
    return finding if stop > found.base_offset else finding._replace(kind=Class.DAMAGED)


def _unreadable(
    unit: Unit, side: Side, from_offset: int, to_offset: int, evidence: dict[str, object]
) -> Finding:
    return Finding(
        unit.topic,
        unit.partition,
        from_offset,
        to_offset,
        Class.UNREADABLE,
        side,
        first_offset=from_offset,
        evidence=json.dumps(evidence, sort_keys=True),
    )
