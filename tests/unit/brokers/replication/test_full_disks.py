"""A follower whose disk is nearly full copies no records, and hears of its leader's offsets all the same."""

from brokers.ids import TopicPartition
from tests.unit.brokers.replication.hosting import TOPIC, listed
from tests.unit.brokers.replication.test_replica_fetcher import answer, copied, following, part


def test_a_disk_that_is_nearly_full_takes_no_records_and_its_partition_waits() -> None:
    node = following(partitions=2)
    node.full.add(TopicPartition(TOPIC, 1))
    answer(node, node.asks[0], part(0, copied(0)), part(1, copied(0)))
    assert [node.replica(index).log.log_end_offset for index in (0, 1)] == [1, 0]
    assert node.asks[1].message.forgotten_topics_data[0].partitions == [1]
    node.wait(1_000)
    answer(node, node.asks[1], part(0))
    looks = listed(node.asks[-1])[1]
    assert (looks.fetch_offset, looks.partition_max_bytes) == (0, 1)
    answer(node, node.asks[-1], part(1, copied(0)))
    assert node.replica(1).log.log_end_offset == 0
    node.full.clear()
    node.wait(1_000)
    answer(node, node.asks[-1], part(0))
    answer(node, node.asks[-1], part(1, copied(0)))
    assert node.replica(1).log.log_end_offset == 1


def test_the_partitions_of_a_disk_that_is_nearly_full_wait_together() -> None:
    """One by one each would take a request of its own: a response brings one batch at least, of one partition."""
    node = following(partitions=3)
    answer(node, node.asks[0], part(0), part(1), part(2, copied(0, 5), high_watermark=5))
    answer(node, node.asks[1], part(2, high_watermark=5))
    node.full |= {TopicPartition(TOPIC, index) for index in (1, 2)}
    answer(node, node.asks[2], part(1, copied(0)), part(2, high_watermark=5, log_start_offset=3))
    assert node.replica(2).log.log_start_offset == 3, "all of the response counts"
    assert sorted(node.asks[3].message.forgotten_topics_data[0].partitions) == [1, 2]
    node.wait(1_000)
    answer(node, node.asks[3], part(0))
    assert set(listed(node.asks[-1])) == {1, 2}


def test_a_disk_that_is_nearly_full_follows_its_leaders_log_start_which_frees_space() -> None:
    node = following(partitions=1)
    answer(node, node.asks[0], part(0, copied(0, 5), high_watermark=5))
    node.full.add(TopicPartition(TOPIC, 0))
    answer(node, node.asks[1], part(0, copied(5), high_watermark=5, log_start_offset=3))
    log = node.replica(0).log
    assert (log.log_start_offset, log.log_end_offset) == (3, 5)
