from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Error(_message.Message):
    __slots__ = ("code", "message", "hint", "problems")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    hint: str
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., hint: _Optional[str] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateLinkRequest(_message.Message):
    __slots__ = ("link_name", "configs", "source_cluster_id", "validate_only", "skip_validation", "secret")
    class ConfigsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    SKIP_VALIDATION_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    configs: _containers.ScalarMap[str, str]
    source_cluster_id: str
    validate_only: bool
    skip_validation: bool
    secret: str
    def __init__(self, link_name: _Optional[str] = ..., configs: _Optional[_Mapping[str, str]] = ..., source_cluster_id: _Optional[str] = ..., validate_only: _Optional[bool] = ..., skip_validation: _Optional[bool] = ..., secret: _Optional[str] = ...) -> None: ...

class LinkRequest(_message.Message):
    __slots__ = ("link_name",)
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    def __init__(self, link_name: _Optional[str] = ...) -> None: ...

class SetLinkSecretRequest(_message.Message):
    __slots__ = ("link_name", "secret", "validate_only")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    secret: str
    validate_only: bool
    def __init__(self, link_name: _Optional[str] = ..., secret: _Optional[str] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DeleteLinkRequest(_message.Message):
    __slots__ = ("link_name", "force", "validate_only")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    force: bool
    validate_only: bool
    def __init__(self, link_name: _Optional[str] = ..., force: _Optional[bool] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class AlterLinkConfigsRequest(_message.Message):
    __slots__ = ("link_name", "set", "delete", "validate_only")
    class SetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    set: _containers.ScalarMap[str, str]
    delete: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, link_name: _Optional[str] = ..., set: _Optional[_Mapping[str, str]] = ..., delete: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class CreateMirrorRequest(_message.Message):
    __slots__ = ("link_name", "mirror_topic", "source_topic", "configs", "validate_only", "replication_factor")
    class ConfigsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOPIC_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    REPLICATION_FACTOR_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_topic: str
    source_topic: str
    configs: _containers.ScalarMap[str, str]
    validate_only: bool
    replication_factor: int
    def __init__(self, link_name: _Optional[str] = ..., mirror_topic: _Optional[str] = ..., source_topic: _Optional[str] = ..., configs: _Optional[_Mapping[str, str]] = ..., validate_only: _Optional[bool] = ..., replication_factor: _Optional[int] = ...) -> None: ...

class ListMirrorsRequest(_message.Message):
    __slots__ = ("link_name", "mirror_status", "in_transition")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_STATUS_FIELD_NUMBER: _ClassVar[int]
    IN_TRANSITION_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_status: str
    in_transition: bool
    def __init__(self, link_name: _Optional[str] = ..., mirror_status: _Optional[str] = ..., in_transition: _Optional[bool] = ...) -> None: ...

class DescribeMirrorRequest(_message.Message):
    __slots__ = ("mirror_topic",)
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    mirror_topic: str
    def __init__(self, mirror_topic: _Optional[str] = ...) -> None: ...

class MirrorsRequest(_message.Message):
    __slots__ = ("link_name", "mirror_topics", "validate_only", "reason")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPICS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_topics: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    reason: str
    def __init__(self, link_name: _Optional[str] = ..., mirror_topics: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class PromoteMirrorsRequest(_message.Message):
    __slots__ = ("link_name", "mirror_topics", "validate_only", "timeout_ms", "reason")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPICS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_topics: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    timeout_ms: int
    reason: str
    def __init__(self, link_name: _Optional[str] = ..., mirror_topics: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ..., timeout_ms: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Task(_message.Message):
    __slots__ = ("name", "state", "error", "message")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    name: str
    state: str
    error: str
    message: str
    def __init__(self, name: _Optional[str] = ..., state: _Optional[str] = ..., error: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class LinkDescription(_message.Message):
    __slots__ = ("link_name", "link_id", "source_cluster_id", "link_state", "link_error", "link_error_message", "topic_names", "category_counts", "tasks", "created_at_ms", "hint", "link_mode", "destination_cluster_id", "secret", "lag", "lag_bytes", "lag_ms", "lag_is_lower_bound", "writes_wait_ms")
    class CategoryCountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    LINK_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    LINK_STATE_FIELD_NUMBER: _ClassVar[int]
    LINK_ERROR_FIELD_NUMBER: _ClassVar[int]
    LINK_ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_NAMES_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_COUNTS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    LINK_MODE_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    WRITES_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    link_id: str
    source_cluster_id: str
    link_state: str
    link_error: str
    link_error_message: str
    topic_names: _containers.RepeatedScalarFieldContainer[str]
    category_counts: _containers.ScalarMap[str, int]
    tasks: _containers.RepeatedCompositeFieldContainer[Task]
    created_at_ms: int
    hint: str
    link_mode: str
    destination_cluster_id: str
    secret: str
    lag: int
    lag_bytes: int
    lag_ms: int
    lag_is_lower_bound: bool
    writes_wait_ms: int
    def __init__(self, link_name: _Optional[str] = ..., link_id: _Optional[str] = ..., source_cluster_id: _Optional[str] = ..., link_state: _Optional[str] = ..., link_error: _Optional[str] = ..., link_error_message: _Optional[str] = ..., topic_names: _Optional[_Iterable[str]] = ..., category_counts: _Optional[_Mapping[str, int]] = ..., tasks: _Optional[_Iterable[_Union[Task, _Mapping]]] = ..., created_at_ms: _Optional[int] = ..., hint: _Optional[str] = ..., link_mode: _Optional[str] = ..., destination_cluster_id: _Optional[str] = ..., secret: _Optional[str] = ..., lag: _Optional[int] = ..., lag_bytes: _Optional[int] = ..., lag_ms: _Optional[int] = ..., lag_is_lower_bound: _Optional[bool] = ..., writes_wait_ms: _Optional[int] = ...) -> None: ...

class LinkReply(_message.Message):
    __slots__ = ("error", "link")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    error: Error
    link: LinkDescription
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., link: _Optional[_Union[LinkDescription, _Mapping]] = ...) -> None: ...

class LinksReply(_message.Message):
    __slots__ = ("error", "links")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    links: _containers.RepeatedCompositeFieldContainer[LinkDescription]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., links: _Optional[_Iterable[_Union[LinkDescription, _Mapping]]] = ...) -> None: ...

class Config(_message.Message):
    __slots__ = ("name", "value", "is_default")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    IS_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    is_default: bool
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ..., is_default: _Optional[bool] = ...) -> None: ...

class ConfigsReply(_message.Message):
    __slots__ = ("error", "configs")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    configs: _containers.RepeatedCompositeFieldContainer[Config]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., configs: _Optional[_Iterable[_Union[Config, _Mapping]]] = ...) -> None: ...

class MirrorLag(_message.Message):
    __slots__ = ("partition", "lag", "lag_ms", "last_source_fetch_offset", "local_log_end_offset", "local_log_start_offset", "time_since_last_fetch_ms", "partition_state", "lag_bytes", "origin_lag_ms", "lag_is_lower_bound", "origin_lag", "origin_lag_bytes", "origin_lag_is_lower_bound")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_SOURCE_FETCH_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LOCAL_LOG_END_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LOCAL_LOG_START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    TIME_SINCE_LAST_FETCH_MS_FIELD_NUMBER: _ClassVar[int]
    PARTITION_STATE_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    partition: int
    lag: int
    lag_ms: int
    last_source_fetch_offset: int
    local_log_end_offset: int
    local_log_start_offset: int
    time_since_last_fetch_ms: int
    partition_state: str
    lag_bytes: int
    origin_lag_ms: int
    lag_is_lower_bound: bool
    origin_lag: int
    origin_lag_bytes: int
    origin_lag_is_lower_bound: bool
    def __init__(self, partition: _Optional[int] = ..., lag: _Optional[int] = ..., lag_ms: _Optional[int] = ..., last_source_fetch_offset: _Optional[int] = ..., local_log_end_offset: _Optional[int] = ..., local_log_start_offset: _Optional[int] = ..., time_since_last_fetch_ms: _Optional[int] = ..., partition_state: _Optional[str] = ..., lag_bytes: _Optional[int] = ..., origin_lag_ms: _Optional[int] = ..., lag_is_lower_bound: _Optional[bool] = ..., origin_lag: _Optional[int] = ..., origin_lag_bytes: _Optional[int] = ..., origin_lag_is_lower_bound: _Optional[bool] = ...) -> None: ...

class CutPartition(_message.Message):
    __slots__ = ("partition", "offset", "source_high_watermark", "source_clock_ms", "missing", "leader_epoch")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SOURCE_HIGH_WATERMARK_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CLOCK_MS_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    partition: int
    offset: int
    source_high_watermark: int
    source_clock_ms: int
    missing: int
    leader_epoch: int
    def __init__(self, partition: _Optional[int] = ..., offset: _Optional[int] = ..., source_high_watermark: _Optional[int] = ..., source_clock_ms: _Optional[int] = ..., missing: _Optional[int] = ..., leader_epoch: _Optional[int] = ...) -> None: ...

class Cut(_message.Message):
    __slots__ = ("kind", "at_ms", "partitions", "known_missing", "is_known_missing_exact")
    KIND_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_MISSING_FIELD_NUMBER: _ClassVar[int]
    IS_KNOWN_MISSING_EXACT_FIELD_NUMBER: _ClassVar[int]
    kind: str
    at_ms: int
    partitions: _containers.RepeatedCompositeFieldContainer[CutPartition]
    known_missing: int
    is_known_missing_exact: bool
    def __init__(self, kind: _Optional[str] = ..., at_ms: _Optional[int] = ..., partitions: _Optional[_Iterable[_Union[CutPartition, _Mapping]]] = ..., known_missing: _Optional[int] = ..., is_known_missing_exact: _Optional[bool] = ...) -> None: ...

class Hole(_message.Message):
    __slots__ = ("topic", "partition", "from_offset", "to_offset", "cause", "first_seen_ms", "topic_id", "deleted_at_ms", "bytes")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    TO_OFFSET_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEEN_MS_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    DELETED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    topic: str
    partition: int
    from_offset: int
    to_offset: int
    cause: str
    first_seen_ms: int
    topic_id: str
    deleted_at_ms: int
    bytes: int
    def __init__(self, topic: _Optional[str] = ..., partition: _Optional[int] = ..., from_offset: _Optional[int] = ..., to_offset: _Optional[int] = ..., cause: _Optional[str] = ..., first_seen_ms: _Optional[int] = ..., topic_id: _Optional[str] = ..., deleted_at_ms: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class ForecastMirrorsRequest(_message.Message):
    __slots__ = ("link_name", "mirror_topics")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPICS_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_topics: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, link_name: _Optional[str] = ..., mirror_topics: _Optional[_Iterable[str]] = ...) -> None: ...

class PartitionForecast(_message.Message):
    __slots__ = ("partition", "mirror_end", "source_high_watermark", "missing", "known_ms")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    MIRROR_END_FIELD_NUMBER: _ClassVar[int]
    SOURCE_HIGH_WATERMARK_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    KNOWN_MS_FIELD_NUMBER: _ClassVar[int]
    partition: int
    mirror_end: int
    source_high_watermark: int
    missing: int
    known_ms: int
    def __init__(self, partition: _Optional[int] = ..., mirror_end: _Optional[int] = ..., source_high_watermark: _Optional[int] = ..., missing: _Optional[int] = ..., known_ms: _Optional[int] = ...) -> None: ...

class GroupForecast(_message.Message):
    __slots__ = ("group", "partition", "committed_at_source", "resumes_at", "read_again", "read_and_lost", "is_active_here", "is_active_at_source")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_AT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    RESUMES_AT_FIELD_NUMBER: _ClassVar[int]
    READ_AGAIN_FIELD_NUMBER: _ClassVar[int]
    READ_AND_LOST_FIELD_NUMBER: _ClassVar[int]
    IS_ACTIVE_HERE_FIELD_NUMBER: _ClassVar[int]
    IS_ACTIVE_AT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    group: str
    partition: int
    committed_at_source: int
    resumes_at: int
    read_again: int
    read_and_lost: int
    is_active_here: bool
    is_active_at_source: bool
    def __init__(self, group: _Optional[str] = ..., partition: _Optional[int] = ..., committed_at_source: _Optional[int] = ..., resumes_at: _Optional[int] = ..., read_again: _Optional[int] = ..., read_and_lost: _Optional[int] = ..., is_active_here: _Optional[bool] = ..., is_active_at_source: _Optional[bool] = ...) -> None: ...

class TopicForecast(_message.Message):
    __slots__ = ("mirror_topic", "mirror_status", "partitions", "groups", "copies_groups")
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    MIRROR_STATUS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    COPIES_GROUPS_FIELD_NUMBER: _ClassVar[int]
    mirror_topic: str
    mirror_status: str
    partitions: _containers.RepeatedCompositeFieldContainer[PartitionForecast]
    groups: _containers.RepeatedCompositeFieldContainer[GroupForecast]
    copies_groups: bool
    def __init__(self, mirror_topic: _Optional[str] = ..., mirror_status: _Optional[str] = ..., partitions: _Optional[_Iterable[_Union[PartitionForecast, _Mapping]]] = ..., groups: _Optional[_Iterable[_Union[GroupForecast, _Mapping]]] = ..., copies_groups: _Optional[bool] = ...) -> None: ...

class ForecastReply(_message.Message):
    __slots__ = ("error", "topics")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    topics: _containers.RepeatedCompositeFieldContainer[TopicForecast]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., topics: _Optional[_Iterable[_Union[TopicForecast, _Mapping]]] = ...) -> None: ...

class ListHolesRequest(_message.Message):
    __slots__ = ("mirror_topic",)
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    mirror_topic: str
    def __init__(self, mirror_topic: _Optional[str] = ...) -> None: ...

class HolesReply(_message.Message):
    __slots__ = ("error", "holes")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HOLES_FIELD_NUMBER: _ClassVar[int]
    error: Error
    holes: _containers.RepeatedCompositeFieldContainer[Hole]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., holes: _Optional[_Iterable[_Union[Hole, _Mapping]]] = ...) -> None: ...

class TransitionError(_message.Message):
    __slots__ = ("at_ms", "code", "message")
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    at_ms: int
    code: str
    message: str
    def __init__(self, at_ms: _Optional[int] = ..., code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class MirrorDescription(_message.Message):
    __slots__ = ("link_name", "mirror_topic", "source_topic", "mirror_status", "mirror_topic_error", "reason", "state_time_ms", "num_partitions", "generation", "mirror_lags", "holes", "cut", "state_transition_errors", "source_topic_id", "hint", "restored_partitions", "lag", "lag_bytes", "lag_ms", "origin_lag_ms", "lag_is_lower_bound", "origin_lag", "origin_lag_bytes", "origin_lag_is_lower_bound", "transition")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOPIC_FIELD_NUMBER: _ClassVar[int]
    MIRROR_STATUS_FIELD_NUMBER: _ClassVar[int]
    MIRROR_TOPIC_ERROR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    NUM_PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    MIRROR_LAGS_FIELD_NUMBER: _ClassVar[int]
    HOLES_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    STATE_TRANSITION_ERRORS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    RESTORED_PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    mirror_topic: str
    source_topic: str
    mirror_status: str
    mirror_topic_error: str
    reason: str
    state_time_ms: int
    num_partitions: int
    generation: int
    mirror_lags: _containers.RepeatedCompositeFieldContainer[MirrorLag]
    holes: _containers.RepeatedCompositeFieldContainer[Hole]
    cut: Cut
    state_transition_errors: _containers.RepeatedCompositeFieldContainer[TransitionError]
    source_topic_id: str
    hint: str
    restored_partitions: _containers.RepeatedCompositeFieldContainer[RestoredPartition]
    lag: int
    lag_bytes: int
    lag_ms: int
    origin_lag_ms: int
    lag_is_lower_bound: bool
    origin_lag: int
    origin_lag_bytes: int
    origin_lag_is_lower_bound: bool
    transition: Transition
    def __init__(self, link_name: _Optional[str] = ..., mirror_topic: _Optional[str] = ..., source_topic: _Optional[str] = ..., mirror_status: _Optional[str] = ..., mirror_topic_error: _Optional[str] = ..., reason: _Optional[str] = ..., state_time_ms: _Optional[int] = ..., num_partitions: _Optional[int] = ..., generation: _Optional[int] = ..., mirror_lags: _Optional[_Iterable[_Union[MirrorLag, _Mapping]]] = ..., holes: _Optional[_Iterable[_Union[Hole, _Mapping]]] = ..., cut: _Optional[_Union[Cut, _Mapping]] = ..., state_transition_errors: _Optional[_Iterable[_Union[TransitionError, _Mapping]]] = ..., source_topic_id: _Optional[str] = ..., hint: _Optional[str] = ..., restored_partitions: _Optional[_Iterable[_Union[RestoredPartition, _Mapping]]] = ..., lag: _Optional[int] = ..., lag_bytes: _Optional[int] = ..., lag_ms: _Optional[int] = ..., origin_lag_ms: _Optional[int] = ..., lag_is_lower_bound: _Optional[bool] = ..., origin_lag: _Optional[int] = ..., origin_lag_bytes: _Optional[int] = ..., origin_lag_is_lower_bound: _Optional[bool] = ..., transition: _Optional[_Union[Transition, _Mapping]] = ...) -> None: ...

class Transition(_message.Message):
    __slots__ = ("verb", "step", "since_ms", "waits_for", "can_be_cancelled", "gives_up_at_ms", "asked_by", "reason")
    VERB_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_FIELD_NUMBER: _ClassVar[int]
    CAN_BE_CANCELLED_FIELD_NUMBER: _ClassVar[int]
    GIVES_UP_AT_MS_FIELD_NUMBER: _ClassVar[int]
    ASKED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    verb: str
    step: str
    since_ms: int
    waits_for: str
    can_be_cancelled: bool
    gives_up_at_ms: int
    asked_by: str
    reason: str
    def __init__(self, verb: _Optional[str] = ..., step: _Optional[str] = ..., since_ms: _Optional[int] = ..., waits_for: _Optional[str] = ..., can_be_cancelled: _Optional[bool] = ..., gives_up_at_ms: _Optional[int] = ..., asked_by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RestoredPartition(_message.Message):
    __slots__ = ("partition", "offset_truncated_to", "messages_truncated")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_TRUNCATED_TO_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    partition: int
    offset_truncated_to: int
    messages_truncated: int
    def __init__(self, partition: _Optional[int] = ..., offset_truncated_to: _Optional[int] = ..., messages_truncated: _Optional[int] = ...) -> None: ...

class MirrorReply(_message.Message):
    __slots__ = ("error", "mirror")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MIRROR_FIELD_NUMBER: _ClassVar[int]
    error: Error
    mirror: MirrorDescription
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., mirror: _Optional[_Union[MirrorDescription, _Mapping]] = ...) -> None: ...

class MirrorsReply(_message.Message):
    __slots__ = ("error", "mirrors")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MIRRORS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    mirrors: _containers.RepeatedCompositeFieldContainer[MirrorDescription]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., mirrors: _Optional[_Iterable[_Union[MirrorDescription, _Mapping]]] = ...) -> None: ...

class TopicResult(_message.Message):
    __slots__ = ("mirror_topic", "mirror_status", "error")
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    MIRROR_STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    mirror_topic: str
    mirror_status: str
    error: Error
    def __init__(self, mirror_topic: _Optional[str] = ..., mirror_status: _Optional[str] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class TopicsReply(_message.Message):
    __slots__ = ("error", "topics")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    topics: _containers.RepeatedCompositeFieldContainer[TopicResult]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., topics: _Optional[_Iterable[_Union[TopicResult, _Mapping]]] = ...) -> None: ...

class DescribeReplicasRequest(_message.Message):
    __slots__ = ("topics",)
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, topics: _Optional[_Iterable[str]] = ...) -> None: ...

class ReplicaStatus(_message.Message):
    __slots__ = ("topic", "partition", "replica", "is_leader", "is_observer", "is_isr_eligible", "is_in_isr", "is_caught_up", "last_caught_up_lag_ms", "last_fetch_lag_ms", "log_start_offset", "log_end_offset", "lag", "cluster_link")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    REPLICA_FIELD_NUMBER: _ClassVar[int]
    IS_LEADER_FIELD_NUMBER: _ClassVar[int]
    IS_OBSERVER_FIELD_NUMBER: _ClassVar[int]
    IS_ISR_ELIGIBLE_FIELD_NUMBER: _ClassVar[int]
    IS_IN_ISR_FIELD_NUMBER: _ClassVar[int]
    IS_CAUGHT_UP_FIELD_NUMBER: _ClassVar[int]
    LAST_CAUGHT_UP_LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_FETCH_LAG_MS_FIELD_NUMBER: _ClassVar[int]
    LOG_START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LOG_END_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_LINK_FIELD_NUMBER: _ClassVar[int]
    topic: str
    partition: int
    replica: int
    is_leader: bool
    is_observer: bool
    is_isr_eligible: bool
    is_in_isr: bool
    is_caught_up: bool
    last_caught_up_lag_ms: int
    last_fetch_lag_ms: int
    log_start_offset: int
    log_end_offset: int
    lag: int
    cluster_link: str
    def __init__(self, topic: _Optional[str] = ..., partition: _Optional[int] = ..., replica: _Optional[int] = ..., is_leader: _Optional[bool] = ..., is_observer: _Optional[bool] = ..., is_isr_eligible: _Optional[bool] = ..., is_in_isr: _Optional[bool] = ..., is_caught_up: _Optional[bool] = ..., last_caught_up_lag_ms: _Optional[int] = ..., last_fetch_lag_ms: _Optional[int] = ..., log_start_offset: _Optional[int] = ..., log_end_offset: _Optional[int] = ..., lag: _Optional[int] = ..., cluster_link: _Optional[str] = ...) -> None: ...

class ReplicasReply(_message.Message):
    __slots__ = ("error", "replicas")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    replicas: _containers.RepeatedCompositeFieldContainer[ReplicaStatus]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., replicas: _Optional[_Iterable[_Union[ReplicaStatus, _Mapping]]] = ...) -> None: ...

class ListOperationsRequest(_message.Message):
    __slots__ = ("since_ms", "resource_type", "resource")
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    since_ms: int
    resource_type: str
    resource: str
    def __init__(self, since_ms: _Optional[int] = ..., resource_type: _Optional[str] = ..., resource: _Optional[str] = ...) -> None: ...

class ChangedResource(_message.Message):
    __slots__ = ("resource_type", "name")
    RESOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    resource_type: str
    name: str
    def __init__(self, resource_type: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("number", "time_ms", "principal", "client_id", "host", "operation", "resources", "details")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIME_MS_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    number: int
    time_ms: int
    principal: str
    client_id: str
    host: str
    operation: str
    resources: _containers.RepeatedCompositeFieldContainer[ChangedResource]
    details: str
    def __init__(self, number: _Optional[int] = ..., time_ms: _Optional[int] = ..., principal: _Optional[str] = ..., client_id: _Optional[str] = ..., host: _Optional[str] = ..., operation: _Optional[str] = ..., resources: _Optional[_Iterable[_Union[ChangedResource, _Mapping]]] = ..., details: _Optional[str] = ...) -> None: ...

class OperationsReply(_message.Message):
    __slots__ = ("error", "operations", "is_recorded")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    IS_RECORDED_FIELD_NUMBER: _ClassVar[int]
    error: Error
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    is_recorded: bool
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., is_recorded: _Optional[bool] = ...) -> None: ...

class DescribeRegionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PartitionFacts(_message.Message):
    __slots__ = ("partition", "leader", "leader_epoch", "replicas", "isr", "elr", "last_known_elr")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    ISR_FIELD_NUMBER: _ClassVar[int]
    ELR_FIELD_NUMBER: _ClassVar[int]
    LAST_KNOWN_ELR_FIELD_NUMBER: _ClassVar[int]
    partition: int
    leader: int
    leader_epoch: int
    replicas: _containers.RepeatedScalarFieldContainer[int]
    isr: _containers.RepeatedScalarFieldContainer[int]
    elr: _containers.RepeatedScalarFieldContainer[int]
    last_known_elr: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, partition: _Optional[int] = ..., leader: _Optional[int] = ..., leader_epoch: _Optional[int] = ..., replicas: _Optional[_Iterable[int]] = ..., isr: _Optional[_Iterable[int]] = ..., elr: _Optional[_Iterable[int]] = ..., last_known_elr: _Optional[_Iterable[int]] = ...) -> None: ...

class TopicFacts(_message.Message):
    __slots__ = ("name", "topic_id", "configs", "partitions")
    class ConfigsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    name: str
    topic_id: str
    configs: _containers.ScalarMap[str, str]
    partitions: _containers.RepeatedCompositeFieldContainer[PartitionFacts]
    def __init__(self, name: _Optional[str] = ..., topic_id: _Optional[str] = ..., configs: _Optional[_Mapping[str, str]] = ..., partitions: _Optional[_Iterable[_Union[PartitionFacts, _Mapping]]] = ...) -> None: ...

class MirrorFacts(_message.Message):
    __slots__ = ("mirror_topic", "link_name", "source_topic", "state", "cut")
    MIRROR_TOPIC_FIELD_NUMBER: _ClassVar[int]
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOPIC_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    mirror_topic: str
    link_name: str
    source_topic: str
    state: str
    cut: _containers.RepeatedCompositeFieldContainer[CutPartition]
    def __init__(self, mirror_topic: _Optional[str] = ..., link_name: _Optional[str] = ..., source_topic: _Optional[str] = ..., state: _Optional[str] = ..., cut: _Optional[_Iterable[_Union[CutPartition, _Mapping]]] = ...) -> None: ...

class RegionFacts(_message.Message):
    __slots__ = ("schema", "cluster_id", "at_ms", "topics", "mirrors", "holes")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    MIRRORS_FIELD_NUMBER: _ClassVar[int]
    HOLES_FIELD_NUMBER: _ClassVar[int]
    schema: str
    cluster_id: str
    at_ms: int
    topics: _containers.RepeatedCompositeFieldContainer[TopicFacts]
    mirrors: _containers.RepeatedCompositeFieldContainer[MirrorFacts]
    holes: _containers.RepeatedCompositeFieldContainer[Hole]
    def __init__(self, schema: _Optional[str] = ..., cluster_id: _Optional[str] = ..., at_ms: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[TopicFacts, _Mapping]]] = ..., mirrors: _Optional[_Iterable[_Union[MirrorFacts, _Mapping]]] = ..., holes: _Optional[_Iterable[_Union[Hole, _Mapping]]] = ...) -> None: ...

class RegionReply(_message.Message):
    __slots__ = ("error", "region")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    error: Error
    region: RegionFacts
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., region: _Optional[_Union[RegionFacts, _Mapping]] = ...) -> None: ...

class ListOrphansRequest(_message.Message):
    __slots__ = ("topic",)
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    topic: str
    def __init__(self, topic: _Optional[str] = ...) -> None: ...

class Orphan(_message.Message):
    __slots__ = ("name", "topic", "partition", "topic_id", "base_offset", "next_offset", "bytes", "batches", "records", "leader_epochs", "reason", "sealed_at_ms", "files", "log_dir", "damage", "readers")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SEALED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    LOG_DIR_FIELD_NUMBER: _ClassVar[int]
    DAMAGE_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    topic: str
    partition: int
    topic_id: str
    base_offset: int
    next_offset: int
    bytes: int
    batches: int
    records: int
    leader_epochs: _containers.RepeatedCompositeFieldContainer[OrphanEpoch]
    reason: str
    sealed_at_ms: int
    files: _containers.RepeatedCompositeFieldContainer[OrphanFile]
    log_dir: str
    damage: str
    readers: _containers.RepeatedCompositeFieldContainer[OrphanReader]
    def __init__(self, name: _Optional[str] = ..., topic: _Optional[str] = ..., partition: _Optional[int] = ..., topic_id: _Optional[str] = ..., base_offset: _Optional[int] = ..., next_offset: _Optional[int] = ..., bytes: _Optional[int] = ..., batches: _Optional[int] = ..., records: _Optional[int] = ..., leader_epochs: _Optional[_Iterable[_Union[OrphanEpoch, _Mapping]]] = ..., reason: _Optional[str] = ..., sealed_at_ms: _Optional[int] = ..., files: _Optional[_Iterable[_Union[OrphanFile, _Mapping]]] = ..., log_dir: _Optional[str] = ..., damage: _Optional[str] = ..., readers: _Optional[_Iterable[_Union[OrphanReader, _Mapping]]] = ...) -> None: ...

class OrphanReader(_message.Message):
    __slots__ = ("group", "committed_offset")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_OFFSET_FIELD_NUMBER: _ClassVar[int]
    group: str
    committed_offset: int
    def __init__(self, group: _Optional[str] = ..., committed_offset: _Optional[int] = ...) -> None: ...

class OrphanEpoch(_message.Message):
    __slots__ = ("leader_epoch", "start_offset")
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    leader_epoch: int
    start_offset: int
    def __init__(self, leader_epoch: _Optional[int] = ..., start_offset: _Optional[int] = ...) -> None: ...

class OrphanFile(_message.Message):
    __slots__ = ("name", "base_offset", "bytes", "sha256")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BASE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    name: str
    base_offset: int
    bytes: int
    sha256: str
    def __init__(self, name: _Optional[str] = ..., base_offset: _Optional[int] = ..., bytes: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...

class OrphansReply(_message.Message):
    __slots__ = ("error", "orphans")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ORPHANS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    orphans: _containers.RepeatedCompositeFieldContainer[Orphan]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., orphans: _Optional[_Iterable[_Union[Orphan, _Mapping]]] = ...) -> None: ...

class ReadOrphanRequest(_message.Message):
    __slots__ = ("name", "file", "position")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    name: str
    file: str
    position: int
    def __init__(self, name: _Optional[str] = ..., file: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class OrphanBytesReply(_message.Message):
    __slots__ = ("error", "data")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    error: Error
    data: bytes
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class DiscardOrphansRequest(_message.Message):
    __slots__ = ("names", "validate_only")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, names: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class UnfenceTopicsRequest(_message.Message):
    __slots__ = ("topics", "validate_only")
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, topics: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class ListTakenOverTopicsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TakenOverTopic(_message.Message):
    __slots__ = ("topic", "topic_id", "taken_over_by", "generation")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    TAKEN_OVER_BY_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    topic: str
    topic_id: str
    taken_over_by: str
    generation: int
    def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[str] = ..., taken_over_by: _Optional[str] = ..., generation: _Optional[int] = ...) -> None: ...

class TakenOverTopicsReply(_message.Message):
    __slots__ = ("error", "topics")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    topics: _containers.RepeatedCompositeFieldContainer[TakenOverTopic]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., topics: _Optional[_Iterable[_Union[TakenOverTopic, _Mapping]]] = ...) -> None: ...

class ListDecisionsRequest(_message.Message):
    __slots__ = ("topic",)
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    topic: str
    def __init__(self, topic: _Optional[str] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("decision_id", "topic", "topic_id", "link_name", "kind", "generation", "asked_at_ms", "asked_by", "reason", "done_at_ms", "known_missing", "cut", "origins", "is_known_missing_exact")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    ASKED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    ASKED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DONE_AT_MS_FIELD_NUMBER: _ClassVar[int]
    KNOWN_MISSING_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    IS_KNOWN_MISSING_EXACT_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    topic: str
    topic_id: str
    link_name: str
    kind: str
    generation: int
    asked_at_ms: int
    asked_by: str
    reason: str
    done_at_ms: int
    known_missing: int
    cut: Cut
    origins: _containers.RepeatedScalarFieldContainer[str]
    is_known_missing_exact: bool
    def __init__(self, decision_id: _Optional[str] = ..., topic: _Optional[str] = ..., topic_id: _Optional[str] = ..., link_name: _Optional[str] = ..., kind: _Optional[str] = ..., generation: _Optional[int] = ..., asked_at_ms: _Optional[int] = ..., asked_by: _Optional[str] = ..., reason: _Optional[str] = ..., done_at_ms: _Optional[int] = ..., known_missing: _Optional[int] = ..., cut: _Optional[_Union[Cut, _Mapping]] = ..., origins: _Optional[_Iterable[str]] = ..., is_known_missing_exact: _Optional[bool] = ...) -> None: ...

class DecisionsReply(_message.Message):
    __slots__ = ("error", "decisions")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping]]] = ...) -> None: ...

class DescribeLineageRequest(_message.Message):
    __slots__ = ("topic",)
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    topic: str
    def __init__(self, topic: _Optional[str] = ...) -> None: ...

class LineageReply(_message.Message):
    __slots__ = ("error", "cluster_id", "mirror_status", "origins", "partitions", "decisions")
    class LeaderEpoch(_message.Message):
        __slots__ = ("leader_epoch", "start_offset")
        LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
        START_OFFSET_FIELD_NUMBER: _ClassVar[int]
        leader_epoch: int
        start_offset: int
        def __init__(self, leader_epoch: _Optional[int] = ..., start_offset: _Optional[int] = ...) -> None: ...
    class Partition(_message.Message):
        __slots__ = ("partition", "log_start_offset", "log_end_offset", "leader_epochs")
        PARTITION_FIELD_NUMBER: _ClassVar[int]
        LOG_START_OFFSET_FIELD_NUMBER: _ClassVar[int]
        LOG_END_OFFSET_FIELD_NUMBER: _ClassVar[int]
        LEADER_EPOCHS_FIELD_NUMBER: _ClassVar[int]
        partition: int
        log_start_offset: int
        log_end_offset: int
        leader_epochs: _containers.RepeatedCompositeFieldContainer[LineageReply.LeaderEpoch]
        def __init__(self, partition: _Optional[int] = ..., log_start_offset: _Optional[int] = ..., log_end_offset: _Optional[int] = ..., leader_epochs: _Optional[_Iterable[_Union[LineageReply.LeaderEpoch, _Mapping]]] = ...) -> None: ...
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    MIRROR_STATUS_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    cluster_id: str
    mirror_status: str
    origins: _containers.RepeatedScalarFieldContainer[str]
    partitions: _containers.RepeatedCompositeFieldContainer[LineageReply.Partition]
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., cluster_id: _Optional[str] = ..., mirror_status: _Optional[str] = ..., origins: _Optional[_Iterable[str]] = ..., partitions: _Optional[_Iterable[_Union[LineageReply.Partition, _Mapping]]] = ..., decisions: _Optional[_Iterable[_Union[Decision, _Mapping]]] = ...) -> None: ...

class DescribeDriftRequest(_message.Message):
    __slots__ = ("link_name", "topics")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, link_name: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ...) -> None: ...

class ConfigDrift(_message.Message):
    __slots__ = ("topic", "name", "source_value", "mirror_value", "sync_class", "why")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VALUE_FIELD_NUMBER: _ClassVar[int]
    MIRROR_VALUE_FIELD_NUMBER: _ClassVar[int]
    SYNC_CLASS_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    topic: str
    name: str
    source_value: str
    mirror_value: str
    sync_class: str
    why: str
    def __init__(self, topic: _Optional[str] = ..., name: _Optional[str] = ..., source_value: _Optional[str] = ..., mirror_value: _Optional[str] = ..., sync_class: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class DriftReply(_message.Message):
    __slots__ = ("error", "differences", "unknown_topics")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_TOPICS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    differences: _containers.RepeatedCompositeFieldContainer[ConfigDrift]
    unknown_topics: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., differences: _Optional[_Iterable[_Union[ConfigDrift, _Mapping]]] = ..., unknown_topics: _Optional[_Iterable[str]] = ...) -> None: ...

class ListRetentionHoldsRequest(_message.Message):
    __slots__ = ("link_name",)
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    def __init__(self, link_name: _Optional[str] = ...) -> None: ...

class HeldPartition(_message.Message):
    __slots__ = ("partition", "is_leader", "mirror_offset", "held_bytes")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    IS_LEADER_FIELD_NUMBER: _ClassVar[int]
    MIRROR_OFFSET_FIELD_NUMBER: _ClassVar[int]
    HELD_BYTES_FIELD_NUMBER: _ClassVar[int]
    partition: int
    is_leader: bool
    mirror_offset: int
    held_bytes: int
    def __init__(self, partition: _Optional[int] = ..., is_leader: _Optional[bool] = ..., mirror_offset: _Optional[int] = ..., held_bytes: _Optional[int] = ...) -> None: ...

class RetentionHold(_message.Message):
    __slots__ = ("link_name", "destination_cluster_id", "topic", "topic_id", "max_bytes", "max_ms", "since_ms", "dropped_at_ms", "partitions")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MS_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    destination_cluster_id: str
    topic: str
    topic_id: str
    max_bytes: int
    max_ms: int
    since_ms: int
    dropped_at_ms: int
    partitions: _containers.RepeatedCompositeFieldContainer[HeldPartition]
    def __init__(self, link_name: _Optional[str] = ..., destination_cluster_id: _Optional[str] = ..., topic: _Optional[str] = ..., topic_id: _Optional[str] = ..., max_bytes: _Optional[int] = ..., max_ms: _Optional[int] = ..., since_ms: _Optional[int] = ..., dropped_at_ms: _Optional[int] = ..., partitions: _Optional[_Iterable[_Union[HeldPartition, _Mapping]]] = ...) -> None: ...

class RetentionHoldsReply(_message.Message):
    __slots__ = ("error", "holds")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    holds: _containers.RepeatedCompositeFieldContainer[RetentionHold]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., holds: _Optional[_Iterable[_Union[RetentionHold, _Mapping]]] = ...) -> None: ...

class DropRetentionHoldsRequest(_message.Message):
    __slots__ = ("link_name", "destination_cluster_id", "topics", "validate_only")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    destination_cluster_id: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    validate_only: bool
    def __init__(self, link_name: _Optional[str] = ..., destination_cluster_id: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ..., validate_only: _Optional[bool] = ...) -> None: ...

class ListDestinationsRequest(_message.Message):
    __slots__ = ("link_name",)
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    def __init__(self, link_name: _Optional[str] = ...) -> None: ...

class Destination(_message.Message):
    __slots__ = ("link_name", "destination_cluster_id", "topics", "topic_count", "told_at_ms", "is_heard", "writes_wait_ms", "is_missed")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    TOPIC_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOLD_AT_MS_FIELD_NUMBER: _ClassVar[int]
    IS_HEARD_FIELD_NUMBER: _ClassVar[int]
    WRITES_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    IS_MISSED_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    destination_cluster_id: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    topic_count: int
    told_at_ms: int
    is_heard: bool
    writes_wait_ms: int
    is_missed: bool
    def __init__(self, link_name: _Optional[str] = ..., destination_cluster_id: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ..., topic_count: _Optional[int] = ..., told_at_ms: _Optional[int] = ..., is_heard: _Optional[bool] = ..., writes_wait_ms: _Optional[int] = ..., is_missed: _Optional[bool] = ...) -> None: ...

class DestinationsReply(_message.Message):
    __slots__ = ("error", "destinations")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DESTINATIONS_FIELD_NUMBER: _ClassVar[int]
    error: Error
    destinations: _containers.RepeatedCompositeFieldContainer[Destination]
    def __init__(self, error: _Optional[_Union[Error, _Mapping]] = ..., destinations: _Optional[_Iterable[_Union[Destination, _Mapping]]] = ...) -> None: ...

class ForgetDestinationRequest(_message.Message):
    __slots__ = ("link_name", "destination_cluster_id", "validate_only")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    destination_cluster_id: str
    validate_only: bool
    def __init__(self, link_name: _Optional[str] = ..., destination_cluster_id: _Optional[str] = ..., validate_only: _Optional[bool] = ...) -> None: ...
