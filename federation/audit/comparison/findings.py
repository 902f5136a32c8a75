"""What an audit can find: the classes, how grave each is, and one finding as a row.

A fault breaks promise P2 (or P8). An unknown is a stretch that could not be read: promise P11 forbids to speak for
it. A note is legal but worth knowing.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple


class Severity(StrEnum):
    FAULT = "fault"
    UNKNOWN = "unknown"
    NOTE = "note"


class Side(StrEnum):
    """Where the trouble is; NEITHER where both sides are sound and merely differ."""

    SOURCE = "source"
    MIRROR = "mirror"
    BOTH = "both"
    NEITHER = ""


class Class(StrEnum):
    MISSING_ON_MIRROR = "missing_on_mirror"
    EXTRA_ON_MIRROR = "extra_on_mirror"
    DUPLICATE = "duplicate"
    OUT_OF_ORDER = "out_of_order"
    DIVERGENT = "divergent"
    CONTROL_BATCH_MISMATCH = "control_batch_mismatch"
    DAMAGED = "damaged"
    EPOCH_MISMATCH = "epoch_mismatch"
    REBATCHED = "rebatched"
    MIRROR_AHEAD = "mirror_ahead"
    UNREADABLE = "unreadable"
    KNOWN_HOLE = "known_hole"
    KNOWN_STALE = "known_stale"
    MARKER_MISSED = "marker_missed"
    LAG = "lag"
    EXPIRED_ON_ONE_SIDE = "expired_on_one_side"
    ORPHAN_TAIL = "orphan_tail"
    MALFORMED = "malformed"
    INDEX_DAMAGED = "index_damaged"
    SEGMENT_MISSING = "segment_missing"
    SEGMENTS_OVERLAP = "segments_overlap"
    REPLICA_DIVERGENT = "replica_divergent"
    NOT_ASKED = "not_asked"
    DISPLACED = "displaced"
    """A batch below its place in the file; `settle` turns it into a duplicate or a batch out of order."""


MEANING = {
    Class.MISSING_ON_MIRROR: "the source holds it, the mirror does not",
    Class.EXTRA_ON_MIRROR: "the mirror holds it, the source does not",
    Class.DUPLICATE: "stored a second time",
    Class.OUT_OF_ORDER: "stored, but not where its offsets belong",
    Class.DIVERGENT: "different bytes under valid checksums",
    Class.CONTROL_BATCH_MISMATCH: "different transaction markers",
    Class.DAMAGED: "the checksum fails on the side named",
    Class.EPOCH_MISMATCH: "same bytes, other leader epoch",
    Class.REBATCHED: "same records in other batches",
    Class.MIRROR_AHEAD: "the mirror goes on beyond the source's end (after a failover: audit with --cut)",
    Class.UNREADABLE: "the side named could not be read here",
    Class.KNOWN_HOLE: "skipped by the link, and in its hole ledger",
    Class.KNOWN_STALE: "deleted in the other region, whose deletion marker was missed: the hole ledger says so",
    Class.MARKER_MISSED: "deleted, and kept by the replica named, which was away until the deletion marker was gone",
    Class.LAG: "not mirrored yet at the cut",
    Class.EXPIRED_ON_ONE_SIDE: "below the other side's log start",
    Class.ORPHAN_TAIL: "what the old source has beyond the cut of a failover",
    Class.MALFORMED: "the checksum holds, and the records are not what the header says",
    Class.INDEX_DAMAGED: "an index leads elsewhere than to its batches",
    Class.SEGMENT_MISSING: "a segment's log file is gone, its indexes are still there",
    Class.SEGMENTS_OVERLAP: "a segment goes on beyond the start of the next",
    Class.REPLICA_DIVERGENT: "one replica differs from the others of its region",
    Class.NOT_ASKED: "cannot be judged: the region did not say what the audit must know",
    Class.DISPLACED: "below its place in the file",
}

UNKNOWNS = frozenset({Class.UNREADABLE, Class.NOT_ASKED})
NOTES = frozenset(
    {
        Class.LAG,
        Class.EXPIRED_ON_ONE_SIDE,
        Class.KNOWN_HOLE,
        Class.KNOWN_STALE,
        Class.MARKER_MISSED,
        Class.ORPHAN_TAIL,
    }
)


def severity_of(kind: Class, side: Side) -> Severity:
    """A file that the source lost leaves its mirror unjudged; one that the mirror lost is the mirror's fault."""
    if kind in UNKNOWNS or (kind is Class.SEGMENT_MISSING and side is Side.SOURCE):
        return Severity.UNKNOWN
    return Severity.NOTE if kind in NOTES else Severity.FAULT


class Finding(NamedTuple):
    """Offsets [from_offset, to_offset) of one partition; fingerprints are xxh3-128 of what stands there.

    `first_offset` is the first offset that differs (a record's, where the batch was opened), `first_byte` the first
    differing byte of the batch (-1: none or not compared), `evidence` a JSON object, `replica` the one replica of
    its side that it is about, where that is not all of them.
    """

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    kind: Class
    side: Side = Side.NEITHER
    first_offset: int = -1
    batches: int = 0
    records: int = 0
    source_fingerprint: str = ""
    mirror_fingerprint: str = ""
    first_byte: int = -1
    evidence: str = "{}"
    replica: str = ""

    @property
    def severity(self) -> Severity:
        return severity_of(self.kind, self.side)


def continues(finding: Finding, before: Finding) -> bool:
    """It is of one class and place with its neighbour: they are one range. Batches out of order stay apart."""
    return (
        finding.kind is not Class.OUT_OF_ORDER
        and finding.from_offset == before.to_offset
        and (finding.kind, finding.side, finding.replica)
        == (before.kind, before.side, before.replica)
    )


def joined(before: Finding, finding: Finding) -> Finding:
    """One range of both, with the evidence of the first."""
    return before._replace(
        to_offset=finding.to_offset,
        batches=before.batches + finding.batches,
        records=before.records + finding.records,
    )


def from_row(row: Sequence[Any]) -> Finding:
    """A finding out of its JSON form, a list in field order."""
    finding = Finding(*row)
    return finding._replace(kind=Class(finding.kind), side=Side(finding.side))
