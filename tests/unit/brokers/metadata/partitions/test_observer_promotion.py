"""Observers join while the in-sync set misses members, and leave when these are back, by each policy."""

import json

import pytest

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.commands.replica_commands import ElectionType, ElectLeaders
from tests.unit.brokers.metadata.images import Region
from tests.unit.brokers.metadata.replicas.test_alter_partition import propose

RACKS = {1: "west", 2: "west", 3: "east", 4: "east"}


def placement(policy: str) -> str:
    return json.dumps(
        {
            "version": 2,
            "replicas": [{"count": 2, "constraints": {"rack": "west"}}],
            "observers": [{"count": 2, "constraints": {"rack": "east"}}],
            "observerPromotionPolicy": policy,
        }
    )


def region_with(policy: str, min_isr: str = "2") -> Region:
    """Replicas 1 and 2, observers 3 and 4."""
    region = Region(brokers=0)
    for broker_id, rack in RACKS.items():
        region.register(broker_id, rack=rack)
    settings = {"confluent_placement_constraints": placement(policy)}
    region.topic("t", (1, 2, 3, 4), min_insync_replicas=min_isr, **settings)
    return region


def roles(region: Region) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """(leader, in sync, observers, promoted)"""
    now = region.partition("t")
    return now.leader, now.isr, now.observers, now.promoted


def elect(region: Region, kind: ElectionType) -> KafkaError:
    (outcome,) = region.do(ElectLeaders(kind, (TopicPartition("t", 0),)))  # type: ignore[misc]
    assert isinstance(outcome.error, KafkaError)
    return outcome.error


def test_observers_are_not_in_sync_and_may_not_be() -> None:
    region = region_with("under-min-isr")
    assert roles(region) == (1, (1, 2), (3, 4), ())
    assert propose(region, 1, 2, 3).error is KafkaError.INELIGIBLE_REPLICA


def test_under_its_minimum_observers_join_until_it_is_reached() -> None:
    region = region_with("under-min-isr")
    region.fence(2)
    assert roles(region) == (1, (1,), (), (3, 4)), "the leader knows which of them is close"
    assert propose(region, 1, 4).isr == (1, 4)
    assert roles(region) == (1, (1, 4), (3,), (4,)), "one was missing"
    region.beat(2)
    answer = propose(region, 1, 4, 2)
    assert answer.isr == (1, 2), "the answer tells the leader who is in sync after all"
    assert roles(region) == (1, (1, 2), (3, 4), ())


def test_a_minimum_of_one_promotes_nobody_while_anyone_is_left() -> None:
    region = region_with("under-min-isr", min_isr="1")
    region.fence(2)
    assert roles(region) == (1, (1,), (3, 4), ())


def test_under_replicated_every_missing_replica_has_its_observer() -> None:
    region = region_with("under-replicated", min_isr="1")
    propose(region, 1)
    assert roles(region) == (1, (1,), (), (3, 4))
    propose(region, 1, 3)
    assert roles(region) == (1, (1, 3), (4,), (3,))
    propose(region, 1, 3, 2)
    assert roles(region) == (1, (1, 2), (3, 4), ())


def test_a_promoted_observer_leads_only_if_nobody_else_can_and_gives_it_back() -> None:
    region = region_with("under-min-isr")
    region.fence(2)
    propose(region, 1, 3)
    region.fence(1)
    assert roles(region)[:2] == (3, (3,))
    region.beat(1)
    region.beat(2)
    assert propose(region, 3, 1, sender=3).leader == 3, "one is not enough"
    assert propose(region, 3, 1, 2, sender=3).error is KafkaError.NEW_LEADER_ELECTED
    assert roles(region) == (1, (1, 2), (3, 4), ())


def test_an_observer_leads_by_an_operators_hand_and_others_join_it() -> None:
    region = region_with("leader-is-observer")
    region.fence(2)
    assert roles(region) == (1, (1,), (3, 4), ())
    region.fence(1)
    assert roles(region)[0] == -1, "nobody of them is eligible"
    assert elect(region, ElectionType.UNCLEAN) is KafkaError.NONE
    assert roles(region) == (3, (3,), (), (3, 4))
    assert region.partition("t").recovery_state == 1
    assert propose(region, 3, 4, sender=3).isr == (3, 4)
    region.beat(1)
    region.beat(2)
    assert propose(region, 3, 4, 1, 2, sender=3).isr == (3, 4, 1, 2)
    assert roles(region)[0] == 3, "until an operator says so"
    assert elect(region, ElectionType.PREFERRED) is KafkaError.NONE
    assert roles(region) == (1, (1, 2), (3, 4), ())


def test_nobody_is_sent_back_while_too_few_would_be_left() -> None:
    region = region_with("leader-is-observer")
    region.fence(2)
    region.fence(1)
    elect(region, ElectionType.UNCLEAN)
    propose(region, 3, 4, sender=3)
    region.beat(1)
    propose(region, 3, 4, 1, sender=3)
    assert elect(region, ElectionType.PREFERRED) is KafkaError.NONE
    assert roles(region) == (1, (3, 4, 1), (), (3, 4)), "two must be in sync"
    region.beat(2)
    propose(region, 1, 2, 3, 4)
    assert roles(region) == (1, (1, 2), (3, 4), ())


@pytest.mark.parametrize(("value", "promoted"), [("under-replicated", (3, 4)), (None, ())])
def test_another_policy_is_in_force_at_once(value: str | None, promoted: tuple[int, ...]) -> None:
    region = region_with("under-min-isr", min_isr="1")
    region.fence(2)
    change = (ConfigOperation.SET, placement(value)) if value else (ConfigOperation.DELETE, None)
    region.do(AlterConfigs((ConfigChange((2, "t"), {"confluent.placement.constraints": change}),)))
    assert region.partition("t").promoted == promoted
    assert region.partition("t").all_observers == (3, 4), "roles change with a reassignment"
