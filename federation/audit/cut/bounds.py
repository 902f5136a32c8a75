"""What an audit knows of both sides of a partition: which replicas there are, and for which offsets each speaks."""

from typing import NamedTuple

from federation.audit.facts.region_facts import RegionFacts
from federation.audit.segments.replica import ReadableReplica


class AuditedRegion(NamedTuple):
    """A region as the audit finds it: its name, its nodes' data directories, its address or an empty text, and what
    it says of itself, or None where it could not be asked (`because` says why).

    In-sync replicas of which no directory is named are fetched from the brokers, where these answer.
    """

    name: str
    data_dirs: tuple[str, ...]
    bootstrap: str = ""
    facts: RegionFacts | None = None
    because: str = "no facts given"


class AuditedReplica(NamedTuple):
    """One replica, which is judged from `since` on, where its files begin, and below `until`. Compaction may have
    changed what lies below `clean`; -1: nobody says up to where. Below `markers_from` deletion markers may be missing.
    """

    log: ReadableReplica
    since: int
    until: int
    clean: int = 0
    markers_from: int = 0

    def compacted_meanwhile(self, *, is_compacted: bool) -> bool:
        """Where nobody answers any more, it is assumed of a topic that is compacted, and of a log that has been."""
        if self.log.compaction is None:
            return False
        try:
            return self.log.compaction_now() != self.log.compaction
        except OSError:
            return is_compacted or self.clean > 0


class Bounds(NamedTuple):
    """One side of a partition: offsets [log_start, end); a reader was promised those below the high watermark.

    `log` is the replica that reaches furthest, by which the audit is planned. All `replicas` must hold the same
    below `agreed`. `absent` are in-sync nodes whose directories were not named; `in_sync_known` says whether the
    region said which replicas are in sync. Below `judged_until`, earlier reports found the partition kept.
    """

    log: ReadableReplica | None
    log_start: int
    high_watermark: int
    end: int
    listed: bool
    replicas: tuple[AuditedReplica, ...] = ()
    agreed: int = 0
    absent: tuple[int, ...] = ()
    in_sync_known: bool = True
    judged_until: int = 0


def clean_point(source: Bounds, mirror: Bounds) -> int:
    """Below it compaction may have changed the log of a replica."""
    return max((one.clean for one in (*source.replicas, *mirror.replicas)), default=0)


def compared_range(source: Bounds, mirror: Bounds) -> tuple[int, int]:
    """The offsets that both sides should hold and that are to be read; empty ranges end where they start."""
    start = max(source.log_start, mirror.log_start, source.judged_until)
    return start, max(start, min(source.end, mirror.end))
