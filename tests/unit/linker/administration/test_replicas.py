"""The replicas that a node tells of: those of partitions that it leads."""

from brokers.ids import TopicPartition
from linker.administration.replicas import replicas
from tests.unit.brokers.api.whole import Whole


def test_a_node_tells_of_what_it_leads_and_knows() -> None:
    node = Whole()
    node.create("t", 2)
    node.create("u")
    view = node.broker.view
    found = replicas(view, ("u", "t", "none"), node.now).replicas
    assert [partition for partition, _ in found] == [
        TopicPartition("u", 0), TopicPartition("t", 0), TopicPartition("t", 1)
    ]  # fmt: skip
    assert all(standing.is_leader and standing.is_eligible for _, standing in found)


def test_what_another_leads_is_for_the_other_to_tell() -> None:
    node = Whole()
    node.create("t", 2)
    image = node.broker.view.image
    topic = image.topics_by_name["t"]
    first = topic.partitions[0]._replace(leader=2)
    elsewhere = topic.__class__(topic.name, topic.id, (first, topic.partitions[1]))
    image.topics_by_name["t"] = elsewhere
    found = replicas(node.broker.view, ("t",), node.now).replicas
    assert [partition for partition, _ in found] == [TopicPartition("t", 1)]
