"""What the administration says of links and mirror topics (admin.proto), as the resources of Kafka REST v3."""

from typing import Any
from urllib.parse import quote

from linker.config import SETTINGS
from linker.shell.rest.schemas import (
    LinkCategory,
    LinkConfigData,
    LinkData,
    LinkTask,
    LinkTaskError,
    MirrorCutData,
    MirrorData,
    MirrorLagData,
    MirrorTransitionData,
    PartitionLevelTruncationData,
    ResourceMetadata,
)


def link_path(name: str) -> str:
    return f"/links/{quote(name, safe='')}"


def link_data(link: Any, metadata: ResourceMetadata, *, with_tasks: bool = False) -> LinkData:
    """`link` is a LinkDescription."""
    is_bidirectional = link.link_mode == "BIDIRECTIONAL"
    return LinkData(
        metadata=metadata,
        source_cluster_id=None if is_bidirectional else link.source_cluster_id or None,
        destination_cluster_id=link.destination_cluster_id or None,
        remote_cluster_id=link.source_cluster_id if is_bidirectional else None,
        link_name=link.link_name,
        link_id=link.link_id,
        cluster_link_id=link.link_id,
        topic_names=list(link.topic_names),
        link_state=link.link_state,
        link_error=link.link_error,
        link_error_message=link.link_error_message or None,
        tasks=[_task(one) for one in link.tasks] if with_tasks else None,
        category_counts=[
            LinkCategory(state_category=name, count=count)
            for name, count in sorted(link.category_counts.items())
        ],
        writes_wait_ms=link.writes_wait_ms if link.HasField("writes_wait_ms") else None,
        secret=link.secret or None,
    )


def _task(task: Any) -> LinkTask:
    is_wrong = task.error != "NO_ERROR"
    errors = [LinkTaskError(error_code=task.error, error_message=task.message)] if is_wrong else []
    return LinkTask(task_name=task.name, state=task.state, errors=errors)


def config_data(
    config: Any, cluster_id: str, link_name: str, metadata: ResourceMetadata
) -> LinkConfigData:
    """`config` is a Config."""
    return LinkConfigData(
        metadata=metadata,
        cluster_id=cluster_id,
        link_name=link_name,
        name=config.name,
        value=config.value,
        is_default=config.is_default,
        is_read_only=SETTINGS[config.name].immutable,
        source="DEFAULT_CONFIG" if config.is_default else "DYNAMIC_CLUSTER_LINK_CONFIG",
    )


def mirror_data(
    mirror: Any, metadata: ResourceMetadata, *, with_errors: bool = False
) -> MirrorData:
    """`mirror` is a MirrorDescription."""
    errors = [
        LinkTaskError(error_code=one.code, error_message=one.message)
        for one in mirror.state_transition_errors
    ]
    return MirrorData(
        metadata=metadata,
        link_name=mirror.link_name,
        mirror_topic_name=mirror.mirror_topic,
        source_topic_name=mirror.source_topic,
        num_partitions=mirror.num_partitions,
        mirror_lags=lags(mirror),
        mirror_status=mirror.mirror_status,
        mirror_topic_error=mirror.mirror_topic_error,
        state_time_ms=mirror.state_time_ms,
        mirror_state_transition_errors=errors if with_errors else None,
        transition=_transition(mirror.transition) if mirror.HasField("transition") else None,
        cut=_cut(mirror.cut) if mirror.HasField("cut") else None,
    )


def _cut(cut: Any) -> MirrorCutData:
    return MirrorCutData(
        kind=cut.kind,
        at_ms=cut.at_ms,
        known_missing=cut.known_missing,
        is_known_missing_exact=cut.is_known_missing_exact,
    )


def _transition(one: Any) -> MirrorTransitionData:
    return MirrorTransitionData(
        verb=one.verb,
        step=one.step,
        since_ms=one.since_ms,
        waits_for=one.waits_for,
        can_be_cancelled=one.can_be_cancelled,
        gives_up_at_ms=one.gives_up_at_ms or None,
        asked_by=one.asked_by,
        reason=one.reason,
    )


def lags(mirror: Any) -> list[MirrorLagData]:
    return [
        MirrorLagData(
            partition=one.partition,
            lag=one.lag,
            last_source_fetch_offset=one.last_source_fetch_offset,
            lag_is_lower_bound=one.lag_is_lower_bound,
        )
        for one in mirror.mirror_lags
    ]


def truncations(mirror: Any) -> list[PartitionLevelTruncationData]:
    return [
        PartitionLevelTruncationData(
            partition_id=one.partition,
            offset_truncated_to=one.offset_truncated_to,
            messages_truncated=one.messages_truncated,
        )
        for one in mirror.restored_partitions
    ]
