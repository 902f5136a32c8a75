"""The slow path: two copies of one offset range, as tables of batches that are set against each other."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from federation.audit.comparison import merge
from federation.audit.comparison.classify import Scene, classify, displaced
from federation.audit.comparison.findings import Class, Finding, Side, continues, joined
from federation.audit.comparison.unit import Pair
from federation.audit.segments.batches import Batch, Break, Part, walk
from federation.audit.segments.headers import OFFSET_MAX

LATER = frozenset({Class.MISSING_ON_MIRROR, Class.EXTRA_ON_MIRROR})
"""Joined only once they have been set against what other units found."""


class Differences(NamedTuple):
    """What a pair came to; counts are of its first copy."""

    findings: tuple[Finding, ...]
    batches: int
    records: int
    offsets: int


def differences(pair: Pair, payload: bool) -> Differences:
    """Every difference of the two copies, and what is damaged in either; raises OSError."""
    scene = Scene(pair.topic, pair.partition, lru_cache(maxsize=64)(_bytes_of), payload)
    source, source_breaks = _table(pair.source, pair)
    mirror, mirror_breaks = _table(pair.mirror, pair)
    findings = [*_overlaps(pair, Side.SOURCE, source), *_overlaps(pair, Side.MIRROR, mirror)]
    findings += [_broken(pair, Side.SOURCE, one) for one in source_breaks]
    findings += [_broken(pair, Side.MIRROR, one) for one in mirror_breaks]
    rising = []
    for side, parts, batches, others in (
        (Side.SOURCE, pair.source, source, mirror),
        (Side.MIRROR, pair.mirror, mirror, source),
    ):
        kept, strays = _in_place(pair, parts, batches, others)
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
    held = sum(batch.next_offset - batch.base_offset for batch in rising[0])
    records = sum(max(0, batch.records) for batch in source)
    return Differences(tuple(findings), len(source), records, held - pair.below)


def _overlaps(pair: Pair, side: Side, batches: list[Batch]) -> Iterator[Finding]:
    """Where a file goes on beyond the base offset of the next: those batches are taken out of `batches`."""
    parts = pair.source if side is Side.SOURCE else pair.mirror
    for part in parts:
        reached, beyond = part.floor, []
        for batch in batches:
            if batch.path == part.path and batch.sound and batch.base_offset == reached:
                reached = batch.next_offset
                if reached > part.ceiling:
                    beyond.append(batch)
        if beyond and part.ceiling <= max(pair.to_offset, part.floor):
            batches[:] = [one for one in batches if one not in beyond]
            evidence = json.dumps(
                {"file": part.path.rpartition("/")[2], "position": beyond[0].position}
            )
            where = max(part.ceiling, part.floor), reached
            yield Finding(
                *pair[:2], *where, Class.SEGMENTS_OVERLAP, side, where[0], evidence=evidence
            )


def _table(parts: Sequence[Part], pair: Pair) -> tuple[list[Batch], list[Break]]:
    """The batches of one copy in file order, and what is no batch; a torn tail above the cut is neither.

    Where its first or last byte was in doubt, the parts hold more than the pair's offsets, which is left out here.
    """
    batches: list[Batch] = []
    breaks: list[Break] = []
    for part in parts:
        for found in walk(part):
            if isinstance(found, Batch):
                batches.append(found)
            elif found.base_offset < pair.to_offset or found.next_offset < OFFSET_MAX:
                breaks.append(found)
    if parts and parts[0].floor < pair.from_offset:
        batches = list(dropwhile(lambda one: one.next_offset <= pair.from_offset, batches))
    if parts and parts[-1].ceiling == OFFSET_MAX:
        while batches and batches[-1].base_offset >= pair.to_offset:
            batches.pop()
    return batches, breaks


def _in_place(
    pair: Pair, parts: Sequence[Part], batches: Sequence[Batch], others: Sequence[Batch]
) -> tuple[list[Batch], list[tuple[Batch, bool]]]:
    """The batches that stand in order and in the pair's offsets; the others, and whether another unit is theirs."""
    floor = parts[0].floor if parts else pair.from_offset

    def elsewhere(batch: Batch) -> bool:
        return not floor <= batch.base_offset < pair.to_offset

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


def _broken(pair: Pair, side: Side, found: Break) -> Finding:
    evidence: dict[str, object] = {
        "file": found.path.rsplit("/", 1)[-1],
        "position": found.position,
        "bytes": found.size,
    }
    stop = max(found.base_offset, min(found.next_offset, pair.to_offset))
    finding = unreadable(pair, side, found.base_offset, stop, evidence)
    # Bytes between two batches that miss no offset hide nothing, but no reader gets past them.
    return finding if stop > found.base_offset else finding._replace(kind=Class.DAMAGED)


def unreadable(
    pair: Pair, side: Side, from_offset: int, to_offset: int, evidence: dict[str, object]
) -> Finding:
    return Finding(
        pair.topic,
        pair.partition,
        from_offset,
        to_offset,
        Class.UNREADABLE,
        side,
        first_offset=from_offset,
        evidence=json.dumps(evidence, sort_keys=True),
    )
