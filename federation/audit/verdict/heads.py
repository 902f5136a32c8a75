"""Why a log starts later than another: nothing that is missing at the head is excused by itself.

A head is excused by the hole ledger, by a start at "latest" that the ledger holds, or by the retention that the
region itself has configured, where the data show it: Kafka deletes a segment once all its records are older than
`retention.ms`, or while what is left is at least `retention.bytes`. Everything else is missing; and where the region
could not be asked, unknown.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from federation.audit.comparison.findings import Class, Finding, Side
from federation.audit.cut.bounds import AuditedRegion, Bounds
from federation.audit.segments.replica import ReadableReplica
from federation.audit.verdict.holes import KnownHole

LATEST = "START_OFFSET_LATEST"
NEEDED = "its log start, and why: `causeway audit facts` of the region"


class Retention(NamedTuple):
    """A topic's own deletion; -1 is none."""

    ms: int
    bytes: int


def retention(region: AuditedRegion, topic: str) -> Retention | None:
    """None where the region did not say."""
    configs = region.facts.configs().get(topic) if region.facts is not None else None
    if configs is None or "delete" not in configs.get("cleanup.policy", "delete").split(","):
        return None if configs is None else Retention(-1, -1)
    return Retention(int(configs.get("retention.ms", -1)), int(configs.get("retention.bytes", -1)))


def heads(
    key: tuple[str, int],
    source: Bounds,
    mirror: Bounds,
    kept: tuple[Retention | None, Retention | None],
    holes: Sequence[KnownHole],
    at_ms: int,
) -> list[Finding]:
    """What the mirror, and single replicas of either side, do not hold at the head; `kept` is source's, mirror's."""
    found: list[Finding] = []
    start, stop = source.log_start, min(mirror.log_start, source.end)
    if start < stop:
        rest = _Head(key, Side.MIRROR, mirror.log, source.log, kept[1], at_ms)
        found += [one for span in _ledger(key, holes, start, stop) for one in rest.findings(*span)]
    elif mirror.log_start < min(source.log_start, mirror.end):
        where = mirror.log_start, min(source.log_start, mirror.end)
        found.append(Finding(*key, *where, Class.EXPIRED_ON_ONE_SIDE, Side.SOURCE, where[0]))
    for side, bounds, own in ((Side.SOURCE, source, kept[0]), (Side.MIRROR, mirror, kept[1])):
        for one in bounds.replicas:
            replica = f"{side} {one.log.node}"
            rest = _Head(key, side, one.log, _fullest(bounds), own, at_ms, replica)
            found += rest.findings(bounds.log_start, min(one.since, bounds.end), "")
    return found


def _fullest(bounds: Bounds) -> ReadableReplica | None:
    """The replica that reaches back furthest: it shows what the others no longer hold."""
    return min((one.log for one in bounds.replicas), key=lambda log: log.first_offset, default=None)


def _ledger(
    key: tuple[str, int], holes: Iterable[KnownHole], start: int, stop: int
) -> Iterator[tuple[int, int, str]]:
    """The range in pieces, each with its cause in the ledger or none."""
    reached = start
    known = [
        (start if one.cause == LATEST else one.from_offset, one.to_offset, one.cause)
        for one in holes
        if one[:2] == key
    ]
    for low, high, cause in sorted(known):
        low, high = max(low, reached), min(high, stop)
        if low < high:
            if reached < low:
                yield reached, low, ""
            yield low, high, cause
            reached = high
    if reached < stop:
        yield reached, stop, ""


class _Head(NamedTuple):
    """A log that starts late, and another that still holds what it lacks."""

    key: tuple[str, int]
    side: Side
    log: ReadableReplica | None
    holder: ReadableReplica | None
    kept: Retention | None
    at_ms: int
    replica: str = ""

    def findings(self, start: int, stop: int, cause: str) -> list[Finding]:
        if start >= stop:
            return []
        if cause:
            return [self._found(Class.KNOWN_HOLE, start, stop, cause=cause)]
        if self.kept is None:
            return [self._found(Class.NOT_ASKED, start, stop, needed=NEEDED)]
        expired = self._expired(self.kept, start, stop)
        missing = Class.REPLICA_DIVERGENT if self.replica else Class.MISSING_ON_MIRROR
        found = [
            self._found(Class.EXPIRED_ON_ONE_SIDE, start, expired, **self.kept._asdict()),
            self._found(missing, expired, stop, why="neither the ledger nor retention explains it"),
        ]
        return [one for one in found if one.from_offset < one.to_offset]

    def _expired(self, kept: Retention, start: int, stop: int) -> int:
        """Up to which offset the region's own retention explains that there is nothing."""
        if 0 <= kept.bytes <= (self.log.size if self.log is not None else 0):
            return stop
        if kept.ms < 0 or self.holder is None or self.holder.is_empty:
            return start
        return self.holder.newest_below(start, stop, self.at_ms - kept.ms)

    def _found(self, kind: Class, start: int, stop: int, **evidence: object) -> Finding:
        text = json.dumps(evidence, sort_keys=True)
        side = self.side if self.replica or kind is not Class.MISSING_ON_MIRROR else Side.NEITHER
        return Finding(
            *self.key, start, stop, kind, side, start, evidence=text, replica=self.replica
        )
