"""Promise P2, partition by partition: kept, broken, or unknown.

Kept means that every byte of the compared range was read on both sides and held nothing but equal batches (P11). What
could not be read is unknown; and so is a partition of which there was nothing to compare although the source has data.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from xxhash import xxh3_128_hexdigest

from federation.audit.comparison.findings import Class, Finding, Severity, Side
from federation.audit.comparison.unit import Unit, UnitOutcome
from federation.audit.cut.bounds import Bounds, compared_range
from federation.audit.cut.lag import Lag
from federation.audit.segments.replica import Stretch

_BROKER_IS_SILENT = (
    "a broker of an earlier release or of another vendor does not say it; name its data directory"
)
_FILES_ARE_SILENT = (
    "there are no checkpoint files beside its folders; give the facts that were taken with the copy"
)


class Verdict(StrEnum):
    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class PartitionVerdict(NamedTuple):
    """One row of the report; offsets [compared_from, compared_to) were compared but for `unread_offsets`;
    `absent_offsets` of them the source itself does not hold (compaction, or offsets never written)."""

    topic: str
    partition: int
    verdict: Verdict
    compared_from: int
    compared_to: int
    offsets: int
    unread_offsets: int
    absent_offsets: int
    batches: int
    records: int
    source_bytes: int
    mirror_bytes: int
    source_coverage: float
    mirror_coverage: float
    first_differing_offset: int
    classes: str
    lag_offsets: int
    lag_bytes: int
    lag_ms: int
    orphan_offsets: int
    source_log_start: int
    source_end: int
    source_end_from: str
    mirror_log_start: int
    mirror_end: int
    mirror_end_from: str
    source_digest: str
    mirror_digest: str


def at_the_cut(
    topic: str, partition: int, source: Bounds, mirror: Bounds, lag: Lag
) -> list[Finding]:
    """Findings that follow from the bounds alone, before a byte is compared."""

    def found(kind: Class, side: Side, start: int, stop: int, **evidence: object) -> Finding:
        text = json.dumps(evidence, sort_keys=True)
        return Finding(topic, partition, start, stop, kind, side, start, evidence=text)

    findings = []
    if lag.offsets:
        start = max(mirror.end, source.log_start)
        findings.append(
            found(Class.LAG, Side.MIRROR, start, source.end, bytes=lag.bytes, ms=lag.ms)
        )
    start, stop = compared_range(source, mirror)
    reached = source.log.end_offset if source.log is not None and not source.log.is_empty else -1
    if reached < source.high_watermark and not (source.listed and reached >= stop):
        # Nobody can say what the source held beyond, so the mirror is not accused of anything there.
        error = (
            f"the log ends at {max(0, reached)}, below its high watermark {source.high_watermark}"
        )
        stop = mirror.end if not source.listed else stop
        if max(start, reached) < stop:
            findings.append(
                found(Class.UNREADABLE, Side.SOURCE, max(start, reached), stop, error=error)
            )
    if mirror.end > source.end and (source.listed or reached >= source.high_watermark):
        start = max(source.end, mirror.log_start)
        findings.append(found(Class.MIRROR_AHEAD, Side.MIRROR, start, mirror.end))
    return findings + _lost_segments(topic, partition, source, mirror)


def _lost_segments(topic: str, partition: int, source: Bounds, mirror: Bounds) -> list[Finding]:
    """Segments that no replica of a side has; where another has them, comparing the two finds it."""
    findings = []
    for side, bounds in ((Side.SOURCE, source), (Side.MIRROR, mirror)):
        lost = [set(one.log.lost) for one in bounds.replicas]
        for base, following in sorted(set.intersection(*lost) if lost else ()):
            evidence = json.dumps({"file": f"{base:020}.log"})
            stop = min(following, max(base, source.end, mirror.end))
            kind = Class.SEGMENT_MISSING
            findings.append(
                Finding(topic, partition, base, stop, kind, side, base, evidence=evidence)
            )
    return findings


def unread_replicas(topic: str, partition: int, side: Side, bounds: Bounds) -> list[Finding]:
    """In-sync replicas that no directory holds, or that nobody knows to be in sync (P11)."""
    where = topic, partition, bounds.log_start, max(bounds.end, bounds.log_start)

    def found(kind: Class, replica: str, **evidence: str) -> Finding:
        text = json.dumps(evidence, sort_keys=True)
        return Finding(*where, kind, side, bounds.log_start, evidence=text, replica=replica)

    findings = [
        found(
            Class.UNREADABLE,
            f"{side} node {node_id}",
            error="it is in sync, and none of the directories is this node's",
        )
        for node_id in bounds.absent
    ]
    if not bounds.in_sync_known:
        why = "which replicas are in sync; --replicas all judges what the directories hold"
        findings.append(found(Class.NOT_ASKED, "", needed=why))
    return findings


def unclear_clean_points(
    topic: str, partition: int, source: Bounds, mirror: Bounds, *, is_compacted: bool
) -> list[Finding]:
    """What compaction may have changed cannot be told from what it has not: nothing is compared."""
    sides = (Side.SOURCE, source), (Side.MIRROR, mirror)
    found = {f"{side} {one.log.node}": one for side, bounds in sides for one in bounds.replicas}
    silent = {name: one for name, one in found.items() if one.clean < 0}
    if not silent or not (is_compacted or any(one.clean > 0 for one in found.values())):
        return []
    fetched = [name for name, one in silent.items() if not one.log.folder]
    needed = _BROKER_IS_SILENT if fetched else _FILES_ARE_SILENT
    needed = f"up to where {', '.join(sorted(fetched or silent))} was compacted: {needed}"
    start, stop = compared_range(source, mirror)
    evidence = json.dumps({"needed": needed})
    kind = Class.NOT_ASKED
    return [Finding(topic, partition, start, stop, kind, Side.NEITHER, start, evidence=evidence)]


def orphan_tail(topic: str, partition: int, cut: int, end: int, tail: Lag) -> list[Finding]:
    """What the old source has beyond the cut that a failover stands on: lost to the new one, and no fault of it."""
    if cut >= end:
        return []
    evidence = json.dumps({"bytes": tail.bytes}, sort_keys=True)
    kind = Class.ORPHAN_TAIL
    return [Finding(topic, partition, cut, end, kind, Side.SOURCE, cut, evidence=evidence)]


def judge(
    examined: tuple[str, int, Bounds, Bounds, Lag],
    planned: Sequence[Unit],
    outcomes: Sequence[UnitOutcome],
    findings: Sequence[Finding],
) -> PartitionVerdict:
    """The verdict on one partition, from its units' outcomes in offset order and its settled findings."""
    topic, partition, source, mirror, lag = examined
    start, stop = compared_range(source, mirror)
    read = sum(one.source_bytes for one in outcomes), sum(one.mirror_bytes for one in outcomes)
    done = {one[:4]: one for one in outcomes}
    wanted = _planned(planned, done, Side.SOURCE), _planned(planned, done, Side.MIRROR)
    all_planned = sum(one.to_offset - one.from_offset for one in planned) == stop - start
    unread = _unread(findings, start, stop)
    grave = [one for one in findings if one.severity is not Severity.NOTE]
    faults = [one for one in grave if one.severity is Severity.FAULT]
    owed_from = max(source.log_start, source.judged_until, _skipped(findings, source.log_start))
    nothing = start == stop and source.end > owed_from
    if faults:
        verdict = Verdict.BROKEN
    elif grave or read != wanted or nothing or not all_planned:
        verdict = Verdict.UNKNOWN
    else:
        verdict = Verdict.KEPT
    return PartitionVerdict(
        topic=topic,
        partition=partition,
        verdict=verdict,
        compared_from=start,
        compared_to=stop,
        offsets=stop - start - unread,
        unread_offsets=unread,
        absent_offsets=max(0, stop - start - unread - sum(one.held_offsets for one in outcomes)),
        batches=sum(one.batches for one in outcomes),
        records=sum(one.records for one in outcomes),
        source_bytes=read[0],
        mirror_bytes=read[1],
        source_coverage=_share(read[0], wanted[0]),
        mirror_coverage=_share(read[1], wanted[1]),
        first_differing_offset=min((one.first_offset for one in faults), default=-1),
        classes=" ".join(sorted({one.kind.value for one in findings})),
        lag_offsets=lag.offsets,
        lag_bytes=lag.bytes,
        lag_ms=lag.ms,
        orphan_offsets=sum(
            one.to_offset - one.from_offset for one in findings if one.kind is Class.ORPHAN_TAIL
        ),
        source_log_start=source.log_start,
        source_end=source.end,
        source_end_from="listed" if source.listed else "checkpoint and log end",
        mirror_log_start=mirror.log_start,
        mirror_end=mirror.end,
        mirror_end_from="listed" if mirror.listed else "checkpoint and log end",
        source_digest=_chained(one.source_digest for one in outcomes),
        mirror_digest=_chained(one.mirror_digest for one in outcomes),
    )


def overall(partitions: Sequence[PartitionVerdict]) -> Verdict:
    """The worst: one broken partition breaks the promise, one unknown leaves it open."""
    verdicts = {row.verdict for row in partitions}
    for verdict in (Verdict.BROKEN, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Verdict.KEPT


def _planned(
    units: Sequence[Unit], done: Mapping[tuple[str, int, int, int], UnitOutcome], side: Side
) -> int:
    """Bytes. How many a fetched copy has, only fetching it shows; what could not be fetched is a finding."""
    total = 0
    for unit in units:
        outcome = done.get(unit[:4])
        if outcome is not None and any(one.fetched for one in unit.of(side)):
            total += outcome.source_bytes if side is Side.SOURCE else outcome.mirror_bytes
        else:
            total += sum(Stretch(one.parts, one.fetched).size for one in unit.of(side))
    return total


def _skipped(findings: Sequence[Finding], start: int) -> int:
    """Up to where holes of the ledger cover everything from `start` on: a mirror may hold nothing else."""
    for one in sorted(findings, key=lambda one: one.from_offset):
        if one.kind is Class.KNOWN_HOLE and one.from_offset <= start:
            start = max(start, one.to_offset)
    return start


def _unread(findings: Sequence[Finding], start: int, stop: int) -> int:
    """Offsets of the range that either side could not be read at."""
    total, reached = 0, start
    for one in sorted(findings, key=lambda one: one.from_offset):
        if one.kind is Class.UNREADABLE:
            low, high = max(one.from_offset, reached), min(one.to_offset, stop)
            total += max(0, high - low)
            reached = max(reached, high)
    return total


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _chained(digests: Iterable[str]) -> str:
    return xxh3_128_hexdigest(" ".join(digests).encode())
