"""A replica with an open, empty log and no disk: what a partition's rules need."""

from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.partition.replica import Replica
from brokers.records.builder import NewRecord, build_batch

NOW = 1_700_000_000_000
PARTITION = TopicPartition("orders", 0)


def open_replica(
    *, writer: str | None = None, leader_epoch: int = 3, config: LogConfig | None = None
) -> Replica:
    replica = Replica(
        PARTITION,
        topic_id=bytes(16),
        leader_epoch=leader_epoch,
        writer=writer,
        config=config or LogConfig(),
    )
    log = Log(PARTITION, bytes(16), segments=[Segment(0)], log_start_offset=0, log_end_offset=0)
    replica.opened(log, NOW)
    return replica


def batch(count: int = 1, *, timestamp: int = NOW, **fields: int) -> bytearray:
    """A producer's batch of `count` records."""
    records = [NewRecord(key=b"k", value=b"v%d" % index) for index in range(count)]
    return build_batch(records, timestamp=timestamp, **fields)
