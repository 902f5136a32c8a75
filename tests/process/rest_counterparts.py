"""Where each field of the administration's descriptions (admin.proto) is in REST v3, and whether it says the same.

A field without an entry here has the same name and the same value. So a field that is new over gRPC and not over REST
is found by `without_counterpart`, whatever a region has of it, and by `check` where it has a value.
"""

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import Message
from pydantic import BaseModel

from linker.shell.rest import mirror_parts, schemas
from linker.wire.v1 import admin_pb2 as pb

MODELS: Final[dict[type[Message], type[BaseModel]]] = {
    pb.LinkDescription: schemas.LinkData,
    pb.Task: schemas.LinkTask,
    pb.MirrorDescription: schemas.MirrorData,
    pb.MirrorLag: mirror_parts.MirrorLagData,
    pb.Transition: mirror_parts.MirrorTransitionData,
    pb.TransitionError: mirror_parts.MirrorTransitionErrorData,
    pb.RestoredPartition: mirror_parts.PartitionLevelTruncationData,
    pb.Cut: mirror_parts.MirrorCutData,
    pb.CutPartition: mirror_parts.CutPartitionData,
    pb.Hole: mirror_parts.MirrorHoleData,
    pb.Decision: schemas.MirrorDecisionData,
    pb.Destination: schemas.LinkDestinationData,
    pb.TakenOverTopic: schemas.TakenOverTopicData,
    pb.TopicResult: schemas.AlterMirrorStatusData,
}
# Confluent's name for it, or that of the field beside which it stands.
RENAMED: Final = {
    "Task.name": "task_name",
    "MirrorDescription.mirror_topic": "mirror_topic_name",
    "MirrorDescription.source_topic": "source_topic_name",
    "MirrorDescription.state_transition_errors": "mirror_state_transition_errors",
    "MirrorDescription.restored_partitions": "partition_level_truncation_data",
    "RestoredPartition.partition": "partition_id",
    "TransitionError.code": "error_code",
    "TransitionError.message": "error_message",
    "Hole.topic": "mirror_topic_name",
    "Decision.topic": "mirror_topic_name",
    "TakenOverTopic.topic": "topic_name",
    "TopicResult.mirror_topic": "mirror_topic_name",
}
# In another form: of the resource, the value that gRPC has; and the names of REST that it is made of.
Form = tuple[Callable[[Any], Any], tuple[str, ...]]
FORMS: Final[dict[str, Form]] = {
    # The field's name says which end the other region is.
    "LinkDescription.source_cluster_id": (
        lambda link: link["source_cluster_id"] or link["remote_cluster_id"] or "",
        ("source_cluster_id", "remote_cluster_id"),
    ),
    "LinkDescription.category_counts": (
        lambda link: {one["state_category"]: one["count"] for one in link["category_counts"]},
        ("category_counts",),
    ),
    "Task.error": (
        lambda task: task["errors"][0]["error_code"] if task["errors"] else "NO_ERROR",
        ("errors",),
    ),
    # Of a refusal, what `ErrorData` has of one of a whole request, in one text.
    "TopicResult.error": (
        lambda topic: topic["error_message"] is not None,
        ("error_code", "error_message"),
    ),
}
# Null over REST where gRPC has nothing to say.
NULL: Final = {
    "LinkDescription.link_error_message",
    "LinkDescription.destination_cluster_id",
    "LinkDescription.secret",
    "Transition.gives_up_at_ms",
    "Hole.deleted_at_ms",
}
# What time changes between two questions: whether it is known is compared.
OF_THE_MOMENT: Final = {"lag_ms", "origin_lag_ms", "time_since_last_fetch_ms", "writes_wait_ms"}


def without_counterpart() -> list[str]:
    """Fields that REST does not have."""
    return [
        f"{message.DESCRIPTOR.name}.{field.name}"
        for message, model in MODELS.items()
        for field in message.DESCRIPTOR.fields
        if not set(_names(f"{message.DESCRIPTOR.name}.{field.name}", field.name))
        <= model.model_fields.keys()
    ]


def _names(key: str, name: str) -> tuple[str, ...]:
    return FORMS[key][1] if key in FORMS else (RENAMED.get(key, name),)


def check(told: Message, found: Any) -> None:
    """`found`, a resource of REST, says what `told` says."""
    for field in told.DESCRIPTOR.fields:
        key = f"{told.DESCRIPTOR.name}.{field.name}"
        is_absent = field.has_presence and not told.HasField(field.name)
        value = None if is_absent else getattr(told, field.name)
        if key in FORMS:
            rest = FORMS[key][0](found)
            value = not is_absent if isinstance(rest, bool) else value
            assert rest == (dict(value) if isinstance(rest, dict) else value), key
        else:
            _check_field(key, field, value, found[RENAMED.get(key, field.name)])


def _check_field(key: str, field: Any, value: Any, rest: Any) -> None:
    if field.is_repeated:
        assert len(value) == len(rest), key
        for one, other in zip(value, rest, strict=True):
            _check_value(key, one, other)
    elif field.name in OF_THE_MOMENT and value is not None:
        assert (value < 0) == (rest < 0), key
    else:
        _check_value(key, None if key in NULL and not value else value, rest)


def _check_value(key: str, value: Any, rest: Any) -> None:
    if isinstance(value, Message):
        check(value, rest)
    else:
        assert value == rest, (key, value, rest)
