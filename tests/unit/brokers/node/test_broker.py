"""What a broker tells those who watch it."""

import pytest

from brokers.effects import Effect, KeepProducers
from brokers.events import SegmentSealed, Written
from brokers.ids import METADATA_PARTITION, TopicPartition
from brokers.log.snapshots import decode_snapshot
from brokers.partition import leader
from brokers.records.builder import NewRecord, build_batch
from brokers.region import PartitionAdvanced, WatchRegion
from tests.unit.brokers.api.whole import NOW, Whole

PARTITION = TopicPartition("orders", 0)


@pytest.mark.parametrize(
    ("watched", "told"),
    [
        ([], []),
        ([WatchRegion(logs=False)], []),
        ([WatchRegion(logs=True)], [PartitionAdvanced(PARTITION)]),
        ([WatchRegion(logs=True), WatchRegion(logs=False)], []),
    ],
)
def test_a_write_that_is_committed_is_told_only_while_the_logs_are_watched(
    watched: list[WatchRegion], told: list[PartitionAdvanced]
) -> None:
    whole = Whole()
    whole.create("orders")
    for watch in watched:
        assert whole.broker.step(watch, NOW) == []
    append(whole)
    assert whole.broker.step(Written(PARTITION, 0), NOW) == []
    assert whole.broker.step(Written(PARTITION, 1), NOW) == told
    assert whole.broker.step(Written(PARTITION, 1), NOW) == []


def test_what_a_follower_holds_is_not_told() -> None:
    whole = Whole()
    whole.create("orders")
    whole.broker.step(WatchRegion(logs=True), NOW)
    append(whole)
    replica = whole.broker.parts.partitions.all[PARTITION]
    replica.follows, replica.leader_high_watermark = True, 1
    assert whole.broker.step(Written(PARTITION, 1), NOW) == []
    assert replica.high_watermark == 1


def append(whole: Whole) -> list[Effect]:
    """A record; it is not written yet."""
    batch = build_batch([NewRecord(None, b"")], timestamp=NOW)
    replica = whole.broker.parts.partitions.all[PARTITION]
    return [*leader.append(replica, batch, 1, NOW).effects]


def produce(whole: Whole) -> None:
    replica = whole.broker.parts.partitions.all[PARTITION]
    batch = build_batch([NewRecord(None, bytes(600_000))], timestamp=NOW)
    whole.process.take(leader.append(replica, batch, 1, NOW).effects)


def test_a_sealed_segment_is_known_to_its_log_alone() -> None:
    whole = Whole()
    whole.create("orders", segment_bytes="1048576")
    log = whole.broker.parts.partitions.all[PARTITION].log
    assert log is not None
    while len(log.segments) < 3:
        produce(whole)
    first = log.segments[0]
    for partition in (PARTITION, TopicPartition("unknown", 0), METADATA_PARTITION):
        event = SegmentSealed(partition, first.base_offset, 0, first.size, b"digest")
        assert whole.broker.step(event, NOW) == []
    assert [segment.is_sealed for segment in log.segments] == [True, False, False]


def test_a_clean_stop_keeps_the_producers_of_every_log() -> None:
    whole = Whole()
    whole.create("orders", 2)
    produce(whole)
    kept = [effect for effect in whole.broker.stop() if isinstance(effect, KeepProducers)]
    ends = {each.partition: each.next_offset for each in kept}
    assert ends[PARTITION] == 1 and ends[TopicPartition("orders", 1)] == 0
    assert ends[METADATA_PARTITION] == whole.broker.parts.raft.log_end_offset
    assert all(decode_snapshot(each.snapshot) is not None for each in kept)
