"""Protobuf messages to frames, all but chunks. A value that cannot be true, or is too long, raises FrameError."""

from collections.abc import Callable
from typing import Any, Final

from brokers.ids import OFFSET_MAX, OffsetAndMetadata, TopicPartition
from linker.errors import MirrorError
from linker.filters import FILTERS_MAX, WEIGHT_MAX, Filter, Pattern
from linker.frames import (
    BROKERS_MAX,
    NO_BROKER,
    TOPICS_MAX,
    Agreed,
    Announce,
    AskBeacon,
    Beacon,
    Brokers,
    Credit,
    Declined,
    Former,
    Frame,
    GroupOffsets,
    Hello,
    MirroredTopics,
    Pace,
    Refused,
    RewatchTopics,
    SourceBroker,
    Subscribe,
    Superseded,
    SupersededTopic,
    TopicState,
    Unsubscribe,
    WantedStreams,
    WatchGroups,
    WatchTopics,
    Welcome,
)
from linker.hold_frames import (
    POSITIONS_MAX,
    HeldTopic,
    HoldRetention,
    MirrorPositions,
    RetentionHeld,
)
from linker.offset_bounds import BehindOrigin, OffsetBounds, SegmentPosition
from linker.protocol_versions import SEVERAL_BROKERS_FROM, ProtocolVersions
from linker.reversal_frames import (
    CHECKED_MAX,
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    Reverse,
    ReversedTopic,
    WithdrawnReversal,
    WithdrawReversals,
)
from linker.wire.frame_encoders import ZSTD
from linker.wire.limits import (
    GROUP_OFFSETS_MAX,
    LINEAGE_MAX,
    ORIGINS_MAX,
    PARTITIONS_MAX,
    FrameError,
    address,
    configs,
    group_text,
    listed,
    name,
    partition,
    partition_count,
    reason,
)
from linker.wire.v1 import link_pb2 as pb

# Half of 31 bits: every failover needs a leader epoch above its source's.
LEADER_EPOCH_MAX: Final = 1 << 30
WAIT_MS_MAX: Final = 60_000
TOPIC_ID_SIZES: Final = (0, 16)


def offset(number: int) -> int:
    """-1 is none."""
    if not -1 <= number <= OFFSET_MAX:
        raise FrameError(f"an offset of {number}")
    return number


def leader_epoch(number: int) -> int:
    if not -1 <= number <= LEADER_EPOCH_MAX:
        raise FrameError(f"a leader epoch of {number}")
    return number


def bounds_of(message: pb.Standing) -> OffsetBounds:
    return OffsetBounds(
        offset(message.log_start_offset),
        offset(message.high_watermark),
        offset(message.last_stable_offset),
        _optional(message, "bytes_ahead"),
        BehindOrigin(
            _optional(message, "origin_lag_ms"),
            _optional(message, "origin_lag"),
            _optional(message, "origin_lag_bytes"),
            message.origin_lag_is_lower_bound,
        ),
        _optional(message, "complete_from"),
        _optional(message, "markers_from"),
        _optional(message, "markers_removed_at"),
        _optional(message, "in_sync_log_start"),
    )


def _optional(message: pb.Standing, name: str) -> int:
    return offset(getattr(message, name)) if message.HasField(name) else -1


def _from_group_offsets(message: pb.GroupOffsets) -> GroupOffsets:
    return GroupOffsets(
        group_text(message.group),
        {
            TopicPartition(name(one.topic), partition(one.partition)): OffsetAndMetadata(
                offset(one.offset), one.leader_epoch, group_text(one.metadata), one.committed_at
            )
            for one in listed(message.offsets, GROUP_OFFSETS_MAX)
        },
        tuple(
            TopicPartition(name(one.topic), partition(one.partition))
            for one in listed(message.deleted, GROUP_OFFSETS_MAX)
        ),
        message.is_active if message.HasField("is_active") else None,
    )


def _from_topic_state(message: pb.TopicState) -> TopicState:
    if len(message.topic_id) not in TOPIC_ID_SIZES:
        raise FrameError(f"a topic id of {len(message.topic_id)} bytes")
    return TopicState(
        name(message.topic),
        message.topic_id,
        partition_count(message.partition_count),
        configs(message.configs),
        tuple(leader_epoch(one) for one in listed(message.leader_epochs, PARTITIONS_MAX)),
        tuple(name(one) for one in listed(message.origins, ORIGINS_MAX)),
        tuple(listed(message.leaders, PARTITIONS_MAX)),
        offset(message.metadata_offset),
        _from_former(message.former) if message.HasField("former") else None,
        _from_former(message.reversing) if message.HasField("reversing") else None,
    )


def _from_former(message: pb.Former) -> Former:
    return Former(name(message.cluster_id), topic_id(message.topic_id), message.generation)


def topic_id(data: bytes) -> bytes:
    if len(data) != 16:
        raise FrameError(f"a topic id of {len(data)} bytes")
    return data


def _from_brokers(message: pb.Brokers) -> Brokers:
    return Brokers(
        offset(message.metadata_offset),
        tuple(
            SourceBroker(one.broker_id, address(one.endpoint))
            for one in listed(message.brokers, BROKERS_MAX)
        ),
    )


def _from_welcome(message: pb.Welcome) -> Welcome:
    is_named = message.version >= SEVERAL_BROKERS_FROM
    broker_id = message.broker_id if is_named else NO_BROKER
    return Welcome(name(message.cluster_id), message.version, broker_id)


def _from_pace(message: pb.Hello) -> Pace:
    """A compression that is not known here is none: chunks say whether they are compressed."""
    wait_max_ms = min(message.fetch_wait_max_ms, WAIT_MS_MAX)
    return Pace(max(message.fetch_min_bytes, 1), wait_max_ms, message.compression == ZSTD)


def _from_filter(message: pb.Filter) -> Filter:
    pattern = Pattern.PREFIXED if message.pattern == pb.Filter.PREFIXED else Pattern.LITERAL
    return Filter(group_text(message.name), pattern, message.exclude)


def _from_declined(message: pb.Declined) -> Declined:
    known = message.error in MirrorError.__members__
    error = MirrorError(message.error) if known else MirrorError.UNKNOWN
    began_at = offset(message.began_at) if message.HasField("began_at") else -1
    because, agreed_offset = reason(message.because), offset(message.agreed_offset)
    return Declined(message.subscription, error, because, agreed_offset, began_at)


def _reversed_topics(messages: Any, maximum: int) -> tuple[ReversedTopic, ...]:
    return tuple(
        ReversedTopic(
            name(one.topic),
            topic_id(one.topic_id),
            topic_id(one.mirror_topic_id),
            one.generation,
            one.is_paused,
            offset(one.metadata_offset),
        )
        for one in listed(messages, maximum)
    )


def _reversal_refused(message: pb.ReversalRefused) -> ReversalRefused:
    return ReversalRefused(
        name(message.topic), message.generation, name(message.code), reason(message.because)
    )


DECODERS: Final[dict[str, Callable[[Any], Frame]]] = {
    "hello": lambda m: Hello(
        name(m.link_name),
        name(m.link_id),
        name(m.cluster_id),
        name(m.expected_cluster_id),
        m.chunk_bytes,
        ProtocolVersions(m.oldest_version or m.version, m.version),
        m.broker_id if m.version >= SEVERAL_BROKERS_FROM else NO_BROKER,
        _from_pace(m),
        m.chunk_bytes_max,
    ),
    "welcome": _from_welcome,
    "refused": lambda m: Refused(reason(m.code), reason(m.because)),
    "watch_topics": lambda m: WatchTopics(
        tuple(name(one) for one in listed(m.topics, TOPICS_MAX)),
        tuple(_from_filter(one) for one in listed(m.filters, FILTERS_MAX)),
    ),
    "rewatch_topics": lambda m: RewatchTopics(
        tuple(name(one) for one in listed(m.added, TOPICS_MAX)),
        tuple(name(one) for one in listed(m.removed, TOPICS_MAX)),
    ),
    "wanted_streams": lambda m: WantedStreams(
        tuple(listed(m.broker_ids, BROKERS_MAX)), tuple(listed(m.metadata_ids, BROKERS_MAX))
    ),
    "topic_state": _from_topic_state,
    "watch_groups": lambda m: WatchGroups(
        tuple(_from_filter(one) for one in listed(m.filters, FILTERS_MAX))
    ),
    "group_offsets": _from_group_offsets,
    "subscribe": lambda m: Subscribe(
        m.subscription,
        TopicPartition(name(m.topic), partition(m.partition)),
        m.topic_id,
        offset(m.offset),
        tuple((one.leader_epoch, offset(one.offset)) for one in listed(m.lineage, LINEAGE_MAX)),
        m.from_latest,
        m.leader_epoch if m.HasField("leader_epoch") else -1,
        m.from_timestamp if m.HasField("from_timestamp") else -1,
        min(max(m.weight, 1), WEIGHT_MAX),
        SegmentPosition(
            offset(m.segment_base) if m.HasField("segment_base") else -1, offset(m.segment_bytes)
        ),
        m.is_watched,
    ),
    "unsubscribe": lambda m: Unsubscribe(m.subscription),
    "agreed": lambda m: Agreed(
        m.subscription,
        offset(m.start_offset),
        leader_epoch(m.leader_epoch),
        bounds_of(m.standing),
        m.clock,
        offset(m.skipped_bytes) if m.HasField("skipped_bytes") else -1,
        offset(m.began_at) if m.HasField("began_at") else -1,
        m.is_deleted,
    ),
    "declined": _from_declined,
    "beacon": lambda m: Beacon(
        m.clock,
        tuple(
            (one.subscription, bounds_of(one.standing))
            for one in listed(m.standings, PARTITIONS_MAX)
        ),
        m.nonce,
    ),
    "ask_beacon": lambda m: AskBeacon(m.nonce, name(m.topic), offset(m.metadata_offset)),
    "credit": lambda m: Credit(m.granted_bytes),
    "brokers": _from_brokers,
    "superseded": lambda m: Superseded(
        tuple(
            SupersededTopic(name(one.topic), one.topic_id, one.generation)
            for one in listed(m.topics, TOPICS_MAX)
        )
    ),
    "reverse": lambda m: Reverse(_reversed_topics(m.topics, TOPICS_MAX)),
    "check_reversals": lambda m: CheckReversals(m.nonce, _reversed_topics(m.topics, CHECKED_MAX)),
    "reversals_checked": lambda m: ReversalsChecked(
        m.nonce, tuple(_reversal_refused(one) for one in listed(m.refused, CHECKED_MAX))
    ),
    "withdraw_reversals": lambda m: WithdrawReversals(
        tuple(
            WithdrawnReversal(name(one.topic), topic_id(one.topic_id), one.generation)
            for one in listed(m.topics, TOPICS_MAX)
        )
    ),
    "reversal_refused": _reversal_refused,
    "hold_retention": lambda m: HoldRetention(
        offset(m.max_bytes),
        offset(m.max_ms),
        tuple(
            HeldTopic(name(one.topic), topic_id(one.topic_id))
            for one in listed(m.topics, TOPICS_MAX)
        ),
        m.is_continued,
    ),
    "mirrored_topics": lambda m: MirroredTopics(
        tuple(topic_id(one) for one in listed(m.topic_ids, TOPICS_MAX))
    ),
    "mirror_positions": lambda m: MirrorPositions(
        tuple((one.subscription, offset(one.offset)) for one in listed(m.positions, POSITIONS_MAX))
    ),
    "retention_held": lambda m: RetentionHeld(
        offset(m.max_bytes), offset(m.max_ms), reason(m.because)
    ),
    "announce": lambda m: Announce(
        name(m.link_name),
        name(m.cluster_id),
        name(m.expected_cluster_id),
        m.broker_id,
        m.fetcher,
        name(m.secret),
    ),
}
