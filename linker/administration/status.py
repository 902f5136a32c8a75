"""Descriptions of links and mirrors for operators, computed from records, replicators and the region's view."""

from collections import Counter

from brokers.ids import Instant, TopicPartition
from linker.commands import LinkDescription, MirrorDescription, PartitionLag, Task
from linker.control.link_coordinator import LinkCoordinator
from linker.control.mirror_topic import MirrorTopic
from linker.data.replicator import PartitionReplicator
from linker.errors import LINK_HINTS, MIRROR_HINTS, TaskError, TaskState
from linker.records import hole_ledger
from linker.records.link_state import LinkState
from linker.records.mirror_state import CATEGORIES, LIVE, SHOWN, Category, MirrorState
from linker.region_client import RegionClient

_TASK_STATES = {
    LinkState.ACTIVE: TaskState.ACTIVE,
    LinkState.PAUSED: TaskState.LINK_PAUSED,
    LinkState.UNAVAILABLE: TaskState.LINK_UNAVAILABLE,
    LinkState.FAILED: TaskState.LINK_FAILED,
    LinkState.UNKNOWN: TaskState.UNKNOWN,
}


def describe_link(link: LinkCoordinator) -> LinkDescription:
    shown = [shown_state(link, mirror) for mirror in link.mirrors.values()]
    counts = Counter(CATEGORIES[state].value for state in shown)
    return LinkDescription(
        name=link.name,
        link_id=link.record.link_id,
        source_cluster_id=link.record.source_cluster_id,
        state=link.state.value,
        error=link.error.value,
        because=link.because,
        topics=tuple(sorted(link.mirrors)),
        category_counts={category.value: counts[category.value] for category in Category},
        tasks=(_group_task(link), _topic_task(link)),
        created_at=link.record.created_at,
        hint=LINK_HINTS[link.error],
    )


def shown_state(link: LinkCoordinator, mirror: MirrorTopic) -> MirrorState:
    return SHOWN[mirror.record.state, link.state]


def describe_mirror(
    region: RegionClient, link: LinkCoordinator, mirror: MirrorTopic, now: Instant
) -> MirrorDescription:
    record = mirror.record
    reason = record.reason
    if record.state is MirrorState.PENDING_STOPPED and record.cut is None:
        reason = f"promote: {link.promotion_waits_for(mirror.topic)}"
    elif record.state in LIVE and not reason:
        reason = mirror.config_trouble or link.because
    lags = [
        partition_lag(region, link, mirror, index, now) for index in range(mirror.partition_count)
    ]
    return MirrorDescription(
        record=record,
        shown=shown_state(link, mirror),
        reason=reason,
        lags=tuple(lags) if record.state in LIVE else (),
        holes=tuple(hole_ledger.in_order(region.holes.of(region.view.image, mirror.topic))),
        hint=MIRROR_HINTS[record.error],
    )


def partition_lag(
    region: RegionClient, link: LinkCoordinator, mirror: MirrorTopic, index: int, now: Instant
) -> PartitionLag:
    state = region.view.partition_state(TopicPartition(mirror.topic, index))
    replicator = mirror.replicators.get(index)
    online = state is not None and state.online
    high_watermark = state.high_watermark if state is not None and online else -1
    return PartitionLag(
        partition=index,
        lag=replicator.lag.records(high_watermark) if replicator is not None and online else -1,
        lag_ms=replicator.lag.milliseconds(link.source_clock, now)
        if replicator is not None
        else -1,
        source_high_watermark=replicator.lag.high_watermark if replicator is not None else -1,
        log_end_offset=state.log_end_offset if state is not None else -1,
        log_start_offset=state.log_start_offset if state is not None else -1,
        since_received_ms=_since_received(link, replicator, now),
        state=_partition_state(link, mirror, index, online=online),
    )


def _since_received(
    link: LinkCoordinator, replicator: PartitionReplicator | None, now: Instant
) -> int:
    """Milliseconds since the newest frame that is about this partition, as every beacon is; -1 if there was none."""
    if replicator is None or replicator.received_at < 0:
        return -1
    received_at = (
        link.source_clock.received_at if replicator.subscription else replicator.received_at
    )
    return max(0, now - max(received_at, replicator.received_at))


def _partition_state(
    link: LinkCoordinator, mirror: MirrorTopic, index: int, *, online: bool
) -> str:
    if not online:
        return "OFFLINE"
    replicator = mirror.replicators.get(index)
    shown = shown_state(link, mirror).value
    if replicator is None or not replicator.trouble:
        return shown
    return f"{'RETRYING' if replicator.running else shown}: {replicator.trouble}"


def _group_task(link: LinkCoordinator) -> Task:
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


def _topic_task(link: LinkCoordinator) -> Task:
    name = "TopicConfigsSync"
    troubled = [mirror for mirror in link.mirrors.values() if mirror.config_trouble]
    if not troubled:
        return Task(name, _TASK_STATES[link.state].value, TaskError.NO_ERROR.value)
    because = "; ".join(f"{mirror.topic}: {mirror.config_trouble}" for mirror in troubled)
    return Task(name, TaskState.IN_ERROR.value, TaskError.POLICY_VIOLATION_ERROR.value, because)
