"""Descriptions of links and mirrors for operators, computed from records, replicators and the region's view."""

from collections import Counter
from collections.abc import Iterator

from brokers.ids import Instant, TopicPartition
from brokers.region import MirrorPartitionStatus
from linker.administration.registry import AnyLink, Registry, shown_state, worse_half
from linker.administration.transitions import transition_of
from linker.answers import (
    LinkDescription,
    MirrorDescription,
    PartitionLag,
    Task,
    TotalLag,
    Transition,
    TransitionStep,
    total_lag,
)
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_refusals import TAKEN_OVER_HINT
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_link import SourceLink
from linker.errors import HOLES_HINT, LINK_HINTS, MIRROR_HINTS, TaskError, TaskState
from linker.records import hole_ledger
from linker.records.link_state import LinkState
from linker.records.mirror_record import verb_of
from linker.records.mirror_state import (
    CATEGORIES,
    LIVE,
    RESTORING,
    STOPPING,
    Category,
    MirrorState,
)
from linker.region_client import RegionClient

_TASK_STATES = {
    LinkState.ACTIVE: TaskState.ACTIVE,
    LinkState.PAUSED: TaskState.LINK_PAUSED,
    LinkState.UNAVAILABLE: TaskState.LINK_UNAVAILABLE,
    LinkState.FAILED: TaskState.LINK_FAILED,
    LinkState.UNKNOWN: TaskState.UNKNOWN,
}


def describe_source_link(link: SourceLink) -> LinkDescription:
    """Of link.mode SOURCE: mirrors and tasks are the destination's."""
    return LinkDescription(
        name=link.name,
        link_id=link.record.link_id,
        source_cluster_id="",
        destination_cluster_id=link.record.source_cluster_id,
        mode="SOURCE",
        state=link.state.value,
        error=link.error.value,
        because=link.because,
        topics=(),
        category_counts={},
        tasks=(),
        created_at=link.record.created_at,
        hint=LINK_HINTS[link.error],
    )


def describe_any_link(registry: Registry, link: AnyLink) -> LinkDescription:
    if isinstance(link, ClusterLink):
        return describe_link(link, registry.source_links.get(link.name))
    return describe_source_link(link)


def describe_link(link: ClusterLink, dialing: SourceLink | None) -> LinkDescription:
    """Its state is that of its worse half; mirrors and tasks are those of this region."""
    half = worse_half(link, dialing)
    shown = [shown_state(link, mirror) for mirror in link.mirrors.values()]
    counts = Counter(CATEGORIES[state].value for state in shown)
    return LinkDescription(
        name=link.name,
        link_id=link.record.link_id,
        source_cluster_id=link.record.source_cluster_id,
        mode=str(link.config.value("link.mode")),
        state=half.state.value,
        error=half.error.value,
        because=half.because,
        topics=tuple(sorted(link.mirrors)),
        category_counts={category.value: counts[category.value] for category in Category},
        tasks=(
            _group_task(link),
            _topic_task(link),
            _auto_create_task(link),
            _hold_task(link),
            *_stop_tasks(link),
        ),
        created_at=link.record.created_at,
        hint=LINK_HINTS[half.error],
    )


def link_lag(link: ClusterLink, now: Instant) -> TotalLag:
    """Of its live mirrors together."""
    found = (live_lags(link, mirror, now) for mirror in link.mirrors.values())
    return total_lag([lag for lags in found for lag in lags])


def live_lags(link: ClusterLink, mirror: MirrorTopic, now: Instant) -> list[PartitionLag]:
    """Of each partition; none where the mirror is STOPPED, and behind nobody."""
    indexes = range(mirror.partition_count) if mirror.record.state in LIVE else ()
    return [partition_lag(link, mirror, index, now) for index in indexes]


def describe_mirror(
    region: RegionClient, link: ClusterLink, mirror: MirrorTopic, now: Instant
) -> MirrorDescription:
    record = mirror.record
    transition = transition_of(region, link, mirror, now)
    return MirrorDescription(
        record=record,
        shown=shown_state(link, mirror),
        reason=_reason(link, mirror, transition),
        lags=tuple(live_lags(link, mirror, now)),
        holes=tuple(hole_ledger.in_order(region.holes.of(region.view.image, mirror.topic))),
        hint=_hint(mirror),
        transition=transition,
    )


def _hint(mirror: MirrorTopic) -> str:
    if mirror.taken_over:
        return TAKEN_OVER_HINT
    return HOLES_HINT if mirror.record.stands_at_holes else MIRROR_HINTS[mirror.record.error]


def _reason(link: ClusterLink, mirror: MirrorTopic, transition: Transition | None) -> str:
    record, waits_for = mirror.record, transition.waits_for if transition is not None else ""
    if transition is not None and transition.step is TransitionStep.LISTED:
        return f"{transition.verb}: {waits_for}"
    if record.state in (*STOPPING, *RESTORING) and record.cut is None and transition is not None:
        return f"{transition.verb}: {waits_for}"
    if record.state is MirrorState.PENDING_MIRROR:
        return f"{record.reason}; {waits_for}" if waits_for else record.reason
    if record.state in LIVE and not record.reason:
        return mirror.config_trouble or link.because
    return mirror.taken_over or record.reason


def partition_lag(link: ClusterLink, mirror: MirrorTopic, index: int, now: Instant) -> PartitionLag:
    """By what the partition's leader has said. OFFLINE: nobody leads it, or its leader does not answer."""
    report = link.reports.of(TopicPartition(mirror.topic, index), now)
    if report is None:
        return PartitionLag(
            partition=index,
            lag=-1,
            lag_ms=-1,
            source_high_watermark=-1,
            log_end_offset=-1,
            log_start_offset=-1,
            since_received_ms=-1,
            state="OFFLINE",
        )
    source, is_online = report.source_high_watermark, report.log_end_offset >= 0
    return PartitionLag(
        partition=index,
        lag=max(0, source - report.high_watermark) if source >= 0 and is_online else -1,
        lag_ms=report.lag_ms,
        source_high_watermark=source,
        log_end_offset=report.log_end_offset,
        log_start_offset=report.log_start_offset,
        since_received_ms=report.since_received_ms,
        lag_bytes=report.lag_bytes,
        is_lower_bound=report.is_lower_bound,
        origin_lag_ms=report.origin_lag_ms,
        origin_lag=report.origin_lag,
        origin_lag_bytes=report.origin_lag_bytes,
        is_origin_lower_bound=report.is_origin_lower_bound,
        state=_partition_state(shown_state(link, mirror).value, report) if is_online else "OFFLINE",
    )


def _partition_state(shown: str, report: MirrorPartitionStatus) -> str:
    if report.is_unreached and shown == MirrorState.ACTIVE.value:
        shown = MirrorState.SOURCE_UNAVAILABLE.value
    if not report.trouble:
        return shown
    return f"{'RETRYING' if report.is_running else shown}: {report.trouble}"


def _group_task(link: ClusterLink) -> Task:
    name = "ConsumerOffsetSync"
    if not link.config.group_filters:
        return Task(name, TaskState.NOT_CONFIGURED.value, TaskError.NO_ERROR.value)
    error = link.group_error
    if error is TaskError.NO_ERROR:
        because = ", ".join(link.groups_before_start)
        if because:
            because = f"not carried, because mirrors begin after what they committed: {because}"
        return Task(name, _TASK_STATES[link.state].value, error.value, because)
    groups = ", ".join(link.groups_not_copied)
    because = f"not carried, because they have members here or were refused: {groups}"
    return Task(name, TaskState.IN_ERROR.value, error.value, because)


def _auto_create_task(link: ClusterLink) -> Task:
    name = "AutoCreateMirror"
    if not link.config.topic_filters:
        return Task(name, TaskState.NOT_CONFIGURED.value, TaskError.NO_ERROR.value)
    refused = link.auto_mirrors.refused
    if not refused:
        because = (
            "" if link.auto_mirrors.has_matched else "the filters admit no topic of the source"
        )
        return Task(name, _TASK_STATES[link.state].value, TaskError.NO_ERROR.value, because)
    because = "; ".join(f"{topic}: {one.because}" for topic, one in sorted(refused.items()))
    error = refused[min(refused)].error
    return Task(name, TaskState.IN_ERROR.value, error.value, because)


def _hold_task(link: ClusterLink) -> Task:
    name = "RetentionHold"
    if not link.config.holds_retention:
        return Task(name, TaskState.NOT_CONFIGURED.value, TaskError.NO_ERROR.value)
    if not link.hold_refused:
        return Task(name, _TASK_STATES[link.state].value, TaskError.NO_ERROR.value)
    error = TaskError.POLICY_VIOLATION_ERROR.value
    return Task(name, TaskState.IN_ERROR.value, error, link.hold_refused)


def _stop_tasks(link: ClusterLink) -> Iterator[Task]:
    """Only where commands of several topics have not come to all of them."""
    left = [
        f"{verb_of(stop.kind)} {stop.asked.decision_id}: {count} topics left"
        for stop, count in link.stop_lists.left
    ]
    if left:
        state, error = _TASK_STATES[LinkState.ACTIVE], TaskError.NO_ERROR
        yield Task("StopMirrorTopics", state.value, error.value, "; ".join(left))


def _topic_task(link: ClusterLink) -> Task:
    name = "TopicConfigsSync"
    troubled = [mirror for mirror in link.mirrors.values() if mirror.config_trouble]
    if not troubled:
        return Task(name, _TASK_STATES[link.state].value, TaskError.NO_ERROR.value)
    because = "; ".join(f"{mirror.topic}: {mirror.config_trouble}" for mirror in troubled)
    return Task(name, TaskState.IN_ERROR.value, TaskError.POLICY_VIOLATION_ERROR.value, because)
