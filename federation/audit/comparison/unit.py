"""One offset range of a partition, on every replica of both sides: what a task compares, and what comes of it.

Units travel to workers and outcomes back as JSON: lists in field order.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from federation.audit.comparison.findings import Class, Finding, Side, from_row
from federation.audit.segments.batches import Part
from federation.audit.segments.replica import FetchRange, Stretch


class UnitCopy(NamedTuple):
    """What one replica has of a unit's offsets: in files, or on a broker from which it is still to be fetched.

    Compaction may have changed what lies below `clean`. Of a unit that is judged by key, the parts go on up to there.
    Below `markers_from` deletion markers may be missing.
    """

    side: Side
    node: str
    parts: tuple[Part, ...]
    fetched: FetchRange | None = None
    clean: int = 0
    markers_from: int = 0

    @property
    def replica(self) -> str:
        """How findings name it."""
        return f"{self.side} {self.node}".strip()


class Pair(NamedTuple):
    """Two copies that are set against each other, in offsets [from_offset, to_offset)."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    source: tuple[Part, ...]
    mirror: tuple[Part, ...]

    @property
    def below(self) -> int:
        """Offsets of the first batch that are below the range: a log may start in the middle of a batch."""
        return max(0, self.from_offset - self.source[0].floor) if self.source else 0


class Unit(NamedTuple):
    """Offsets [from_offset, to_offset) of a partition, and where each replica's bytes of them are.

    `by_key`: compaction may have changed them in any of the replicas.
    """

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    copies: tuple[UnitCopy, ...]
    by_key: bool = False

    @property
    def size(self) -> int:
        """Bytes of all copies, about."""
        return sum(Stretch(one.parts, one.fetched).size for one in self.copies)

    def of(self, side: Side) -> list[UnitCopy]:
        return [one for one in self.copies if one.side is side]

    def pair(self, one: UnitCopy, other: UnitCopy) -> Pair:
        return Pair(*self[:4], one.parts, other.parts)


class UnitOutcome(NamedTuple):
    """What comparing a unit came to: bytes of all copies of a side, and the digest of the copy that speaks for it.

    `missing_file` names a file that went away while the audit ran, `record_counts` are the source's and the mirror's,
    None where either is damaged.
    """

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
    record_counts: tuple[int, int] | None = None


def never_at_rest(outcome: UnitOutcome) -> UnitOutcome:
    """What was found may be the work of a cleaning that went on while the unit was read: it is not known (P11)."""
    if not outcome.findings:
        return outcome
    evidence = '{"error": "the log was compacted while it was read"}'
    where = outcome.topic, outcome.partition, outcome.from_offset, outcome.to_offset
    finding = Finding(*where, Class.UNREADABLE, Side.BOTH, outcome.from_offset, evidence=evidence)
    return outcome._replace(findings=(finding,))


def outcome_from_row(row: Sequence[Any]) -> UnitOutcome:
    outcome = UnitOutcome(*row)
    counts = outcome.record_counts
    return outcome._replace(
        findings=tuple(from_row(finding) for finding in outcome.findings),
        record_counts=None if counts is None else (counts[0], counts[1]),
    )


def unit_from_row(row: Sequence[Any]) -> Unit:
    copies = (
        UnitCopy(
            Side(side),
            node,
            tuple(Part(*part) for part in parts),
            FetchRange(*fetched) if fetched is not None else None,
            *compaction,
        )
        for side, node, parts, fetched, *compaction in row[4]
    )
    return Unit(row[0], row[1], row[2], row[3], tuple(copies), row[5])
