"""What a failover of mirror topics now would cost, by what is known: lower bounds, each with its age."""

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import DescribeGroups, GroupsDescribed, MirrorPartitionStatus
from linker.administration.known_names import require_all_written
from linker.administration.registry import (
    PreparedAnswer,
    Registry,
    Respond,
    find_link,
    shown_state,
    sorted_links,
)
from linker.answers import Forecast, GroupForecast, PartitionForecast, TopicForecast
from linker.commands import ForecastMirrors
from linker.containment import Containment
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_topic import MirrorTopic
from linker.records.mirror_state import LIVE
from linker.region_client import Effects, RegionClient

Found: TypeAlias = list[tuple[ClusterLink, MirrorTopic]]


def forecast(
    region: RegionClient,
    registry: Registry,
    command: ForecastMirrors,
    respond: Respond,
    contained: Containment,
) -> PreparedAnswer:
    """Of live mirror topics. Raises LinkRefusal for one that is named and is not."""
    links = [find_link(registry, command.link)] if command.link else sorted_links(registry)
    found = [
        (link, mirror)
        for link in links
        for topic, mirror in sorted(link.mirrors.items())
        if mirror.record.state in LIVE and topic in (command.topics or (topic,))
    ]
    require_all_written(
        region.view.image, command.link, command.topics, [mirror.topic for _, mirror in found]
    )

    def described(answer: GroupsDescribed, at: Instant) -> Effects:
        topics = (_topic(link, mirror, answer.active, at) for link, mirror in found)
        return respond(Forecast(tuple(topics)), at)

    def collected(at: Instant) -> Effects:
        ask = partial(DescribeGroups, groups=_groups_of(found))
        return [region.ask(ask, contained.then(described))]

    return PreparedAnswer(collected, partial(registry.reports.collect, links))


def _groups_of(found: Found) -> tuple[str, ...]:
    each = (
        group
        for link, mirror in found
        for group, _, _ in link.groups.of_topic(mirror.record.source_topic)
    )
    return tuple(dict.fromkeys(each))


def _topic(
    link: ClusterLink, mirror: MirrorTopic, active: Mapping[str, bool], now: Instant
) -> TopicForecast:
    partitions = tuple(
        _partition(link, mirror, index, now) for index in range(mirror.partition_count)
    )
    return TopicForecast(
        mirror.topic,
        shown_state(link, mirror).value,
        partitions,
        _groups(link, mirror, active, now),
        copies_groups=bool(link.config.group_filters),
    )


def _partition(
    link: ClusterLink, mirror: MirrorTopic, index: int, now: Instant
) -> PartitionForecast:
    report = link.reports.of(TopicPartition(mirror.topic, index), now)
    if report is None or report.log_end_offset < 0:
        return PartitionForecast(index, -1, -1, -1, -1)
    source = report.source_high_watermark
    missing = max(0, source - report.high_watermark) if source >= 0 else -1
    return PartitionForecast(
        index, report.high_watermark, source, missing, report.since_received_ms
    )


def _groups(
    link: ClusterLink, mirror: MirrorTopic, active: Mapping[str, bool], now: Instant
) -> tuple[GroupForecast, ...]:
    return tuple(
        _group(link, TopicPartition(mirror.topic, place.partition), group, committed, active, now)
        for group, place, committed in link.groups.of_topic(mirror.record.source_topic)
    )


def _group(
    link: ClusterLink,
    place: TopicPartition,
    group: str,
    committed: Offset,
    active: Mapping[str, bool],
    now: Instant,
) -> GroupForecast:
    report = link.reports.of(place, now)
    end = report.high_watermark if report is not None else -1
    resumes_at = link.groups.placed(group, place)
    return GroupForecast(
        group,
        place.partition,
        committed,
        resumes_at,
        max(0, min(committed, end) - resumes_at) if resumes_at >= 0 <= end else -1,
        _read_and_lost(committed, report),
        active.get(group),
        link.groups.active_at_source.get(group),
    )


def _read_and_lost(committed: Offset, report: MirrorPartitionStatus | None) -> int:
    """Kafka takes a commit beyond the end of a log: nothing was read there, where that end is known."""
    if report is None or report.log_end_offset < 0:
        return -1
    is_known = report.source_high_watermark >= 0 and not report.is_lower_bound
    read = min(committed, report.source_high_watermark) if is_known else committed
    return max(0, read - report.high_watermark)
