"""What can be asked of an image."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import TopicPartition
from brokers.metadata.commands.topic_commands import CreateTopics, DeleteTopics, NewTopic
from brokers.metadata.image.image import (
    Image,
    ImageDelta,
    TopicImage,
    first_producer_id,
    metric_name,
)
from tests.unit.brokers.metadata.images import Region


def test_a_partition_is_found_only_where_it_exists() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t", partition_count=2),)))
    found = region.image.partition(TopicPartition("t", 1))
    assert found is not None and found.leader == 1
    for partition in (TopicPartition("t", 2), TopicPartition("t", -1), TopicPartition("u", 0)):
        assert region.image.partition(partition) is None


def test_a_copy_changes_apart() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t", configs={"retention.ms": "1"}),)))
    copy = region.image.copy()
    assert vars(copy) == vars(region.image)
    region.do(DeleteTopics(("t",)))
    assert "t" in copy.topics_by_name and (2, "t") in copy.configs
    assert vars(copy) != vars(region.image)


def test_everything_is_a_delta_from_nothing() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t"), NewTopic(name="u"))))
    assert region.image.everything() == ImageDelta(topics_created=("t", "u"), brokers_changed=(1,))


def test_a_topic_knows_its_partitions_and_whether_it_is_internal() -> None:
    topic = TopicImage("__consumer_offsets", Region().image.brokers[1].incarnation)
    assert topic.is_internal and topic.each() == []
    assert metric_name("a.b_c") == "a_b_c"


@given(st.text(max_size=30))
def test_a_regions_first_producer_id_is_its_own_for_ever(cluster_id: str) -> None:
    assert Image(cluster_id).next_producer_id == first_producer_id(cluster_id)
    assert 0 <= first_producer_id(cluster_id) < 2**63
