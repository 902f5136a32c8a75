"""Compare one unit: every replica's bytes of one offset range, wherever the engine put the task.

A unit is one source segment and whatever the other replicas hold of its offsets, so what it finds does not depend on
how units were packed into tasks. The fast path reads every byte of every replica once; the slow path is taken for a
unit that is not plainly equal. There each side has one reference copy: a sound one before a damaged one, then the
one with whose bytes most replicas of both sides agree. Every other copy of that side must equal it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from federation.audit.comparison import by_key
from federation.audit.comparison.differences import Differences, differences, unreadable
from federation.audit.comparison.digests import Digest, digest, digest_and_walk, size
from federation.audit.comparison.fetched_copies import in_files
from federation.audit.comparison.findings import Class, Finding, Side
from federation.audit.comparison.kept_records import kept_records
from federation.audit.comparison.unit import Unit, UnitCopy, UnitOutcome
from federation.audit.segments.indexes import PartIndexes, marked, places

NOTHING_READ = Digest(0, "")


class CopyRead(NamedTuple):
    """One copy and what reading it came to; `error` where it could not be read."""

    copy: UnitCopy
    digest: Digest
    error: OSError | None = None

    @property
    def is_whole(self) -> bool:
        return self.digest.bytes_read == size(self.copy.parts)

    def equals(self, other: "CopyRead") -> bool:
        return self.digest[:2] == other.digest[:2]


def compare(unit: Unit, payload: bool) -> UnitOutcome:
    """Never raises for what files and brokers hold or lack: that is an outcome."""
    with in_files(unit) as (here, failed):
        return _compare(here, failed, payload)


def _compare(unit: Unit, failed: Mapping[str, OSError], payload: bool) -> UnitOutcome:
    if unit.by_key:
        return _by_key(unit, failed)
    first, *others = unit.copies
    readings = [_read(one, failed, lambda copy: digest(copy.parts)) for one in others]
    ends = [one.parts for one in others]
    indexes = [each for one in unit.copies for each in _indexes(one)]
    source = _read(first, failed, lambda copy: digest_and_walk(copy.parts, ends, places(indexes)))
    if source.digest.sound and all(one.is_whole and one.equals(source) for one in readings):
        equal = _outcome(unit, [source, *readings], source, source)
        damaged = (each for one in unit.copies for each in _damaged_indexes(unit, one, source))
        return equal._replace(findings=tuple(damaged))
    return _apart(unit, [_read(one, failed, _walked) for one in unit.copies], payload)


def _by_key(unit: Unit, failed: Mapping[str, OSError]) -> UnitOutcome:
    """Every copy is read twice: as bytes, with its indexes, and as records."""
    readings = [_read(one, failed, _walked) for one in unit.copies]
    tables = {
        each.copy.replica: by_key.read(each.copy, unit) for each in readings if each.error is None
    }
    source, mirror = (_speaker(readings, side) for side in (Side.SOURCE, Side.MIRROR))
    findings = list(_unread(unit, readings, (source, mirror)))
    for side in (Side.SOURCE, Side.MIRROR):
        findings += kept_records(unit, [one for one in tables.values() if one.copy.side is side])
    for one in readings:
        if one.error is not None:
            continue
        reference = source if one.copy.side is Side.SOURCE else mirror
        about = "" if one is reference else one.copy.replica
        found = list(tables[one.copy.replica].troubles)
        if one is not reference and reference.error is None:
            found += by_key.differences(
                unit, tables[reference.copy.replica], tables[one.copy.replica]
            )
        findings += [each._replace(replica=about) for each in found]
        findings += _damaged_indexes(unit, one.copy, one) if one.digest.sound else []
    outcome = _outcome(unit, readings, source, mirror)._replace(record_counts=(0, 0))
    if source.error is None and mirror.error is None:
        theirs, ours = tables[source.copy.replica], tables[mirror.copy.replica]
        findings += by_key.differences(unit, theirs, ours)
        outcome = outcome._replace(
            batches=theirs.batches,
            records=len(theirs.digests),
            held_offsets=len(theirs.digests),
            source_digest=theirs.fingerprint(),
            mirror_digest=ours.fingerprint(),
        )
    return outcome._replace(findings=tuple(findings))


def _speaker(readings: Sequence[CopyRead], side: Side) -> CopyRead:
    """A copy that can be read before one that cannot, and a sound one before a damaged one."""
    return max(
        (one for one in readings if one.copy.side is side),
        key=lambda one: (one.error is None, one.digest.sound),
    )


def _walked(copy: UnitCopy) -> Digest:
    return digest_and_walk(copy.parts, (), places(_indexes(copy)))


def _read(
    copy: UnitCopy, failed: Mapping[str, OSError], read: Callable[[UnitCopy], Digest]
) -> CopyRead:
    if copy.replica in failed:
        return CopyRead(copy, NOTHING_READ, failed[copy.replica])
    try:
        return CopyRead(copy, read(copy))
    except OSError as error:
        return CopyRead(copy, NOTHING_READ, error)


def _apart(unit: Unit, readings: Sequence[CopyRead], payload: bool) -> UnitOutcome:
    """The slow path."""
    source, mirror = (_reference(readings, side) for side in (Side.SOURCE, Side.MIRROR))
    outcome = _outcome(unit, readings, source, mirror)
    findings = list(_unread(unit, readings, (source, mirror)))
    if source.error is None and mirror.error is None:
        found, failed = _differences(unit, source, mirror, payload)
        findings += [*found.findings, *failed]
        outcome = outcome._replace(
            batches=found.batches, records=found.records, held_offsets=found.offsets
        )
    for side, reference in ((Side.SOURCE, source), (Side.MIRROR, mirror)):
        for one in readings:
            if one.copy.side is side and one is not reference:
                findings += _beside(unit, reference, one, payload)
    for one in readings:
        if one.digest.sound:
            findings += _damaged_indexes(unit, one.copy, one)
    return outcome._replace(findings=tuple(findings))


def _indexes(copy: UnitCopy) -> list[PartIndexes]:
    begins = accumulate((part.stop - part.start for part in copy.parts), initial=0)
    parts = zip(copy.parts, begins, strict=False)
    return [PartIndexes(part, begin) for part, begin in parts if part.is_indexed]


def _damaged_indexes(unit: Unit, copy: UnitCopy, read: CopyRead) -> Iterator[Finding]:
    """Of a copy with the bytes of `read`; a file that several units read is reported by each of them."""
    replica = copy.replica if len(unit.of(copy.side)) > 1 else ""
    marks = marked(read.digest.marks)
    for index in _indexes(copy):
        for found in index.damages(marks, read.digest.reached):
            evidence = {"file": found.path.rpartition("/")[2], "entry": found.number}
            yield Finding(
                *unit[:2],
                found.offset,
                found.offset + 1,
                Class.INDEX_DAMAGED,
                copy.side,
                found.offset,
                evidence=json.dumps(evidence, sort_keys=True),
                replica=replica,
            )


def _beside(unit: Unit, reference: CopyRead, one: CopyRead, payload: bool) -> list[Finding]:
    """What is wrong with a copy that should equal its side's reference; the reference's own damage is not."""
    is_alike = one.equals(reference) and one.digest.sound >= reference.digest.sound
    if is_alike or one.error is not None or reference.error is not None:
        return []
    found, failed = _differences(unit, reference, one, payload)
    return [
        each._replace(replica=one.copy.replica)
        for each in (*found.findings, *failed)
        if each.side not in (Side.SOURCE, Side.BOTH)
    ]


def _reference(readings: Sequence[CopyRead], side: Side) -> CopyRead:
    votes = Counter(one.digest[:2] for one in readings)
    return max(
        (one for one in readings if one.copy.side is side),
        key=lambda one: (
            one.error is None,
            one.digest.sound,
            votes[one.digest[:2]],
            one.digest.bytes_read,
        ),
    )


def _differences(
    unit: Unit, one: CopyRead, other: CopyRead, payload: bool
) -> tuple[Differences, list[Finding]]:
    """The differences of two copies, or that their files went away after they were read once."""
    pair = unit.pair(one.copy, other.copy)
    if one.digest.sound and other.digest.sound and one.equals(other):
        return Differences((), *one.digest[2:4], one.digest.offsets - pair.below), []
    try:
        return differences(pair, payload), []
    except OSError as error:
        return Differences((), 0, 0, 0), [_unreadable(unit, Side.MIRROR, error)]


def _unread(
    unit: Unit, readings: Sequence[CopyRead], references: Sequence[CopyRead]
) -> Iterator[Finding]:
    for one in readings:
        if one.error is not None:
            finding = _unreadable(unit, one.copy.side, one.error)
            is_alone = any(one is each for each in references)
            yield finding if is_alone else finding._replace(replica=one.copy.replica)


def _unreadable(unit: Unit, side: Side, error: OSError) -> Finding:
    pair = unit.pair(unit.copies[0], unit.copies[0])
    evidence: dict[str, object] = {"error": error.strerror or type(error).__name__}
    return unreadable(pair, side, unit.from_offset, unit.to_offset, evidence)


def _outcome(
    unit: Unit, readings: Sequence[CopyRead], source: CopyRead, mirror: CopyRead
) -> UnitOutcome:
    gone = [one.error for one in readings if isinstance(one.error, FileNotFoundError)]
    read = dict.fromkeys(Side, 0)
    for one in readings:
        read[one.copy.side] += one.digest.bytes_read
    return UnitOutcome(
        *unit[:4],
        source_bytes=read[Side.SOURCE],
        mirror_bytes=read[Side.MIRROR],
        batches=source.digest.batches,
        records=source.digest.records,
        held_offsets=source.digest.offsets - unit.pair(source.copy, mirror.copy).below,
        source_digest=source.digest.digest,
        mirror_digest=mirror.digest.digest,
        findings=(),
        missing_file=str(gone[0].filename) if gone else "",
        record_counts=(source.digest.records, mirror.digest.records)
        if source.digest.sound and mirror.digest.sound
        else None,
    )
