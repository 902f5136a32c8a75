"""What the administration says of links and mirror topics (admin.proto), as the resources of Kafka REST v3.

A field that has one name in both is taken over by `_alike`; written out is what has another name or form.
"""

from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from linker.config import SETTINGS
from linker.shell.rest.mirror_parts import (
    CutPartitionData,
    MirrorCutData,
    MirrorHoleData,
    MirrorLagData,
    MirrorTransitionData,
    MirrorTransitionErrorData,
    PartitionLevelTruncationData,
)
from linker.shell.rest.schemas import (
    LinkCategory,
    LinkConfigData,
    LinkData,
    LinkDestinationData,
    LinkTask,
    LinkTaskError,
    MirrorData,
    MirrorDecisionData,
    ResourceMetadata,
    TakenOverTopicData,
)

_Model = TypeVar("_Model", bound=BaseModel)


@cache
def _same_names(model: type[BaseModel], descriptor: Any) -> tuple[tuple[str, bool], ...]:
    """(name, whether it may be absent) of each field that both have; `descriptor` is the message's."""
    known = model.model_fields
    return tuple((one.name, one.has_presence) for one in descriptor.fields if one.name in known)


def _alike(model: type[_Model], message: Any, **others: Any) -> _Model:
    """`model` with all fields that `message` has by the same name, and `others`. Absent values are None."""
    for name, may_be_absent in _same_names(model, message.DESCRIPTOR):
        if name not in others:
            is_absent = may_be_absent and not message.HasField(name)
            others[name] = None if is_absent else getattr(message, name)
    return model(**others)


def link_path(name: str) -> str:
    return f"/links/{quote(name, safe='')}"


def link_data(link: Any, metadata: ResourceMetadata, *, with_tasks: bool = False) -> LinkData:
    """`link` is a LinkDescription."""
    is_bidirectional = link.link_mode == "BIDIRECTIONAL"
    return _alike(
        LinkData,
        link,
        metadata=metadata,
        source_cluster_id=None if is_bidirectional else link.source_cluster_id or None,
        destination_cluster_id=link.destination_cluster_id or None,
        remote_cluster_id=link.source_cluster_id if is_bidirectional else None,
        cluster_link_id=link.link_id,
        topic_names=list(link.topic_names),
        link_error_message=link.link_error_message or None,
        tasks=[_task(one) for one in link.tasks] if with_tasks else None,
        category_counts=[
            LinkCategory(state_category=name, count=count)
            for name, count in sorted(link.category_counts.items())
        ],
        secret=link.secret or None,
    )


def _task(task: Any) -> LinkTask:
    is_wrong = task.error != "NO_ERROR"
    errors = [LinkTaskError(error_code=task.error, error_message=task.message)] if is_wrong else []
    return LinkTask(task_name=task.name, state=task.state, errors=errors, message=task.message)


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
        MirrorTransitionErrorData(error_code=one.code, error_message=one.message, at_ms=one.at_ms)
        for one in mirror.state_transition_errors
    ]
    return _alike(
        MirrorData,
        mirror,
        metadata=metadata,
        mirror_topic_name=mirror.mirror_topic,
        source_topic_name=mirror.source_topic,
        mirror_lags=lags(mirror),
        mirror_state_transition_errors=errors if with_errors else None,
        transition=_transition(mirror.transition) if mirror.HasField("transition") else None,
        cut=_cut(mirror.cut) if mirror.HasField("cut") else None,
        holes=[hole_data(one) for one in mirror.holes],
        partition_level_truncation_data=truncations(mirror),
    )


def _cut(cut: Any) -> MirrorCutData:
    partitions = [_alike(CutPartitionData, one) for one in cut.partitions]
    return _alike(MirrorCutData, cut, partitions=partitions)


def _transition(one: Any) -> MirrorTransitionData:
    return _alike(MirrorTransitionData, one, gives_up_at_ms=one.gives_up_at_ms or None)


def lags(mirror: Any) -> list[MirrorLagData]:
    return [_alike(MirrorLagData, one) for one in mirror.mirror_lags]


def truncations(mirror: Any) -> list[PartitionLevelTruncationData]:
    return [
        _alike(PartitionLevelTruncationData, one, partition_id=one.partition)
        for one in mirror.restored_partitions
    ]


def hole_data(hole: Any) -> MirrorHoleData:
    """`hole` is a Hole."""
    deleted_at = hole.deleted_at_ms or None
    return _alike(MirrorHoleData, hole, mirror_topic_name=hole.topic, deleted_at_ms=deleted_at)


def decision_data(one: Any) -> MirrorDecisionData:
    """`one` is a Decision."""
    others = {"mirror_topic_name": one.topic, "cut": _cut(one.cut), "origins": list(one.origins)}
    return _alike(MirrorDecisionData, one, **others)


def destination_data(one: Any) -> LinkDestinationData:
    """`one` is a Destination."""
    return _alike(LinkDestinationData, one, topics=list(one.topics))


def taken_over_data(one: Any) -> TakenOverTopicData:
    """`one` is a TakenOverTopic."""
    return _alike(TakenOverTopicData, one, topic_name=one.topic)
