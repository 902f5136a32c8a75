"""Frames to protobuf messages, all but chunks."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from linker.filters import Filter, Pattern
from linker.frames import (
    Agreed,
    Announce,
    AskBeacon,
    Beacon,
    Brokers,
    Credit,
    Declined,
    GroupOffsets,
    Hello,
    MirroredTopics,
    Refused,
    RewatchTopics,
    Subscribe,
    Superseded,
    TopicState,
    Unsubscribe,
    WantedStreams,
    WatchGroups,
    WatchTopics,
    Welcome,
)
from linker.hold_frames import HoldRetention, MirrorPositions, RetentionHeld
from linker.offset_bounds import OffsetBounds
from linker.reversal_frames import (
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    Reverse,
    WithdrawReversals,
)
from linker.wire.v1 import link_pb2 as pb

ZSTD: Final = "zstd"


def standing(bounds: OffsetBounds) -> pb.Standing:
    return pb.Standing(
        log_start_offset=bounds.log_start_offset,
        high_watermark=bounds.high_watermark,
        last_stable_offset=bounds.last_stable_offset,
        bytes_ahead=_known(bounds.bytes_ahead),
        origin_lag_ms=_known(bounds.origin.milliseconds),
        origin_lag=_known(bounds.origin.records),
        origin_lag_bytes=_known(bounds.origin.size),
        origin_lag_is_lower_bound=bounds.origin.is_lower_bound,
        complete_from=_known(bounds.complete_from),
        markers_from=_known(bounds.markers_from),
        markers_removed_at=_known(bounds.markers_removed_at),
        in_sync_log_start=_known(bounds.in_sync_log_start),
    )


def _known(number: int) -> int | None:
    return number if number >= 0 else None


def _hello(frame: Hello) -> pb.Frame:
    return pb.Frame(
        hello=pb.Hello(
            version=frame.versions.newest,
            oldest_version=frame.versions.oldest,
            link_name=frame.link_name,
            link_id=frame.link_id,
            cluster_id=frame.cluster_id,
            expected_cluster_id=frame.expected_cluster_id,
            chunk_bytes=frame.chunk_bytes,
            broker_id=frame.broker_id,
            compression=ZSTD if frame.pace.is_compressed else "",
            fetch_min_bytes=frame.pace.min_bytes,
            fetch_wait_max_ms=frame.pace.wait_max_ms,
            chunk_bytes_max=frame.chunk_bytes_max,
        )
    )


def _topic_state(frame: TopicState) -> pb.Frame:
    return pb.Frame(
        topic_state=pb.TopicState(
            topic=frame.topic,
            topic_id=frame.topic_id,
            partition_count=frame.partition_count,
            configs=frame.configs,
            leader_epochs=frame.leader_epochs,
            origins=frame.origins,
            leaders=frame.leaders,
            metadata_offset=frame.metadata_offset,
            former=pb.Former(**frame.former._asdict()) if frame.former is not None else None,
            reversing=pb.Former(**frame.reversing._asdict()) if frame.reversing else None,
        )
    )


def _filters(filters: Iterable[Filter]) -> list[pb.Filter]:
    return [
        pb.Filter(name=one.name, pattern=_PATTERNS[one.pattern], exclude=one.exclude)
        for one in filters
    ]


def _watch_groups(frame: WatchGroups) -> pb.Frame:
    return pb.Frame(watch_groups=pb.WatchGroups(filters=_filters(frame.filters)))


def _group_offsets(frame: GroupOffsets) -> pb.Frame:
    offsets = [
        pb.GroupOffset(
            topic=key.topic,
            partition=key.partition,
            offset=value.offset,
            leader_epoch=value.leader_epoch,
            metadata=value.metadata,
            committed_at=value.committed_at,
        )
        for key, value in frame.offsets.items()
    ]
    deleted = [pb.GroupPartition(topic=key.topic, partition=key.partition) for key in frame.deleted]
    message = pb.GroupOffsets(group=frame.group, offsets=offsets, deleted=deleted)
    if frame.is_active is not None:
        message.is_active = frame.is_active
    return pb.Frame(group_offsets=message)


def _subscribe(frame: Subscribe) -> pb.Frame:
    return pb.Frame(
        subscribe=pb.Subscribe(
            subscription=frame.subscription,
            topic=frame.partition.topic,
            partition=frame.partition.partition,
            topic_id=frame.topic_id,
            offset=frame.offset,
            lineage=[pb.EpochStart(leader_epoch=one, offset=start) for one, start in frame.lineage],
            from_latest=frame.from_latest,
            leader_epoch=frame.leader_epoch if frame.leader_epoch >= 0 else None,
            from_timestamp=frame.from_timestamp if frame.from_timestamp >= 0 else None,
            weight=frame.weight,
            segment_base=_known(frame.segment.base_offset),
            segment_bytes=frame.segment.size,
            is_watched=frame.is_watched,
        )
    )


def _brokers(frame: Brokers) -> pb.Frame:
    brokers = [pb.Broker(broker_id=one.broker_id, endpoint=one.endpoint) for one in frame.brokers]
    return pb.Frame(brokers=pb.Brokers(metadata_offset=frame.metadata_offset, brokers=brokers))


def _agreed(frame: Agreed) -> pb.Frame:
    return pb.Frame(
        agreed=pb.Agreed(
            subscription=frame.subscription,
            start_offset=frame.start_offset,
            leader_epoch=frame.leader_epoch,
            standing=standing(frame.bounds),
            clock=frame.clock,
            skipped_bytes=_known(frame.skipped_bytes),
            began_at=_known(frame.began_at),
            is_deleted=frame.is_deleted,
        )
    )


def _declined(frame: Declined) -> pb.Frame:
    return pb.Frame(
        declined=pb.Declined(
            subscription=frame.subscription,
            error=frame.error.value,
            because=frame.because,
            agreed_offset=frame.agreed_offset,
            began_at=_known(frame.began_at),
        )
    )


def _beacon(frame: Beacon) -> pb.Frame:
    standings = [
        pb.SubscriptionStanding(subscription=number, standing=standing(bounds))
        for number, bounds in frame.bounds
    ]
    return pb.Frame(beacon=pb.Beacon(clock=frame.clock, nonce=frame.nonce, standings=standings))


def _hold_retention(frame: HoldRetention) -> pb.Frame:
    topics = [pb.HoldRetention.Topic(**each._asdict()) for each in frame.topics]
    return pb.Frame(
        hold_retention=pb.HoldRetention(
            max_bytes=frame.max_bytes,
            max_ms=frame.max_ms,
            topics=topics,
            is_continued=frame.is_continued,
        )
    )


def _mirror_positions(frame: MirrorPositions) -> pb.Frame:
    positions = [
        pb.MirrorPositions.Position(subscription=number, offset=offset)
        for number, offset in frame.positions
    ]
    return pb.Frame(mirror_positions=pb.MirrorPositions(positions=positions))


def _reversal_refused(frame: ReversalRefused) -> pb.ReversalRefused:
    return pb.ReversalRefused(
        topic=frame.topic,
        generation=frame.generation,
        code=frame.code,
        because=frame.because,
    )


_PATTERNS: Final = {Pattern.LITERAL: pb.Filter.LITERAL, Pattern.PREFIXED: pb.Filter.PREFIXED}

ENCODERS: Final[dict[type, Callable[[Any], pb.Frame]]] = {
    Hello: _hello,
    Welcome: lambda frame: pb.Frame(
        welcome=pb.Welcome(
            version=frame.version, cluster_id=frame.cluster_id, broker_id=frame.broker_id
        )
    ),
    Refused: lambda frame: pb.Frame(refused=pb.Refused(code=frame.code, because=frame.because)),
    RewatchTopics: lambda frame: pb.Frame(
        rewatch_topics=pb.RewatchTopics(added=frame.added, removed=frame.removed)
    ),
    WantedStreams: lambda frame: pb.Frame(
        wanted_streams=pb.WantedStreams(
            broker_ids=frame.broker_ids, metadata_ids=frame.metadata_ids
        )
    ),
    WatchTopics: lambda frame: pb.Frame(
        watch_topics=pb.WatchTopics(topics=frame.topics, filters=_filters(frame.filters))
    ),
    TopicState: _topic_state,
    WatchGroups: _watch_groups,
    GroupOffsets: _group_offsets,
    Subscribe: _subscribe,
    Unsubscribe: lambda frame: pb.Frame(
        unsubscribe=pb.Unsubscribe(subscription=frame.subscription)
    ),
    Agreed: _agreed,
    Declined: _declined,
    Beacon: _beacon,
    AskBeacon: lambda frame: pb.Frame(
        ask_beacon=pb.AskBeacon(
            nonce=frame.nonce, topic=frame.topic, metadata_offset=frame.metadata_offset
        )
    ),
    Credit: lambda frame: pb.Frame(credit=pb.Credit(granted_bytes=frame.granted_bytes)),
    Brokers: _brokers,
    HoldRetention: _hold_retention,
    MirroredTopics: lambda frame: pb.Frame(
        mirrored_topics=pb.MirroredTopics(topic_ids=frame.topic_ids)
    ),
    MirrorPositions: _mirror_positions,
    RetentionHeld: lambda frame: pb.Frame(
        retention_held=pb.RetentionHeld(
            max_bytes=frame.max_bytes, max_ms=frame.max_ms, because=frame.because
        )
    ),
    Superseded: lambda frame: pb.Frame(
        superseded=pb.Superseded(
            topics=[pb.Superseded.Topic(**each._asdict()) for each in frame.topics]
        )
    ),
    Reverse: lambda frame: pb.Frame(
        reverse=pb.Reverse(topics=[pb.Reverse.Topic(**each._asdict()) for each in frame.topics])
    ),
    WithdrawReversals: lambda frame: pb.Frame(
        withdraw_reversals=pb.WithdrawReversals(
            topics=[pb.WithdrawReversals.Topic(**each._asdict()) for each in frame.topics]
        )
    ),
    ReversalRefused: lambda frame: pb.Frame(reversal_refused=_reversal_refused(frame)),
    CheckReversals: lambda frame: pb.Frame(
        check_reversals=pb.CheckReversals(
            nonce=frame.nonce,
            topics=[pb.Reverse.Topic(**each._asdict()) for each in frame.topics],
        )
    ),
    ReversalsChecked: lambda frame: pb.Frame(
        reversals_checked=pb.ReversalsChecked(
            nonce=frame.nonce, refused=[_reversal_refused(each) for each in frame.refused]
        )
    ),
    Announce: lambda frame: pb.Frame(
        announce=pb.Announce(
            link_name=frame.link_name,
            cluster_id=frame.cluster_id,
            expected_cluster_id=frame.expected_cluster_id,
            broker_id=frame.broker_id,
            fetcher=frame.fetcher,
            secret=frame.secret,
        )
    ),
}
