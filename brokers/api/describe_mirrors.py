"""DescribeMirrors (key 10007, `brokers/wire/schema/links.txt`): not Kafka's. The link coordinator of the region asks
each broker about the mirror partitions that it leads, and the linker of that broker answers."""

from collections.abc import Iterable
from itertools import zip_longest

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant
from brokers.region import MirrorPartitionStatus, MirrorsAsked, MirrorStatus
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    CommittedMirrorOffset,
    DescribedMirror,
    DescribedMirrorPartition,
    DescribeMirrorsRequest,
    DescribeMirrorsResponse,
    PartitionLeaderEpoch,
)

KEY = ApiKey.DESCRIBE_MIRRORS
VERSIONS = (0, 0)
TOPICS_MAX = 20_000  # as many as a link can have


class DescribeMirrorsHandler:
    """Passes the question on to the linker of this node."""

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeMirrorsRequest)
        topics = tuple(dict.fromkeys(message.topics))
        if len(topics) > TOPICS_MAX:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, DescribeMirrorsResponse(error_code=error))]
        asked: Effect = MirrorsAsked(request.ticket, topics)
        return [asked]


def to_response(mirrors: Iterable[MirrorStatus]) -> DescribeMirrorsResponse:
    return DescribeMirrorsResponse(mirrors=[_to_mirror(each) for each in mirrors])


def from_response(response: DescribeMirrorsResponse) -> tuple[MirrorStatus, ...]:
    return tuple(_from_mirror(each) for each in response.mirrors)


def _to_mirror(mirror: MirrorStatus) -> DescribedMirror:
    return DescribedMirror(
        topic=mirror.topic,
        record_version=mirror.record_version,
        partitions=[_to_partition(each) for each in mirror.partitions],
        clamped_group_partitions=[
            PartitionLeaderEpoch(partition_index=index, leader_epoch=leader_epoch)
            for index, leader_epoch in mirror.clamped
        ],
        sealed_partitions=list(mirror.sealed),
        sealed_bytes=list(mirror.sealed.values()),
        because=mirror.because,
        committed=[
            CommittedMirrorOffset(group=group, partition_index=index, offset=offset)
            for group, index, offset in mirror.committed
        ],
        heard_group_partitions=[
            PartitionLeaderEpoch(partition_index=index, leader_epoch=leader_epoch)
            for index, leader_epoch in mirror.heard
        ],
    )


def _from_mirror(mirror: DescribedMirror) -> MirrorStatus:
    sealed = len(mirror.sealed_partitions)
    return MirrorStatus(
        mirror.topic,
        mirror.record_version,
        tuple(_from_partition(each) for each in mirror.partitions),
        tuple((one.partition_index, one.leader_epoch) for one in mirror.clamped_group_partitions),
        dict(zip_longest(mirror.sealed_partitions, mirror.sealed_bytes[:sealed], fillvalue=-1)),
        mirror.because,
        tuple((one.group, one.partition_index, one.offset) for one in mirror.committed),
        tuple((one.partition_index, one.leader_epoch) for one in mirror.heard_group_partitions),
    )


def _to_partition(status: MirrorPartitionStatus) -> DescribedMirrorPartition:
    return DescribedMirrorPartition(
        partition_index=status.index,
        leader_epoch=status.leader_epoch,
        log_start_offset=status.log_start_offset,
        log_end_offset=status.log_end_offset,
        high_watermark=status.high_watermark,
        last_epoch=status.last_epoch,
        source_high_watermark=status.source_high_watermark,
        source_clock=status.source_clock,
        lag_ms=status.lag_ms,
        since_received_ms=status.since_received_ms,
        is_running=status.is_running,
        is_caught_up=status.is_caught_up,
        is_drained=status.is_drained,
        trouble=status.trouble,
        common_offset=status.common_offset,
        is_following=status.is_following,
        lag_bytes=status.lag_bytes,
        origin_lag_ms=status.origin_lag_ms,
        source_began_at=status.source_began_at,
        is_unreached=status.is_unreached,
        is_lower_bound=status.is_lower_bound,
        origin_lag=status.origin_lag,
        origin_lag_bytes=status.origin_lag_bytes,
        is_origin_lower_bound=status.is_origin_lower_bound,
    )


def _from_partition(partition: DescribedMirrorPartition) -> MirrorPartitionStatus:
    return MirrorPartitionStatus(
        index=partition.partition_index,
        leader_epoch=partition.leader_epoch,
        log_start_offset=partition.log_start_offset,
        log_end_offset=partition.log_end_offset,
        high_watermark=partition.high_watermark,
        last_epoch=partition.last_epoch,
        source_high_watermark=partition.source_high_watermark,
        source_clock=partition.source_clock,
        lag_ms=partition.lag_ms,
        since_received_ms=partition.since_received_ms,
        is_running=partition.is_running,
        is_caught_up=partition.is_caught_up,
        is_drained=partition.is_drained,
        trouble=partition.trouble,
        common_offset=partition.common_offset,
        is_following=partition.is_following,
        lag_bytes=partition.lag_bytes,
        origin_lag_ms=partition.origin_lag_ms,
        source_began_at=partition.source_began_at,
        is_unreached=partition.is_unreached,
        is_lower_bound=partition.is_lower_bound,
        origin_lag=partition.origin_lag,
        origin_lag_bytes=partition.origin_lag_bytes,
        is_origin_lower_bound=partition.is_origin_lower_bound,
    )
