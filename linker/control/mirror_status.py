"""What this broker knows of the mirror partitions that it leads."""

from dataclasses import replace
from typing import Final

from brokers.ids import Instant, TopicPartition
from brokers.region import MirrorPartitionStatus, MirrorStatus
from linker.control.mirror_reports import Progress, Readers
from linker.control.mirror_topic import MirrorTopic
from linker.data.replicator import PartitionReplicator
from linker.records.mirror_state import MirrorState
from linker.region_client import RegionClient

# A replica that became leader with its old tail would have it cut by its source; a failover would make it the topic's.
TAILS_LEFT: Final = "not all replicas in sync have truncated their logs"


def mirror_status(region: RegionClient, mirror: MirrorTopic, now: Instant) -> MirrorStatus:
    found = (
        partition_status(region, mirror, index, now) for index in range(mirror.partition_count)
    )
    partitions = tuple(each for each in found if each is not None)
    because = mirror_progress(mirror).because
    readers = mirror_readers(region, mirror)
    return MirrorStatus(
        mirror.topic,
        mirror.version,
        partitions,
        mirror.clamp.covered,
        mirror.sealing.sealed,
        because,
        committed=readers.committed,
        heard=tuple(readers.heard),
    )


def mirror_readers(region: RegionClient, mirror: MirrorTopic) -> Readers:
    """What the groups that this broker coordinates have read of a topic that is to be restored: before they are moved
    back."""
    record, view = mirror.record, region.view
    is_due = record.state is MirrorState.PENDING_SETUP_FOR_RESTORE and not record.restore
    if not is_due or not view.groups_are_known():
        return Readers()
    committed = tuple(
        (group, partition.partition, one.offset)
        for group in view.groups_with_offsets()
        for partition, one in view.group_offsets(group).items()
        if partition.topic == mirror.topic
    )
    return Readers(committed, view.led_group_partitions())


def mirror_progress(mirror: MirrorTopic) -> Progress:
    because = mirror.sealing.because or mirror.clamp.because
    return Progress(mirror.clamp.covered, mirror.sealing.sealed, because)


def partition_status(
    region: RegionClient, mirror: MirrorTopic, index: int, now: Instant
) -> MirrorPartitionStatus | None:
    """None where another broker leads the partition. Its log is not open where its offsets are -1."""
    state = region.view.partition_state(TopicPartition(mirror.topic, index))
    if state is None or not state.is_leader:
        return None
    replicator = mirror.replicators.by_index.get(index)
    is_drained = state.online and mirror.is_halted and (replicator is None or replicator.is_drained)
    status = MirrorPartitionStatus(
        index=index,
        leader_epoch=state.leader_epoch,
        log_start_offset=state.log_start_offset,
        log_end_offset=state.log_end_offset,
        high_watermark=state.high_watermark,
        last_epoch=state.epochs[-1][0] if state.epochs else -1,
        is_drained=is_drained and state.high_watermark == state.log_end_offset,
        trouble=mirror.replicators.trouble_of(index),
    )
    if replicator is not None:
        status = _of_source(status, mirror, replicator, now)
    has_tails = mirror.record.state is MirrorState.PENDING_RESTORE and not state.is_followed
    if replicator is not None and has_tails:
        status = replace(status, is_following=False, trouble=TAILS_LEFT)
    return _if_unreached(status, mirror, now)


def _if_unreached(
    status: MirrorPartitionStatus, mirror: MirrorTopic, now: Instant
) -> MirrorPartitionStatus:
    since = mirror.replicators.unreached_since(status.index)
    if since is None:
        return status
    # Where nothing was ever copied by this broker, it is behind by the time that it leads, at least.
    lag_ms = status.lag_ms if status.lag_ms >= 0 else now - since
    return replace(status, is_unreached=True, lag_ms=lag_ms)


def _of_source(
    status: MirrorPartitionStatus,
    mirror: MirrorTopic,
    replicator: PartitionReplicator,
    now: Instant,
) -> MirrorPartitionStatus:
    lag, origin = replicator.lag, replicator.lag.behind_origin(status.high_watermark, now)
    is_known = replicator.streams or replicator.is_drained
    return replace(
        status,
        source_high_watermark=lag.high_watermark,
        source_clock=lag.moment(),
        lag_ms=lag.milliseconds(now),
        lag_bytes=lag.bytes(),
        is_lower_bound=lag.is_lower_bound,
        origin_lag_ms=origin.milliseconds,
        origin_lag=origin.records if status.high_watermark >= 0 else -1,
        origin_lag_bytes=origin.size,
        is_origin_lower_bound=origin.is_lower_bound,
        since_received_ms=lag.since_told(now),
        is_running=replicator.running,
        is_following=replicator.streams,
        # The log may end further than is known while an answer is awaited.
        common_offset=replicator.common.offset if is_known else -1,
        source_began_at=replicator.common.source_began_at,
        is_caught_up=status.log_end_offset >= 0 and mirror.replicators.is_proven(replicator),
    )
