"""What a leader may propose about its in-sync set, and the errors of Kafka's for the rest, in Kafka's order."""

from typing import Any
from uuid import UUID

import pytest

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AlterPartitionReassignments,
    InSyncChange,
    InSyncMember,
    InSyncOutcome,
    Reassignment,
)
from tests.unit.brokers.metadata.images import Region


def region_of_four() -> Region:
    region = Region(brokers=4)
    region.topic("t", (1, 2, 3), min_insync_replicas="2")
    return region


def propose(
    region: Region, *members: int, sender: int = 1, name: str = "t", index: int = 0, **more: Any
) -> InSyncOutcome:
    was, topic = region.partition(name, index), region.image.topics_by_name[name]
    topic_id = more.pop("topic_id", topic.id)
    epochs = {each: broker.broker_epoch for each, broker in region.image.brokers.items()}
    told: dict[str, Any] = {
        "partition": index,
        "leader_epoch": was.leader_epoch,
        "partition_epoch": was.partition_epoch,
        "isr": tuple(InSyncMember(each, epochs.get(each, -1)) for each in members),
    }
    change = InSyncChange(**(told | more))
    (outcome,) = region.do(  # type: ignore[misc]
        AlterPartition(sender, epochs[sender], ((topic_id, (change,)),))
    )
    assert isinstance(outcome, InSyncOutcome)
    return outcome


def test_members_leave_and_join_and_each_change_raises_the_partition_epoch_alone() -> None:
    region = region_of_four()
    shrunk = propose(region, 1, 2)
    assert (shrunk.isr, shrunk.partition_epoch, shrunk.leader_epoch) == ((1, 2), 1, 0)
    small = propose(region, 1)
    assert small.isr == (1,) and region.partition("t").elr == (2,)
    grown = propose(region, 1, 2, 3)
    assert (grown.error, grown.isr, grown.partition_epoch) == (KafkaError.NONE, (1, 2, 3), 3)
    assert region.partition("t").elr == ()
    assert region.delta.partitions_changed == (TopicPartition("t", 0),)


def test_what_is_so_already_changes_nothing() -> None:
    region = region_of_four()
    same = propose(region, 1, 2, 3)
    assert (same.error, same.partition_epoch) == (KafkaError.NONE, 0)


@pytest.mark.parametrize(
    ("members", "more", "error"),
    [
        ((1,), {"topic_id": UUID(int=7)}, KafkaError.UNKNOWN_TOPIC_ID),
        ((1,), {"partition": 5}, KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ((1,), {"partition": -1}, KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ((1,), {"leader_epoch": 9}, KafkaError.NOT_CONTROLLER),
        ((1,), {"partition_epoch": 9}, KafkaError.NOT_CONTROLLER),
        ((1,), {"leader_epoch": 9, "partition_epoch": 0}, KafkaError.NOT_CONTROLLER),
        ((1,), {"leader_epoch": 0}, KafkaError.FENCED_LEADER_EPOCH),
        ((2, 1), {"sender": 2, "partition_epoch": 1}, KafkaError.INVALID_REQUEST),
        ((1, 2), {"partition_epoch": 1}, KafkaError.INVALID_UPDATE_VERSION),
        ((1, 4), {}, KafkaError.INVALID_REQUEST),
        ((1, 1), {}, KafkaError.INVALID_REQUEST),
        ((2, 3), {}, KafkaError.INVALID_REQUEST),
        ((), {}, KafkaError.INVALID_REQUEST),
        ((1, 2), {"recovery_state": 1}, KafkaError.INVALID_REQUEST),
        ((1,), {"recovery_state": 1}, KafkaError.INVALID_REQUEST),
        ((1,), {"recovery_state": 7}, KafkaError.INVALID_REQUEST),
        ((1, 3), {}, KafkaError.INELIGIBLE_REPLICA),
    ],
)
def test_each_flaw_has_its_error(
    members: tuple[int, ...], more: dict[str, Any], error: KafkaError
) -> None:
    region = region_of_four()
    region.fence(3, 1)
    region.beat(1)
    propose(region, 2, 1, sender=2)
    region.fence(2)
    region.beat(2)
    before = region.partition("t")
    assert before.leader == 1 and before.leader_epoch == 2 and before.partition_epoch > 2
    assert propose(region, *members, **more).error is error
    assert region.partition("t") == before


def test_a_member_of_another_life_is_refused() -> None:
    """KIP-903: what copied was what the broker was before it came back, perhaps empty."""
    region = region_of_four()
    old = region.image.brokers[3].broker_epoch
    region.register(3)
    member = InSyncMember(3, old)
    refused = propose(region, isr=(InSyncMember(1, -1), member))
    assert refused.error is KafkaError.INELIGIBLE_REPLICA
    assert propose(region, isr=(InSyncMember(1, -1), InSyncMember(3, -1))).isr == (1, 3)


def test_a_leader_that_recovers_says_so_and_is_alone_until_then() -> None:
    region = Region(brokers=2)
    region.topic("t", (1, 2), unclean_leader_election_enable="true")
    region.fence(2)
    region.fence(1)
    region.beat(2)
    assert region.partition("t").recovery_state == 1
    region.beat(1)
    assert propose(region, 2, 1, sender=2, recovery_state=1).error is KafkaError.INVALID_REQUEST
    assert propose(region, 2, sender=2, recovery_state=1).recovery_state == 1
    assert propose(region, 2, 1, sender=2).recovery_state == 0


def test_a_proposal_that_completes_a_move_may_cost_the_leadership() -> None:
    region = region_of_four()
    region.do(AlterPartitionReassignments((Reassignment(TopicPartition("t", 0), (4, 3, 2)),)))
    outcome = propose(region, 1, 2, 3, 4)
    assert outcome.error is KafkaError.NEW_LEADER_ELECTED
    now = region.partition("t")
    assert (now.leader, now.isr, now.replicas) == (4, (2, 3, 4), (4, 3, 2))


def test_of_two_proposals_for_one_partition_the_second_is_late() -> None:
    region = region_of_four()
    topic = region.image.topics_by_name["t"]
    changes = tuple(
        InSyncChange(
            partition=0,
            leader_epoch=0,
            partition_epoch=0,
            isr=tuple(InSyncMember(each, -1) for each in members),
        )
        for members in ((1, 2), (1, 3))
    )
    command = AlterPartition(1, region.image.brokers[1].broker_epoch, ((topic.id, changes),))
    first, second = region.do(command)  # type: ignore[misc]
    assert (first.error, second.error) == (KafkaError.NONE, KafkaError.INVALID_UPDATE_VERSION)
    assert region.partition("t").isr == (1, 2)
