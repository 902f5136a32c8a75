"""The replicas that a node tells of: those of partitions that it leads."""

from dataclasses import replace
from random import Random

from brokers.ids import TopicPartition
from linker.administration.administration import Administration
from linker.answers import Answer, DescribedRegion, Replicas
from linker.commands import DescribeRegion, DescribeReplicas
from linker.errors import LinkRefusal
from linker.region_client import Effects, RegionClient
from tests.unit.brokers.api.whole import Whole


class Asked:
    """An administration whose timers are run by hand; `slices` counts the steps until it had answered."""

    def __init__(self, node: Whole) -> None:
        self.region = RegionClient(node.broker.view, Random(1))
        self.administration = Administration(self.region, None)  # type: ignore[arg-type]
        self.now = node.now
        self.slices = 0
        self.answers: list[Answer | LinkRefusal] = []

    def ask(self, command: DescribeReplicas | DescribeRegion) -> Answer | LinkRefusal:
        effects = self.administration.ask(command, self._respond, self.now)
        self.slices = 1
        while self.region.timers.deadline is not None:
            assert effects == [] == self.answers
            assert self.region.timers.deadline == self.now, "it goes on at once"
            (act,) = self.region.timers.due(self.now)
            effects = act(self.now)
            self.slices += 1
        (answer,) = self.answers
        self.answers = []
        return answer

    def _respond(self, answer: Answer | LinkRefusal, now: int) -> Effects:
        self.answers.append(answer)
        return []


def replicas(node: Whole, topics: tuple[str, ...]) -> Replicas:
    answer = Asked(node).ask(DescribeReplicas(topics))
    assert isinstance(answer, Replicas)
    return answer


def test_a_node_tells_of_what_it_leads_and_knows() -> None:
    node = Whole()
    node.create("t", 2)
    node.create("u")
    found = replicas(node, ("u", "t", "none")).replicas
    assert [partition for partition, _ in found] == [
        TopicPartition("u", 0), TopicPartition("t", 0), TopicPartition("t", 1)
    ]  # fmt: skip
    assert replicas(node, ("u", "t")).links == {}
    assert all(standing.is_leader and standing.is_eligible for _, standing in found)


def test_a_mirror_is_told_with_the_link_that_writes_it() -> None:
    node = Whole()
    node.create("t")
    node.create("u")
    topics = node.broker.view.image.topics_by_name
    topics["t"] = replace(topics["t"], writer="west-east")
    assert replicas(node, ("u", "t")).links == {"t": "west-east"}


def test_what_another_leads_is_for_the_other_to_tell() -> None:
    node = Whole()
    node.create("t", 2)
    image = node.broker.view.image
    topic = image.topics_by_name["t"]
    first = topic.partitions[0]._replace(leader=2)
    elsewhere = topic.__class__(topic.name, topic.id, (first, topic.partitions[1]))
    image.topics_by_name["t"] = elsewhere
    found = replicas(node, ("t",)).replicas
    assert [partition for partition, _ in found] == [TopicPartition("t", 1)]


def test_a_topic_that_is_named_often_is_described_once() -> None:
    """A request with 100,000 times one topic stopped the node for 2.6 s."""
    node = Whole()
    node.create("t", 2)
    asked = Asked(node)
    answer = asked.ask(DescribeReplicas(("t",) * 100_000))
    assert isinstance(answer, Replicas)
    assert len(answer.replicas) == 2
    assert asked.slices == 1


def test_many_partitions_are_described_in_slices() -> None:
    node = Whole()
    node.create("t", 300)
    asked = Asked(node)
    answer = asked.ask(DescribeReplicas(("t", "none")))
    assert isinstance(answer, Replicas)
    assert len(answer.replicas) == 300
    assert asked.slices == 7
    for name in range(100):
        node.create(f"u{name}")
    facts = asked.ask(DescribeRegion())
    assert isinstance(facts, DescribedRegion)
    assert len(facts.topics) == 101
    assert asked.slices == 3
