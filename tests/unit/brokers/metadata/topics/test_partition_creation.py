"""What CreatePartitions takes and refuses."""

import pytest

from brokers.errors import KafkaError
from brokers.metadata.commands.mirror_commands import (
    ELECTION_BITS,
    CreateMirrorTopic,
    RaiseLeaderEpochs,
)
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    NewPartitions,
    NewTopic,
)
from tests.unit.brokers.metadata.images import Region


def region_with_t(partitions: int = 2) -> Region:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t", partition_count=partitions),)))
    return region


@pytest.mark.parametrize(
    ("growth", "error"),
    [
        (NewPartitions(name="t", count=3), KafkaError.NONE),
        (NewPartitions(name="t", count=2), KafkaError.INVALID_PARTITIONS),
        (NewPartitions(name="t", count=1), KafkaError.INVALID_PARTITIONS),
        (NewPartitions(name="t", count=-1), KafkaError.INVALID_PARTITIONS),
        (NewPartitions(name="nope", count=3), KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        (NewPartitions(name="t", count=2**31 - 1), KafkaError.POLICY_VIOLATION),
        (NewPartitions(name="t", count=4, assignments=((1,), (1,))), KafkaError.NONE),
        (
            NewPartitions(name="t", count=4, assignments=((1,),)),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
        (NewPartitions(name="t", count=4, assignments=()), KafkaError.INVALID_REPLICA_ASSIGNMENT),
        (
            NewPartitions(name="t", count=3, assignments=((9,),)),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
        (
            NewPartitions(name="t", count=3, assignments=((),)),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
    ],
)
def test_each_flaw_has_its_error(growth: NewPartitions, error: KafkaError) -> None:
    region = region_with_t()
    (outcome,) = region.do(CreatePartitions((growth,)))  # type: ignore[misc]
    assert outcome.error is error
    grown = growth.count if error is KafkaError.NONE else 2
    assert len(region.image.topics_by_name["t"].partitions) == grown


def test_new_partitions_begin_fresh_and_old_ones_stay_as_they_are() -> None:
    region = region_with_t()
    region.register(1)
    before = region.image.topics_by_name["t"].partitions
    region.do(CreatePartitions((NewPartitions(name="t", count=4),)))
    after = region.image.topics_by_name["t"].partitions
    assert after[:2] == before and before[0].leader_epoch == 1
    assert [partition.leader_epoch for partition in after[2:]] == [0, 0]
    assert region.delta.topics_changed == ("t",)


def test_an_assignment_keeps_the_replication_factor() -> None:
    region = Region(brokers=2)
    region.do(CreateTopics((NewTopic(name="t", partition_count=1),)))
    growth = NewPartitions(name="t", count=2, assignments=((1, 2),))
    (outcome,) = region.do(CreatePartitions((growth,)))  # type: ignore[misc]
    assert outcome.error is KafkaError.INVALID_REPLICA_ASSIGNMENT


def test_partitions_of_which_one_cannot_begin_are_all_refused() -> None:
    region = Region(brokers=2)
    region.topic("t", (1,))
    region.fence(2)
    growth = NewPartitions(name="t", count=3, assignments=((1,), (2,)))
    (outcome,) = region.do(CreatePartitions((growth,)))  # type: ignore[misc]
    assert outcome.error is KafkaError.INVALID_REPLICA_ASSIGNMENT
    assert len(region.image.topics_by_name["t"].partitions) == 1


def test_a_name_given_twice_is_refused_and_validation_changes_nothing() -> None:
    region = region_with_t()
    twice = CreatePartitions((NewPartitions(name="t", count=3), NewPartitions(name="t", count=4)))
    (outcome,) = region.do(twice)  # type: ignore[misc]
    assert outcome.error is KafkaError.INVALID_REQUEST
    only = CreatePartitions((NewPartitions(name="t", count=3),), validate_only=True)
    (outcome,) = region.do(only)  # type: ignore[misc]
    assert outcome.error is KafkaError.NONE
    assert len(region.image.topics_by_name["t"].partitions) == 2


def test_a_mirror_grows_by_its_link_alone() -> None:
    region = Region()
    region.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    for writer, error in (
        (None, KafkaError.POLICY_VIOLATION),
        ("west", KafkaError.POLICY_VIOLATION),
        ("east", KafkaError.NONE),
    ):
        command = CreatePartitions((NewPartitions(name="m", count=2),), writer=writer)
        (outcome,) = region.do(command)  # type: ignore[misc]
        assert outcome.error is error


def test_partitions_of_a_topic_that_was_taken_over_begin_after_its_cut() -> None:
    """Else the region that had it before may have one of this number with the same leader epochs and other records."""
    region = region_with_t()
    epochs = {0: 2 << ELECTION_BITS, 1: (1 << ELECTION_BITS) + 7}
    region.do(RaiseLeaderEpochs(topic="t", leader_epochs=epochs))
    region.do(CreatePartitions((NewPartitions(name="t", count=4),)))
    added = region.image.topics_by_name["t"].partitions[2:]
    assert [each.leader_epoch for each in added] == [2 << ELECTION_BITS] * 2
