"""Replicas that move: what is added, what goes when, and what is refused."""

import json

import pytest

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import (
    AlterPartitionReassignments,
    PartitionOutcome,
    Reassignment,
)
from brokers.metadata.image.image import PartitionImage
from tests.unit.brokers.metadata.images import Region
from tests.unit.brokers.metadata.replicas.test_alter_partition import propose

T = TopicPartition("t", 0)


def region_of(count: int = 5, replicas: tuple[int, ...] = (1, 2, 3)) -> Region:
    region = Region(brokers=count)
    region.topic("t", replicas, min_insync_replicas="2")
    return region


def move(region: Region, *replicas: int, **more: bool) -> PartitionOutcome:
    (outcome,) = region.do(  # type: ignore[misc]
        AlterPartitionReassignments((Reassignment(T, replicas),), **more)
    )
    assert isinstance(outcome, PartitionOutcome)
    return outcome


def cancel(region: Region) -> PartitionOutcome:
    (outcome,) = region.do(AlterPartitionReassignments((Reassignment(T, None),)))  # type: ignore[misc]
    assert isinstance(outcome, PartitionOutcome)
    return outcome


def shape(partition: PartitionImage) -> tuple[tuple[int, ...], ...]:
    return partition.replicas, partition.isr, partition.adding, partition.removing


def test_new_replicas_copy_first_and_old_ones_go_when_they_are_in_sync() -> None:
    region = region_of()
    assert move(region, 4, 5, 1) == PartitionOutcome(T)
    assert shape(region.partition("t")) == ((4, 5, 1, 2, 3), (1, 2, 3), (4, 5), (2, 3))
    propose(region, 1, 2, 3, 4)
    assert region.partition("t").is_reassigning
    propose(region, 1, 2, 3, 4, 5)
    partition = region.partition("t")
    assert shape(partition) == ((4, 5, 1), (1, 4, 5), (), ())
    assert partition.leader == 1 and partition.leader_epoch == 1, "others must hear who is gone"
    assert len(partition.directories) == 3


def test_fewer_replicas_need_no_copying_but_enough_in_sync() -> None:
    region = region_of()
    move(region, 1, 2)
    assert shape(region.partition("t")) == ((1, 2), (1, 2), (), ())
    region = region_of()
    propose(region, 1, 3)
    move(region, 1, 2)
    assert region.partition("t").removing == (3,), "else one would be in sync, and two must be"
    propose(region, 1, 2, 3)
    assert shape(region.partition("t")) == ((1, 2), (1, 2), (), ())


def test_another_order_is_another_preferred_leader_and_nothing_else() -> None:
    region = region_of()
    move(region, 3, 2, 1)
    partition = region.partition("t")
    assert shape(partition) == ((3, 2, 1), (1, 2, 3), (), ()) and partition.leader == 1
    assert partition.leader_epoch == 0


def test_a_move_can_be_called_off() -> None:
    region = region_of()
    move(region, 4, 5, 1)
    propose(region, 1, 2, 3, 4)
    assert cancel(region) == PartitionOutcome(T)
    assert shape(region.partition("t")) == ((1, 2, 3), (1, 2, 3), (), ())
    assert cancel(region).error is KafkaError.NO_REASSIGNMENT_IN_PROGRESS


def test_a_leader_that_was_added_hands_over_when_its_move_is_called_off() -> None:
    region = region_of()
    move(region, 4, 5, 1)
    propose(region, 1, 2, 4)
    region.fence(1)
    region.fence(2)
    assert region.partition("t").leader == 4
    assert cancel(region).error is KafkaError.NONE, "2 is eligible"
    assert region.partition("t").leader == -1 and region.partition("t").elr == (2,)
    region.beat(2)
    assert region.partition("t").leader == 2


def test_what_only_the_new_replicas_hold_is_not_thrown_away() -> None:
    region = Region(brokers=4)
    region.topic("t", (1, 2))
    move(region, 3, 4)
    propose(region, 1, 3)
    region.fence(1)
    propose(region, 3, sender=3)
    refused = cancel(region)
    assert refused.error is KafkaError.INVALID_REPLICA_ASSIGNMENT
    assert "would lose records" in (refused.because or "")
    assert region.partition("t").is_reassigning and region.partition("t").leader == 3


def test_a_move_can_be_replaced_by_another() -> None:
    region = region_of(6)
    move(region, 4, 5, 1)
    propose(region, 1, 2, 3, 4)
    move(region, 1, 2, 6)
    assert shape(region.partition("t")) == ((1, 2, 6, 4, 3), (1, 2, 3, 4), (6,), (4, 3))
    propose(region, 1, 2, 3, 4, 6)
    assert shape(region.partition("t")) == ((1, 2, 6), (1, 2, 6), (), ())


@pytest.mark.parametrize(
    ("replicas", "error", "says"),
    [
        ((), KafkaError.INVALID_REPLICA_ASSIGNMENT, "none"),
        ((1, 1), KafkaError.INVALID_REPLICA_ASSIGNMENT, "twice"),
        ((1, 9), KafkaError.INVALID_REPLICA_ASSIGNMENT, "broker 9 is not registered"),
        ((1, -1), KafkaError.INVALID_REPLICA_ASSIGNMENT, "broker -1"),
        ((1, 5), KafkaError.INVALID_REPLICA_ASSIGNMENT, "broker 5 is fenced"),
        ((1, 2), KafkaError.INVALID_REPLICATION_FACTOR, "has 3 replicas"),
    ],
)
def test_each_flaw_has_its_error(replicas: tuple[int, ...], error: KafkaError, says: str) -> None:
    region = region_of()
    region.fence(5)
    before = region.partition("t")
    outcome = move(region, *replicas, may_change_factor=replicas != (1, 2))
    assert outcome.error is error and says in (outcome.because or "")
    assert region.partition("t") == before


def test_a_factor_that_may_not_change_is_that_of_the_move_under_way() -> None:
    region = region_of(5, (1, 2))
    move(region, 1, 2, 3)
    fewer = move(region, 1, 4, may_change_factor=False)
    assert fewer.error is KafkaError.INVALID_REPLICATION_FACTOR
    assert "has 3 replicas" in (fewer.because or "")
    assert move(region, 1, 2, 4, may_change_factor=False) == PartitionOutcome(T)


def test_a_fenced_broker_that_holds_a_replica_may_stay() -> None:
    region = region_of()
    region.fence(3)
    assert move(region, 3, 1, 4).error is KafkaError.NONE


def test_unknown_partitions_and_repeated_ones_are_refused() -> None:
    region = region_of()
    unknown, nowhere = TopicPartition("t", 3), TopicPartition("nope", 0)
    first, second, third = region.do(  # type: ignore[misc]
        AlterPartitionReassignments(
            (
                Reassignment(unknown, (1,)),
                Reassignment(nowhere, (1,)),
                Reassignment(T, (1,)),
                Reassignment(T, (2,)),
            )
        )
    )
    assert first.error is second.error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert third.error is KafkaError.INVALID_REQUEST


PLACEMENT = json.dumps(
    {
        "version": 2,
        "replicas": [{"count": 2, "constraints": {"rack": "a"}}],
        "observers": [{"count": 1, "constraints": {"rack": "b"}}],
    }
)


def region_with_observer() -> Region:
    region = Region(brokers=0)
    for broker_id, rack in {1: "a", 2: "a", 3: "b", 4: "b", 5: "a"}.items():
        region.register(broker_id, rack=rack)
    region.topic("t", (1, 2, 3), confluent_placement_constraints=PLACEMENT)
    return region


def test_observers_move_without_being_waited_for() -> None:
    region = region_with_observer()
    move(region, 1, 2, 4)
    partition = region.partition("t")
    assert (partition.replicas, partition.observers, partition.isr) == ((1, 2, 4), (4,), (1, 2))
    move(region, 1, 5, 4)
    assert region.partition("t").adding == (5,), "a replica is"
    propose(region, 1, 2, 5)
    assert region.partition("t").replicas == (1, 5, 4) and region.partition("t").observers == (4,)


def test_a_move_keeps_to_the_placement() -> None:
    region = region_with_observer()
    for replicas in ((1, 3, 2), (1, 2), (1, 2, 5), (1, 2, 3, 4)):
        outcome = move(region, *replicas)
        assert outcome.error is KafkaError.INVALID_REPLICA_ASSIGNMENT
        assert "placement" in (outcome.because or "")
