"""Elections that an operator or the clock asks for."""

import random

import pytest

from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import (
    BalanceLeaders,
    ElectionType,
    ElectLeaders,
    PartitionOutcome,
)
from brokers.metadata.controller.controller import Controller
from brokers.metadata.replicas.leader_elections import BALANCED_MAX
from tests.unit.brokers.metadata.images import Region
from tests.unit.brokers.metadata.replicas.test_alter_partition import propose

T = TopicPartition("t", 0)
PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


def region_led_by_the_second() -> Region:
    region = Region(brokers=3)
    region.topic("t", (1, 2, 3))
    region.topic("u", (3, 2))
    region.fence(1)
    region.beat(1)
    assert region.partition("t").leader == 2
    return region


def elect(region: Region, kind: ElectionType, *names: TopicPartition) -> list[PartitionOutcome]:
    return list(region.do(ElectLeaders(kind, names or None)))  # type: ignore[call-overload, no-any-return]


def test_the_preferred_replica_leads_again_once_it_is_in_sync() -> None:
    region = region_led_by_the_second()
    (early,) = elect(region, PREFERRED, T)
    assert early.error is KafkaError.PREFERRED_LEADER_NOT_AVAILABLE and early.because
    propose(region, 2, 3, 1, sender=2)
    assert elect(region, PREFERRED, T) == [PartitionOutcome(T)]
    assert (region.partition("t").leader, region.partition("t").leader_epoch) == (1, 2)
    (again,) = elect(region, PREFERRED, T)
    assert again.error is KafkaError.ELECTION_NOT_NEEDED


def test_without_a_list_only_those_who_are_elsewhere_are_answered() -> None:
    region = region_led_by_the_second()
    propose(region, 2, 3, 1, sender=2)
    assert elect(region, PREFERRED) == [PartitionOutcome(T)]
    assert elect(region, PREFERRED) == []


def test_unclean_elections_are_for_partitions_that_nobody_can_lead_otherwise() -> None:
    region = region_led_by_the_second()
    (needless,) = elect(region, UNCLEAN, T)
    assert needless.error is KafkaError.ELECTION_NOT_NEEDED
    region.fence(3, 2)
    assert region.partition("t").leader == -1
    assert elect(region, UNCLEAN, T) == [PartitionOutcome(T)]
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.recovery_state) == (1, (1,), 1)
    (nobody,) = elect(region, UNCLEAN, TopicPartition("u", 0))
    assert nobody.error is KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE


@pytest.mark.parametrize("name", [TopicPartition("t", 1), TopicPartition("nope", 0)])
def test_what_does_not_exist_elects_nobody(name: TopicPartition) -> None:
    (outcome,) = elect(region_led_by_the_second(), PREFERRED, name)
    assert outcome.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def test_the_clock_brings_leaders_back() -> None:
    region = region_led_by_the_second()
    region.controller.activate(region.image, 0)
    assert BalanceLeaders() not in region.controller.on_time(region.image, 299_999)
    assert BalanceLeaders() in region.controller.on_time(region.image, 300_000)
    assert region.do(BalanceLeaders()) == 0 and region.partition("t").leader == 2
    propose(region, 2, 3, 1, sender=2)
    region.do(BalanceLeaders())
    assert region.partition("t").leader == 1
    assert BalanceLeaders() not in region.controller.on_time(region.image, 599_999)
    assert BalanceLeaders() in region.controller.on_time(region.image, 600_000)
    region.controller.deactivate()
    assert region.controller.deadline is None


def test_leaders_are_moved_in_portions() -> None:
    region = Region(brokers=2)
    region.topic("t", *[(1, 2)] * (BALANCED_MAX + 5))
    region.controller.activate(region.image, 0)
    region.fence(1)
    region.beat(1)
    topic = region.image.topics_by_name["t"]
    for index in range(len(topic.partitions)):
        propose(region, 2, 1, sender=2, index=index)
    assert region.do(BalanceLeaders()) == 5
    assert BalanceLeaders() in region.controller.on_time(region.image, region.now)
    assert region.do(BalanceLeaders()) == 0
    assert all(p.leader == 1 for p in region.image.topics_by_name["t"].partitions)


def test_balancing_can_be_switched_off() -> None:
    config = from_settings(
        {"node.id": 1, "log.dirs": "data", "auto.leader.rebalance.enable": False}
    )
    controller = Controller(config, random.Random(1))
    controller.activate(Region().image, 0)
    assert controller.deadline is None
