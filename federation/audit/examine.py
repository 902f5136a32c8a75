"""From a cut to what is to be compared of each partition, and what follows from its bounds alone."""

import fnmatch
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from federation.audit import plan
from federation.audit.comparison.findings import Finding, Side
from federation.audit.comparison.unit import Unit
from federation.audit.cut.bounds import Bounds, clean_point
from federation.audit.cut.cut import AuditCut
from federation.audit.cut.lag import Lag, lag
from federation.audit.options import Options
from federation.audit.result import CannotRun
from federation.audit.segments.checkpoints import Key
from federation.audit.since.earlier import Earlier, Observed, earlier, topic_id
from federation.audit.verdict.heads import heads, retention
from federation.audit.verdict.verdicts import (
    at_the_cut,
    orphan_tail,
    unclear_clean_points,
    unread_replicas,
)

NOTHING_THERE = Bounds(None, 0, 0, 0, False)


class Examined(NamedTuple):
    """One partition: its bounds, its lag, its units, and the findings that follow from its bounds alone.
    `is_compacted`: a region says that the topic is."""

    source: Bounds
    mirror: Bounds
    lag: Lag
    units: tuple[Unit, ...]
    findings: tuple[Finding, ...]
    earlier: Earlier
    topic_ids: tuple[str, str]
    is_compacted: bool = False

    def compacted_meanwhile(self) -> bool:
        """Whether a replica may have been compacted since the cut was taken."""
        return any(
            one.compacted_meanwhile(is_compacted=self.is_compacted)
            for one in (*self.source.replicas, *self.mirror.replicas)
        )


def chosen(taken: AuditCut, patterns: Sequence[str]) -> list[Key]:
    """Partitions of the topics that are asked for, on either side; internal topics never."""
    source = {topic for topic, _ in taken.source if not topic.startswith("__")}
    mirror = {topic for topic, _ in taken.mirror if not topic.startswith("__")}
    topics = source & mirror
    if patterns:
        topics = {
            one for one in source | mirror if any(fnmatch.fnmatchcase(one, p) for p in patterns)
        }
        idle = [p for p in patterns if not fnmatch.filter(source | mirror, p)]
        if idle:
            raise CannotRun(
                f"no such topic: {', '.join(idle)}; there are: {_listed(source | mirror)}"
            )
    if not topics:
        raise CannotRun(
            "the regions have no topic in common: nothing to audit"
            f" (source: {_listed(source)}; mirror: {_listed(mirror)})"
        )
    return sorted(key for key in taken.source.keys() | taken.mirror.keys() if key[0] in topics)


def _listed(topics: Iterable[str]) -> str:
    names = sorted(topics)
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "") or "none"


def examine(taken: AuditCut, keys: Iterable[Key], options: Options) -> dict[Key, Examined]:
    examined = {}
    last = options.since.by_key() if options.since is not None else {}
    prefix, cuts = options.mirror_prefix, options.all_cuts()
    holes = [one for one in options.all_holes() if one.is_skipped]
    cut_topics = {topic for topic, _ in cuts}
    for key in keys:
        source = taken.source.get(key) or NOTHING_THERE._replace(
            listed=options.source.facts is not None  # then it says that there is no such partition
        )
        mirror = taken.mirror.get(key, NOTHING_THERE)
        topic, partition = key
        stop = cuts.get((prefix + topic, partition))
        if stop is None and prefix + topic in cut_topics:
            stop = 0  # it was made after the mirror was cut: the two owe each other nothing
        orphans: list[Finding] = []
        if stop is not None:
            tail = lag(source, _until(mirror, stop), taken.at_ms)
            orphans = orphan_tail(*key, stop, source.end, tail)
            source, mirror = _until(source, stop), _until(mirror, stop)
        ids = topic_id(options.source, topic), topic_id(options.mirror, prefix + topic)
        before = Earlier()
        if options.since is not None:
            before = earlier(last.get(key), Observed(source, mirror, ids))
            if before.until and clean_point(source, mirror) > source.log_start:
                before = Earlier(because="compaction may have changed what was judged then")
            source = source._replace(judged_until=before.until)
        behind = lag(source, mirror, taken.at_ms)
        found = [*at_the_cut(*key, source, mirror, behind), *orphans]
        kept = retention(options.source, topic), retention(options.mirror, prefix + topic)
        found += heads(key, source, mirror, kept, holes, taken.at_ms)
        is_compacted = _compacts(options, key)
        unclear = unclear_clean_points(*key, source, mirror, is_compacted=is_compacted)
        found += unclear
        found += unread_replicas(*key, Side.SOURCE, source) + unread_replicas(
            *key, Side.MIRROR, mirror
        )
        units = () if unclear else tuple(plan.units(source, mirror))
        whole = source, mirror, behind, units, tuple(found), before, ids, is_compacted
        examined[key] = Examined(*whole)
    return examined


def _compacts(options: Options, key: Key) -> bool:
    """Whether either region says that the topic is compacted."""
    topic, _ = key
    sides = (options.source, topic), (options.mirror, options.mirror_prefix + topic)
    return any(
        "compact" in region.facts.configs().get(name, {}).get("cleanup.policy", "")
        for region, name in sides
        if region.facts is not None
    )


def _until(bounds: Bounds, stop: int) -> Bounds:
    """The same, speaking for nothing at or above `stop`."""
    return bounds._replace(
        end=min(bounds.end, stop),
        high_watermark=min(bounds.high_watermark, stop),
        replicas=tuple(
            one._replace(until=min(one.until, max(stop, bounds.log_start)))
            for one in bounds.replicas
        ),
    )
