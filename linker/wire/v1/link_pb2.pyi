from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Frame(_message.Message):
    __slots__ = ("hello", "welcome", "refused", "watch_topics", "topic_state", "watch_groups", "group_offsets", "subscribe", "unsubscribe", "agreed", "declined", "chunk", "beacon", "ask_beacon", "credit", "brokers", "announce", "superseded", "reverse", "withdraw_reversals", "reversal_refused", "hold_retention", "mirror_positions", "retention_held", "rewatch_topics", "frame_part", "wanted_streams", "mirrored_topics", "check_reversals", "reversals_checked")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    WATCH_TOPICS_FIELD_NUMBER: _ClassVar[int]
    TOPIC_STATE_FIELD_NUMBER: _ClassVar[int]
    WATCH_GROUPS_FIELD_NUMBER: _ClassVar[int]
    GROUP_OFFSETS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    UNSUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    AGREED_FIELD_NUMBER: _ClassVar[int]
    DECLINED_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    BEACON_FIELD_NUMBER: _ClassVar[int]
    ASK_BEACON_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    REVERSE_FIELD_NUMBER: _ClassVar[int]
    WITHDRAW_REVERSALS_FIELD_NUMBER: _ClassVar[int]
    REVERSAL_REFUSED_FIELD_NUMBER: _ClassVar[int]
    HOLD_RETENTION_FIELD_NUMBER: _ClassVar[int]
    MIRROR_POSITIONS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_HELD_FIELD_NUMBER: _ClassVar[int]
    REWATCH_TOPICS_FIELD_NUMBER: _ClassVar[int]
    FRAME_PART_FIELD_NUMBER: _ClassVar[int]
    WANTED_STREAMS_FIELD_NUMBER: _ClassVar[int]
    MIRRORED_TOPICS_FIELD_NUMBER: _ClassVar[int]
    CHECK_REVERSALS_FIELD_NUMBER: _ClassVar[int]
    REVERSALS_CHECKED_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    welcome: Welcome
    refused: Refused
    watch_topics: WatchTopics
    topic_state: TopicState
    watch_groups: WatchGroups
    group_offsets: GroupOffsets
    subscribe: Subscribe
    unsubscribe: Unsubscribe
    agreed: Agreed
    declined: Declined
    chunk: Chunk
    beacon: Beacon
    ask_beacon: AskBeacon
    credit: Credit
    brokers: Brokers
    announce: Announce
    superseded: Superseded
    reverse: Reverse
    withdraw_reversals: WithdrawReversals
    reversal_refused: ReversalRefused
    hold_retention: HoldRetention
    mirror_positions: MirrorPositions
    retention_held: RetentionHeld
    rewatch_topics: RewatchTopics
    frame_part: FramePart
    wanted_streams: WantedStreams
    mirrored_topics: MirroredTopics
    check_reversals: CheckReversals
    reversals_checked: ReversalsChecked
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., welcome: _Optional[_Union[Welcome, _Mapping]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., watch_topics: _Optional[_Union[WatchTopics, _Mapping]] = ..., topic_state: _Optional[_Union[TopicState, _Mapping]] = ..., watch_groups: _Optional[_Union[WatchGroups, _Mapping]] = ..., group_offsets: _Optional[_Union[GroupOffsets, _Mapping]] = ..., subscribe: _Optional[_Union[Subscribe, _Mapping]] = ..., unsubscribe: _Optional[_Union[Unsubscribe, _Mapping]] = ..., agreed: _Optional[_Union[Agreed, _Mapping]] = ..., declined: _Optional[_Union[Declined, _Mapping]] = ..., chunk: _Optional[_Union[Chunk, _Mapping]] = ..., beacon: _Optional[_Union[Beacon, _Mapping]] = ..., ask_beacon: _Optional[_Union[AskBeacon, _Mapping]] = ..., credit: _Optional[_Union[Credit, _Mapping]] = ..., brokers: _Optional[_Union[Brokers, _Mapping]] = ..., announce: _Optional[_Union[Announce, _Mapping]] = ..., superseded: _Optional[_Union[Superseded, _Mapping]] = ..., reverse: _Optional[_Union[Reverse, _Mapping]] = ..., withdraw_reversals: _Optional[_Union[WithdrawReversals, _Mapping]] = ..., reversal_refused: _Optional[_Union[ReversalRefused, _Mapping]] = ..., hold_retention: _Optional[_Union[HoldRetention, _Mapping]] = ..., mirror_positions: _Optional[_Union[MirrorPositions, _Mapping]] = ..., retention_held: _Optional[_Union[RetentionHeld, _Mapping]] = ..., rewatch_topics: _Optional[_Union[RewatchTopics, _Mapping]] = ..., frame_part: _Optional[_Union[FramePart, _Mapping]] = ..., wanted_streams: _Optional[_Union[WantedStreams, _Mapping]] = ..., mirrored_topics: _Optional[_Union[MirroredTopics, _Mapping]] = ..., check_reversals: _Optional[_Union[CheckReversals, _Mapping]] = ..., reversals_checked: _Optional[_Union[ReversalsChecked, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("version", "link_name", "link_id", "cluster_id", "expected_cluster_id", "chunk_bytes", "oldest_version", "broker_id", "compression", "fetch_min_bytes", "fetch_wait_max_ms", "chunk_bytes_max")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    LINK_ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_BYTES_FIELD_NUMBER: _ClassVar[int]
    OLDEST_VERSION_FIELD_NUMBER: _ClassVar[int]
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    COMPRESSION_FIELD_NUMBER: _ClassVar[int]
    FETCH_MIN_BYTES_FIELD_NUMBER: _ClassVar[int]
    FETCH_WAIT_MAX_MS_FIELD_NUMBER: _ClassVar[int]
    CHUNK_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    version: int
    link_name: str
    link_id: str
    cluster_id: str
    expected_cluster_id: str
    chunk_bytes: int
    oldest_version: int
    broker_id: int
    compression: str
    fetch_min_bytes: int
    fetch_wait_max_ms: int
    chunk_bytes_max: int
    def __init__(self, version: _Optional[int] = ..., link_name: _Optional[str] = ..., link_id: _Optional[str] = ..., cluster_id: _Optional[str] = ..., expected_cluster_id: _Optional[str] = ..., chunk_bytes: _Optional[int] = ..., oldest_version: _Optional[int] = ..., broker_id: _Optional[int] = ..., compression: _Optional[str] = ..., fetch_min_bytes: _Optional[int] = ..., fetch_wait_max_ms: _Optional[int] = ..., chunk_bytes_max: _Optional[int] = ...) -> None: ...

class Announce(_message.Message):
    __slots__ = ("link_name", "cluster_id", "expected_cluster_id", "broker_id", "fetcher", "secret")
    LINK_NAME_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    FETCHER_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    link_name: str
    cluster_id: str
    expected_cluster_id: str
    broker_id: int
    fetcher: int
    secret: str
    def __init__(self, link_name: _Optional[str] = ..., cluster_id: _Optional[str] = ..., expected_cluster_id: _Optional[str] = ..., broker_id: _Optional[int] = ..., fetcher: _Optional[int] = ..., secret: _Optional[str] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("version", "cluster_id", "broker_id")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    version: int
    cluster_id: str
    broker_id: int
    def __init__(self, version: _Optional[int] = ..., cluster_id: _Optional[str] = ..., broker_id: _Optional[int] = ...) -> None: ...

class Brokers(_message.Message):
    __slots__ = ("metadata_offset", "brokers")
    METADATA_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BROKERS_FIELD_NUMBER: _ClassVar[int]
    metadata_offset: int
    brokers: _containers.RepeatedCompositeFieldContainer[Broker]
    def __init__(self, metadata_offset: _Optional[int] = ..., brokers: _Optional[_Iterable[_Union[Broker, _Mapping]]] = ...) -> None: ...

class Broker(_message.Message):
    __slots__ = ("broker_id", "endpoint")
    BROKER_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    broker_id: int
    endpoint: str
    def __init__(self, broker_id: _Optional[int] = ..., endpoint: _Optional[str] = ...) -> None: ...

class Refused(_message.Message):
    __slots__ = ("code", "because")
    CODE_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    code: str
    because: str
    def __init__(self, code: _Optional[str] = ..., because: _Optional[str] = ...) -> None: ...

class WatchTopics(_message.Message):
    __slots__ = ("topics", "filters")
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    filters: _containers.RepeatedCompositeFieldContainer[Filter]
    def __init__(self, topics: _Optional[_Iterable[str]] = ..., filters: _Optional[_Iterable[_Union[Filter, _Mapping]]] = ...) -> None: ...

class RewatchTopics(_message.Message):
    __slots__ = ("added", "removed")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedScalarFieldContainer[str]
    removed: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, added: _Optional[_Iterable[str]] = ..., removed: _Optional[_Iterable[str]] = ...) -> None: ...

class TopicState(_message.Message):
    __slots__ = ("topic", "topic_id", "partition_count", "configs", "leader_epochs", "origins", "leaders", "metadata_offset", "former", "reversing")
    class ConfigsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    PARTITION_COUNT_FIELD_NUMBER: _ClassVar[int]
    CONFIGS_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    LEADERS_FIELD_NUMBER: _ClassVar[int]
    METADATA_OFFSET_FIELD_NUMBER: _ClassVar[int]
    FORMER_FIELD_NUMBER: _ClassVar[int]
    REVERSING_FIELD_NUMBER: _ClassVar[int]
    topic: str
    topic_id: bytes
    partition_count: int
    configs: _containers.ScalarMap[str, str]
    leader_epochs: _containers.RepeatedScalarFieldContainer[int]
    origins: _containers.RepeatedScalarFieldContainer[str]
    leaders: _containers.RepeatedScalarFieldContainer[int]
    metadata_offset: int
    former: Former
    reversing: Former
    def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[bytes] = ..., partition_count: _Optional[int] = ..., configs: _Optional[_Mapping[str, str]] = ..., leader_epochs: _Optional[_Iterable[int]] = ..., origins: _Optional[_Iterable[str]] = ..., leaders: _Optional[_Iterable[int]] = ..., metadata_offset: _Optional[int] = ..., former: _Optional[_Union[Former, _Mapping]] = ..., reversing: _Optional[_Union[Former, _Mapping]] = ...) -> None: ...

class Former(_message.Message):
    __slots__ = ("cluster_id", "topic_id", "generation")
    CLUSTER_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    cluster_id: str
    topic_id: bytes
    generation: int
    def __init__(self, cluster_id: _Optional[str] = ..., topic_id: _Optional[bytes] = ..., generation: _Optional[int] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("name", "pattern", "exclude")
    class Pattern(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LITERAL: _ClassVar[Filter.Pattern]
        PREFIXED: _ClassVar[Filter.Pattern]
    LITERAL: Filter.Pattern
    PREFIXED: Filter.Pattern
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    name: str
    pattern: Filter.Pattern
    exclude: bool
    def __init__(self, name: _Optional[str] = ..., pattern: _Optional[_Union[Filter.Pattern, str]] = ..., exclude: _Optional[bool] = ...) -> None: ...

class WatchGroups(_message.Message):
    __slots__ = ("filters",)
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    filters: _containers.RepeatedCompositeFieldContainer[Filter]
    def __init__(self, filters: _Optional[_Iterable[_Union[Filter, _Mapping]]] = ...) -> None: ...

class GroupOffsets(_message.Message):
    __slots__ = ("group", "offsets", "deleted", "is_active")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    IS_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    group: str
    offsets: _containers.RepeatedCompositeFieldContainer[GroupOffset]
    deleted: _containers.RepeatedCompositeFieldContainer[GroupPartition]
    is_active: bool
    def __init__(self, group: _Optional[str] = ..., offsets: _Optional[_Iterable[_Union[GroupOffset, _Mapping]]] = ..., deleted: _Optional[_Iterable[_Union[GroupPartition, _Mapping]]] = ..., is_active: _Optional[bool] = ...) -> None: ...

class GroupPartition(_message.Message):
    __slots__ = ("topic", "partition")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    topic: str
    partition: int
    def __init__(self, topic: _Optional[str] = ..., partition: _Optional[int] = ...) -> None: ...

class GroupOffset(_message.Message):
    __slots__ = ("topic", "partition", "offset", "leader_epoch", "metadata", "committed_at")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_AT_FIELD_NUMBER: _ClassVar[int]
    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int
    def __init__(self, topic: _Optional[str] = ..., partition: _Optional[int] = ..., offset: _Optional[int] = ..., leader_epoch: _Optional[int] = ..., metadata: _Optional[str] = ..., committed_at: _Optional[int] = ...) -> None: ...

class EpochStart(_message.Message):
    __slots__ = ("leader_epoch", "offset")
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    leader_epoch: int
    offset: int
    def __init__(self, leader_epoch: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class Subscribe(_message.Message):
    __slots__ = ("subscription", "topic", "partition", "topic_id", "offset", "lineage", "from_latest", "leader_epoch", "weight", "segment_base", "segment_bytes", "from_timestamp", "is_watched")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    FROM_LATEST_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_BASE_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    FROM_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    IS_WATCHED_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    topic: str
    partition: int
    topic_id: bytes
    offset: int
    lineage: _containers.RepeatedCompositeFieldContainer[EpochStart]
    from_latest: bool
    leader_epoch: int
    weight: int
    segment_base: int
    segment_bytes: int
    from_timestamp: int
    is_watched: bool
    def __init__(self, subscription: _Optional[int] = ..., topic: _Optional[str] = ..., partition: _Optional[int] = ..., topic_id: _Optional[bytes] = ..., offset: _Optional[int] = ..., lineage: _Optional[_Iterable[_Union[EpochStart, _Mapping]]] = ..., from_latest: _Optional[bool] = ..., leader_epoch: _Optional[int] = ..., weight: _Optional[int] = ..., segment_base: _Optional[int] = ..., segment_bytes: _Optional[int] = ..., from_timestamp: _Optional[int] = ..., is_watched: _Optional[bool] = ...) -> None: ...

class Unsubscribe(_message.Message):
    __slots__ = ("subscription",)
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    def __init__(self, subscription: _Optional[int] = ...) -> None: ...

class Standing(_message.Message):
    __slots__ = ("log_start_offset", "high_watermark", "last_stable_offset", "bytes_ahead", "origin_lag_ms", "complete_from", "markers_from", "markers_removed_at", "origin_lag", "origin_lag_bytes", "origin_lag_is_lower_bound", "in_sync_log_start")
    LOG_START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    HIGH_WATERMARK_FIELD_NUMBER: _ClassVar[int]
    LAST_STABLE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BYTES_AHEAD_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_MS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FROM_FIELD_NUMBER: _ClassVar[int]
    MARKERS_FROM_FIELD_NUMBER: _ClassVar[int]
    MARKERS_REMOVED_AT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_LAG_IS_LOWER_BOUND_FIELD_NUMBER: _ClassVar[int]
    IN_SYNC_LOG_START_FIELD_NUMBER: _ClassVar[int]
    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    bytes_ahead: int
    origin_lag_ms: int
    complete_from: int
    markers_from: int
    markers_removed_at: int
    origin_lag: int
    origin_lag_bytes: int
    origin_lag_is_lower_bound: bool
    in_sync_log_start: int
    def __init__(self, log_start_offset: _Optional[int] = ..., high_watermark: _Optional[int] = ..., last_stable_offset: _Optional[int] = ..., bytes_ahead: _Optional[int] = ..., origin_lag_ms: _Optional[int] = ..., complete_from: _Optional[int] = ..., markers_from: _Optional[int] = ..., markers_removed_at: _Optional[int] = ..., origin_lag: _Optional[int] = ..., origin_lag_bytes: _Optional[int] = ..., origin_lag_is_lower_bound: _Optional[bool] = ..., in_sync_log_start: _Optional[int] = ...) -> None: ...

class Agreed(_message.Message):
    __slots__ = ("subscription", "start_offset", "leader_epoch", "standing", "clock", "skipped_bytes", "began_at", "is_deleted")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    START_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_BYTES_FIELD_NUMBER: _ClassVar[int]
    BEGAN_AT_FIELD_NUMBER: _ClassVar[int]
    IS_DELETED_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    start_offset: int
    leader_epoch: int
    standing: Standing
    clock: int
    skipped_bytes: int
    began_at: int
    is_deleted: bool
    def __init__(self, subscription: _Optional[int] = ..., start_offset: _Optional[int] = ..., leader_epoch: _Optional[int] = ..., standing: _Optional[_Union[Standing, _Mapping]] = ..., clock: _Optional[int] = ..., skipped_bytes: _Optional[int] = ..., began_at: _Optional[int] = ..., is_deleted: _Optional[bool] = ...) -> None: ...

class Declined(_message.Message):
    __slots__ = ("subscription", "error", "because", "agreed_offset", "began_at")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    AGREED_OFFSET_FIELD_NUMBER: _ClassVar[int]
    BEGAN_AT_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    error: str
    because: str
    agreed_offset: int
    began_at: int
    def __init__(self, subscription: _Optional[int] = ..., error: _Optional[str] = ..., because: _Optional[str] = ..., agreed_offset: _Optional[int] = ..., began_at: _Optional[int] = ...) -> None: ...

class ChunkHead(_message.Message):
    __slots__ = ("subscription", "offset", "next_offset", "leader_epoch", "roll", "standing", "clock", "uncompressed_bytes")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    LEADER_EPOCH_FIELD_NUMBER: _ClassVar[int]
    ROLL_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    UNCOMPRESSED_BYTES_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    offset: int
    next_offset: int
    leader_epoch: int
    roll: bool
    standing: Standing
    clock: int
    uncompressed_bytes: int
    def __init__(self, subscription: _Optional[int] = ..., offset: _Optional[int] = ..., next_offset: _Optional[int] = ..., leader_epoch: _Optional[int] = ..., roll: _Optional[bool] = ..., standing: _Optional[_Union[Standing, _Mapping]] = ..., clock: _Optional[int] = ..., uncompressed_bytes: _Optional[int] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("head", "data")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    head: ChunkHead
    data: bytes
    def __init__(self, head: _Optional[_Union[ChunkHead, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Beacon(_message.Message):
    __slots__ = ("clock", "nonce", "standings")
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    STANDINGS_FIELD_NUMBER: _ClassVar[int]
    clock: int
    nonce: int
    standings: _containers.RepeatedCompositeFieldContainer[SubscriptionStanding]
    def __init__(self, clock: _Optional[int] = ..., nonce: _Optional[int] = ..., standings: _Optional[_Iterable[_Union[SubscriptionStanding, _Mapping]]] = ...) -> None: ...

class SubscriptionStanding(_message.Message):
    __slots__ = ("subscription", "standing")
    SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    subscription: int
    standing: Standing
    def __init__(self, subscription: _Optional[int] = ..., standing: _Optional[_Union[Standing, _Mapping]] = ...) -> None: ...

class AskBeacon(_message.Message):
    __slots__ = ("nonce", "topic", "metadata_offset")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    METADATA_OFFSET_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    topic: str
    metadata_offset: int
    def __init__(self, nonce: _Optional[int] = ..., topic: _Optional[str] = ..., metadata_offset: _Optional[int] = ...) -> None: ...

class Credit(_message.Message):
    __slots__ = ("granted_bytes",)
    GRANTED_BYTES_FIELD_NUMBER: _ClassVar[int]
    granted_bytes: int
    def __init__(self, granted_bytes: _Optional[int] = ...) -> None: ...

class Superseded(_message.Message):
    __slots__ = ("topics",)
    class Topic(_message.Message):
        __slots__ = ("topic", "topic_id", "generation")
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
        GENERATION_FIELD_NUMBER: _ClassVar[int]
        topic: str
        topic_id: bytes
        generation: int
        def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[bytes] = ..., generation: _Optional[int] = ...) -> None: ...
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedCompositeFieldContainer[Superseded.Topic]
    def __init__(self, topics: _Optional[_Iterable[_Union[Superseded.Topic, _Mapping]]] = ...) -> None: ...

class Reverse(_message.Message):
    __slots__ = ("topics",)
    class Topic(_message.Message):
        __slots__ = ("topic", "topic_id", "mirror_topic_id", "generation", "is_paused", "metadata_offset")
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
        MIRROR_TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
        GENERATION_FIELD_NUMBER: _ClassVar[int]
        IS_PAUSED_FIELD_NUMBER: _ClassVar[int]
        METADATA_OFFSET_FIELD_NUMBER: _ClassVar[int]
        topic: str
        topic_id: bytes
        mirror_topic_id: bytes
        generation: int
        is_paused: bool
        metadata_offset: int
        def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[bytes] = ..., mirror_topic_id: _Optional[bytes] = ..., generation: _Optional[int] = ..., is_paused: _Optional[bool] = ..., metadata_offset: _Optional[int] = ...) -> None: ...
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedCompositeFieldContainer[Reverse.Topic]
    def __init__(self, topics: _Optional[_Iterable[_Union[Reverse.Topic, _Mapping]]] = ...) -> None: ...

class WithdrawReversals(_message.Message):
    __slots__ = ("topics",)
    class Topic(_message.Message):
        __slots__ = ("topic", "topic_id", "generation")
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
        GENERATION_FIELD_NUMBER: _ClassVar[int]
        topic: str
        topic_id: bytes
        generation: int
        def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[bytes] = ..., generation: _Optional[int] = ...) -> None: ...
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedCompositeFieldContainer[WithdrawReversals.Topic]
    def __init__(self, topics: _Optional[_Iterable[_Union[WithdrawReversals.Topic, _Mapping]]] = ...) -> None: ...

class ReversalRefused(_message.Message):
    __slots__ = ("topic", "generation", "code", "because")
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    topic: str
    generation: int
    code: str
    because: str
    def __init__(self, topic: _Optional[str] = ..., generation: _Optional[int] = ..., code: _Optional[str] = ..., because: _Optional[str] = ...) -> None: ...

class CheckReversals(_message.Message):
    __slots__ = ("nonce", "topics")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    topics: _containers.RepeatedCompositeFieldContainer[Reverse.Topic]
    def __init__(self, nonce: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[Reverse.Topic, _Mapping]]] = ...) -> None: ...

class ReversalsChecked(_message.Message):
    __slots__ = ("nonce", "refused")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    refused: _containers.RepeatedCompositeFieldContainer[ReversalRefused]
    def __init__(self, nonce: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[ReversalRefused, _Mapping]]] = ...) -> None: ...

class HoldRetention(_message.Message):
    __slots__ = ("max_bytes", "max_ms", "topics", "is_continued")
    class Topic(_message.Message):
        __slots__ = ("topic", "topic_id")
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        TOPIC_ID_FIELD_NUMBER: _ClassVar[int]
        topic: str
        topic_id: bytes
        def __init__(self, topic: _Optional[str] = ..., topic_id: _Optional[bytes] = ...) -> None: ...
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    IS_CONTINUED_FIELD_NUMBER: _ClassVar[int]
    max_bytes: int
    max_ms: int
    topics: _containers.RepeatedCompositeFieldContainer[HoldRetention.Topic]
    is_continued: bool
    def __init__(self, max_bytes: _Optional[int] = ..., max_ms: _Optional[int] = ..., topics: _Optional[_Iterable[_Union[HoldRetention.Topic, _Mapping]]] = ..., is_continued: _Optional[bool] = ...) -> None: ...

class MirrorPositions(_message.Message):
    __slots__ = ("positions",)
    class Position(_message.Message):
        __slots__ = ("subscription", "offset")
        SUBSCRIPTION_FIELD_NUMBER: _ClassVar[int]
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        subscription: int
        offset: int
        def __init__(self, subscription: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    positions: _containers.RepeatedCompositeFieldContainer[MirrorPositions.Position]
    def __init__(self, positions: _Optional[_Iterable[_Union[MirrorPositions.Position, _Mapping]]] = ...) -> None: ...

class RetentionHeld(_message.Message):
    __slots__ = ("max_bytes", "max_ms", "because")
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MS_FIELD_NUMBER: _ClassVar[int]
    BECAUSE_FIELD_NUMBER: _ClassVar[int]
    max_bytes: int
    max_ms: int
    because: str
    def __init__(self, max_bytes: _Optional[int] = ..., max_ms: _Optional[int] = ..., because: _Optional[str] = ...) -> None: ...

class FramePart(_message.Message):
    __slots__ = ("frame_bytes", "data")
    FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    frame_bytes: int
    data: bytes
    def __init__(self, frame_bytes: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class WantedStreams(_message.Message):
    __slots__ = ("broker_ids", "metadata_ids")
    BROKER_IDS_FIELD_NUMBER: _ClassVar[int]
    METADATA_IDS_FIELD_NUMBER: _ClassVar[int]
    broker_ids: _containers.RepeatedScalarFieldContainer[int]
    metadata_ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, broker_ids: _Optional[_Iterable[int]] = ..., metadata_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class MirroredTopics(_message.Message):
    __slots__ = ("topic_ids",)
    TOPIC_IDS_FIELD_NUMBER: _ClassVar[int]
    topic_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, topic_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...
