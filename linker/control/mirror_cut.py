"""Where a mirror topic is cut, what has to be known for it, and what a promotion needs besides."""

from brokers.ids import Instant, TopicPartition
from linker.control.group_sync import GroupSync
from linker.control.mirror_topic import MirrorTopic
from linker.data.lag import SourceClock
from linker.errors import SEVERAL_NODES
from linker.records.mirror_state import Cut, CutKind, CutPartition
from linker.region_client import RegionClient


def lacking(mirror: MirrorTopic, groups: GroupSync) -> str:
    """What the mirror lacks of its source, by the newest frames received; empty if it lacks nothing."""
    if not mirror.in_step:
        return "partitions or settings are not in step"
    for index in range(mirror.partition_count):
        replicator = mirror.replicators.get(index)
        if replicator is None or not replicator.streams or not replicator.lag.caught_up:
            return f"partition {index} is behind"
    if not groups.settled(mirror.record.source_topic):
        return "group offsets are behind"
    return ""


def unknown_ends(region: RegionClient, mirror: MirrorTopic) -> str:
    """Why the ends of some partitions are not known; empty if all are."""
    if region.has_several_brokers:
        return SEVERAL_NODES
    states = [
        region.view.partition_state(TopicPartition(mirror.topic, index))
        for index in range(mirror.partition_count)
    ]
    offline = [
        str(index) for index, state in enumerate(states) if state is None or not state.online
    ]
    return f"offline: partitions {', '.join(offline)}" if offline else ""


def cut_of(
    region: RegionClient, mirror: MirrorTopic, clock: SourceClock, kind: CutKind, now: Instant
) -> Cut:
    """The mirror's log ends as they are now, which have to be known."""
    partitions = range(mirror.partition_count)
    return Cut(
        kind, now, tuple(_cut_partition(region, mirror, clock, index) for index in partitions)
    )


def _cut_partition(
    region: RegionClient, mirror: MirrorTopic, clock: SourceClock, index: int
) -> CutPartition:
    state = region.view.partition_state(TopicPartition(mirror.topic, index))
    assert state is not None and state.online, (mirror.topic, index)
    replicator = mirror.replicators.get(index)
    known = replicator.lag.high_watermark if replicator is not None else -1
    moment = replicator.lag.moment(clock) if replicator is not None else -1
    in_log = state.epochs[-1][0] if state.epochs else -1
    leader_epoch = max(in_log, state.leader_epoch) + 1
    return CutPartition(state.log_end_offset, known, moment, leader_epoch)
