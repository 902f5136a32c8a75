"""How far replicas are behind, told by who leads and by who follows."""

from brokers.ids import TopicPartition
from tests.unit.brokers.partition.replicas import batch
from tests.unit.brokers.telemetry.counted import Counted
from tests.unit.brokers.telemetry.test_traffic import follow, put

CAUGHT_UP = "kafka_cluster_partition_caughtupreplicascount"
MAX_LAG = "kafka_server_replicafetchermanager_maxlag"


def test_who_leads_tells_how_many_have_all() -> None:
    node = Counted()
    node.create("t", 2)
    put(node, batch(3))
    follow(node, broker=2)
    node.now += 60_000
    first = {"topic": "t", "partition": "0"}
    assert node.value(CAUGHT_UP, **first) == 1
    assert node.value(CAUGHT_UP, topic="t", partition="1") is None  # it is led alone
    leadership = node.broker.parts.partitions.all[TopicPartition("t", 0)].leadership
    assert leadership is not None
    leadership.isr_state.followers[2].log_end_offset = 3
    assert node.value(CAUGHT_UP, **first) == 2


def test_who_follows_tells_how_far_it_is_behind_at_most() -> None:
    node = Counted()
    node.create("t", 2)
    put(node, batch(3), batch(1))
    assert node.value(MAX_LAG, clientId="Replica") == 0
    parts = node.broker.parts
    for index, committed in enumerate((10, 4)):
        partition = TopicPartition("t", index)
        placed = parts.raft.image.partition(partition)
        assert placed is not None
        elsewhere = placed._replace(leader=2, leader_epoch=9, replicas=(1, 2))
        replica = parts.partitions.all[partition]
        parts.replication.apply_partition(replica, elsewhere, None, node.now)
        replica.leader_high_watermark = committed
    assert node.value(MAX_LAG, clientId="Replica") == 7
