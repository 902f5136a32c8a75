"""What retention deletes of the replicas of a node, and what it leaves alone for mirrors."""

from types import SimpleNamespace

from brokers.config.broker_config import from_settings
from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.retention_hold import RetentionHold
from brokers.log.segments import Segment
from brokers.metadata.image.image import PartitionImage
from brokers.node.log_maintenance import LogMaintenance
from brokers.partition.replica import Replica
from brokers.timers import Timers
from tests.unit.brokers.partition.replicas import NOW
from tests.unit.brokers.partition.test_replica import Region

MB = 1 << 20
OLD, OTHER = TopicPartition("old", 0), TopicPartition("other", 0)
HELD_BY_NOBODY_ELSE = RetentionHold(offset=-1, max_bytes=99 * MB, max_ms=NOW)


def replica_of(partition: TopicPartition, first: int, *, leads: bool) -> Replica:
    """Ten segments of 1 MB and ten offsets, with records of the times `first` and on; all are to be deleted."""
    replica = Replica(
        partition,
        topic_id=bytes(16),
        leader_epoch=3,
        writer=None,
        config=LogConfig(retention_ms=1),
        host=Region(),
    )
    image = PartitionImage(
        partition_epoch=1, replicas=(1, 2), isr=(1, 2), leader=1 if leads else 2, leader_epoch=3
    )
    (replica.make_leader if leads else replica.make_follower)(image, None, NOW)
    segments = [Segment(10 * index, MB, first + index, first + index) for index in range(10)]
    log = Log(partition, bytes(16), segments=segments, log_start_offset=0, log_end_offset=100)
    replica.opened(log, NOW)
    replica.high_watermark = 100
    return replica


def retain(*, leads: bool) -> dict[TopicPartition, int]:
    """Where the two logs begin after a round; all holds together may keep 12 MB."""
    replicas = {
        OLD: replica_of(OLD, 1, leads=leads),
        OTHER: replica_of(OTHER, 1_000, leads=leads),
    }
    settings = {"node.id": 1, "log.dirs": "data", "link.retention.hold.max.bytes": 12 * MB}
    hosted = SimpleNamespace(all=replicas)
    maintenance = LogMaintenance(from_settings(settings), hosted, None, Timers())  # type: ignore[arg-type]
    maintenance.retain({OLD: (HELD_BY_NOBODY_ELSE,), OTHER: (HELD_BY_NOBODY_ELSE,)}, NOW)
    assert maintenance.held_bytes == {
        partition: (10 * MB if not leads else 10 * MB - replica.log.log_start_offset // 10 * MB)
        for partition, replica in replicas.items()
        if replica.log is not None
    }
    return {
        partition: replica.log.log_start_offset
        for partition, replica in replicas.items()
        if replica.log is not None
    }


def test_a_leader_gives_up_the_oldest_of_what_is_held_beyond_the_bound_of_all() -> None:
    assert retain(leads=True) == {OLD: 80, OTHER: 0}


def test_a_follower_deletes_nothing_that_is_held() -> None:
    """It does not know what mirrors have, so it counted more than its leader, and gave up what the leader kept."""
    assert retain(leads=False) == {OLD: 0, OTHER: 0}
