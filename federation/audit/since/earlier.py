"""What of a partition earlier reports judged, and whether that still stands.

An earlier verdict is about bytes that were read then. It is taken over only where the logs still are those logs: the
same topic and replicas, reaching at least as far, with the same last batch below the place where it ended.
"""

from collections.abc import Iterable
from typing import NamedTuple

from xxhash import xxh3_128_hexdigest

from federation.audit.comparison.findings import Side
from federation.audit.cut.bounds import AuditedRegion, Bounds
from federation.audit.segments.replica import ReadableReplica
from federation.audit.since.last_report import JudgedRange, LastPartition


class Earlier(NamedTuple):
    """`judged_by` are ranges that earlier reports found kept, up to `until`; without any, `because` says why."""

    judged_by: tuple[JudgedRange, ...] = ()
    until: int = 0
    because: str = ""


class Observed(NamedTuple):
    """A partition as it is now, as far as an earlier verdict hangs on it."""

    source: Bounds
    mirror: Bounds
    topic_ids: tuple[str, str]

    @property
    def replicas(self) -> list[str]:
        """Who is judged now."""
        return sorted(
            f"{side} {one.log.node}"
            for side, bounds in ((Side.SOURCE, self.source), (Side.MIRROR, self.mirror))
            for one in bounds.replicas
        )

    def tails(self, offset: int) -> tuple[str, str]:
        return tail(self.source.log, offset), tail(self.mirror.log, offset)


def tail(log: ReadableReplica | None, offset: int) -> str:
    """Digest of the batch that holds the last offset below `offset`; empty where the log has none."""
    if log is None or log.is_empty or not log.first_offset < offset <= log.end_offset:
        return ""
    try:
        batch = log.batch_at(log.first_covering(offset - 1))
    except OSError:
        return ""
    return xxh3_128_hexdigest(batch) if batch else ""


def topic_id(region: AuditedRegion, topic: str) -> str:
    """As the region says it; empty where it does not."""
    topics: Iterable[tuple[str, str]] = (
        ((one.name, one.topic_id) for one in region.facts.topics) if region.facts else ()
    )
    return dict(topics).get(topic, "")


def earlier(last: LastPartition | None, now: Observed) -> Earlier:
    """What still stands of the earlier verdict: all of it, or nothing with the reason."""
    because = _because(last, now)
    if because or last is None:
        return Earlier(because=because)
    return Earlier(tuple(last.judged_by), last.compared_to)


def _because(last: LastPartition | None, now: Observed) -> str:
    if last is None or not last.judged_by:
        return "it was not judged then"
    if last.verdict != "kept":
        return f"it was {last.verdict} then"
    if any(
        then and new and then != new
        for then, new in zip(last.topic_ids, now.topic_ids, strict=True)
    ):
        return "the topic was created anew since"
    if others := [one for one in now.replicas if one not in last.replicas]:
        return f"not judged then: {', '.join(others)}"
    end = min(now.source.end, now.mirror.end)
    if end < last.compared_to:
        return f"the log ends at {end}, it was judged up to {last.compared_to}"
    start = max(now.source.log_start, now.mirror.log_start)
    if start < last.judged_by[0].from_offset:
        return f"the log starts at {start}, it was judged from {last.judged_by[0].from_offset} on"
    if start < last.compared_to and now.tails(last.compared_to) != (
        last.source_tail,
        last.mirror_tail,
    ):
        return f"the batch below offset {last.compared_to} is another than then"
    return ""
