"""Where replicas lie, and who leads when a directory has failed (KIP-858)."""

from uuid import UUID

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.ids import LOST_DIRECTORY, UNASSIGNED_DIRECTORY
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    AssignReplicasToDirs,
    InSyncChange,
    InSyncMember,
)
from brokers.metadata.image.image import NO_LEADER
from tests.unit.brokers.metadata.images import Region

ONE, TWO = UUID(int=301), UUID(int=302)  # broker 1's


def region_of(count: int = 3, **settings: str) -> Region:
    """Broker 1 has two directories, the others one each. Partition 0 lies in the first of them, 1 in the second."""
    region = Region(brokers=count)
    region.register(1, directory=None, log_dirs=(ONE, TWO))
    others = tuple(range(2, count + 1))
    region.topic("t", (1, *others), (1, *others), **settings)
    assign(region, 0, ONE)
    assign(region, 1, TWO)
    return region


def assign(region: Region, index: int, directory: UUID, broker_id: int = 1) -> KafkaError:
    topic_id = region.image.topics_by_name["t"].id
    epoch = region.image.brokers[broker_id].broker_epoch
    command = AssignReplicasToDirs(broker_id, epoch, ((directory, topic_id, index),))
    (outcome,) = region.do(command)  # type: ignore[misc]
    assert (outcome.directory, outcome.partition) == (directory, index)
    error: KafkaError = outcome.error
    return error


def test_a_new_replica_is_unassigned_where_its_broker_has_a_choice() -> None:
    region = Region(brokers=2)
    region.register(1, directory=None, log_dirs=(ONE, TWO))
    region.topic("t", (1, 2))
    assert region.partition("t").directories == (UNASSIGNED_DIRECTORY, UUID(int=202))


def test_a_broker_says_where_its_replica_lies() -> None:
    region = region_of()
    was = region.partition("t")
    assert was.directory(1) == ONE and was.directory(2) == UUID(int=202)
    assert assign(region, 0, TWO) is KafkaError.NONE
    now = region.partition("t")
    assert (now.directory(1), now.leader, now.isr) == (TWO, was.leader, was.isr)
    assert (now.leader_epoch, now.partition_epoch) == (was.leader_epoch, was.partition_epoch + 1)
    assert assign(region, 0, TWO) is KafkaError.NONE
    assert region.partition("t") == now


def test_what_is_not_there_or_not_the_brokers_is_refused_one_by_one() -> None:
    region = region_of()
    region.topic("other", (2, 3))
    epoch = region.image.brokers[1].broker_epoch
    topic_id = region.image.topics_by_name["t"].id
    other_id = region.image.topics_by_name["other"].id
    asked = ((ONE, UUID(int=9), 0), (ONE, topic_id, 7), (ONE, other_id, 0), (ONE, topic_id, 0))
    outcomes = region.do(AssignReplicasToDirs(1, epoch, asked))
    assert [each.error for each in outcomes] == [  # type: ignore[attr-defined]
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.NONE,
    ]
    with pytest.raises(Refusal) as refused:
        region.do(AssignReplicasToDirs(1, epoch - 1, asked))
    assert refused.value.error is KafkaError.STALE_BROKER_EPOCH


def test_a_failed_directory_takes_only_what_lies_in_it() -> None:
    region = region_of()
    region.beat(1, offline_dirs=(TWO,))
    stays, gone = region.partition("t", 0), region.partition("t", 1)
    assert (stays.leader, stays.isr, stays.leader_epoch) == (1, (1, 2, 3), 0)
    assert (gone.leader, gone.isr, gone.leader_epoch) == (2, (2, 3), 1)
    broker = region.image.brokers[1]
    assert broker.log_dirs == (ONE,) and not broker.fenced


def test_a_failure_that_is_known_changes_nothing_more() -> None:
    region = region_of()
    region.beat(1, offline_dirs=(TWO,))
    decision = region.decide(region.heartbeat(1, offline_dirs=(TWO,)))
    assert decision.records == ()


def test_a_partition_without_another_replica_waits_for_its_directory() -> None:
    region = region_of(1)
    region.beat(1, offline_dirs=(TWO,))
    gone = region.partition("t", 1)
    assert (gone.leader, gone.isr, gone.elr) == (NO_LEADER, (), (1,))
    assert region.partition("t", 0).leader == 1
    region.register(1, directory=None, log_dirs=(ONE,))
    assert region.partition("t", 1).leader == NO_LEADER
    region.register(1, directory=None, log_dirs=(ONE, TWO))
    assert region.partition("t", 1).leader == 1


def test_nobody_leads_what_lies_in_a_directory_that_its_broker_came_back_without() -> None:
    region = region_of(2)
    region.fence(2)
    region.fence(1)
    epoch = region.image.brokers[1].broker_epoch
    assert region.partition("t", 1).leader == NO_LEADER
    region.register(
        1, directory=None, log_dirs=(ONE,), starts_fenced=True, previous_broker_epoch=epoch
    )
    region.beat(1)
    assert region.partition("t", 0).leader == 1
    assert region.partition("t", 1).leader == NO_LEADER


def test_a_broker_whose_last_directory_failed_is_fenced() -> None:
    region = region_of()
    outcome = region.beat(1, offline_dirs=(ONE, TWO))
    assert outcome.is_fenced and region.image.brokers[1].fenced
    assert [region.partition("t", index).leader for index in (0, 1)] == [2, 2]


def test_a_replica_that_was_begun_anew_has_nothing_to_lead_with() -> None:
    """Of its old directory nothing is left: were it eligible, it would win with an empty log."""
    region = region_of(2, min_insync_replicas="2")
    region.beat(1, offline_dirs=(TWO,))
    region.fence(2)
    assert {*region.partition("t", 1).elr} == {1, 2}
    assert assign(region, 1, ONE) is KafkaError.NONE
    anew = region.partition("t", 1)
    assert (anew.directory(1), anew.elr, anew.leader) == (ONE, (2,), NO_LEADER)


def test_the_last_leader_does_not_lead_what_it_has_begun_anew() -> None:
    """Nobody else was in sync: an empty log would win over what the others have, where that is not allowed."""
    region = region_of(2)
    region.fence(2)
    region.beat(1, offline_dirs=(TWO,))
    gone = region.partition("t", 1)
    assert (gone.leader, gone.elr, gone.last_known_elr) == (NO_LEADER, (1,), (1,))
    assert assign(region, 1, ONE) is KafkaError.NONE
    anew = region.partition("t", 1)
    assert (anew.leader, anew.isr, anew.last_known_elr) == (NO_LEADER, (), ())
    region.beat(2)
    assert region.partition("t", 1).leader == NO_LEADER


def test_a_replica_reported_in_an_offline_directory_leaves_the_in_sync_set() -> None:
    region = region_of()
    assert assign(region, 0, LOST_DIRECTORY) is KafkaError.NONE
    lost = region.partition("t", 0)
    assert (lost.leader, lost.isr) == (2, (2, 3))


def test_a_replica_in_an_offline_directory_is_not_let_into_the_in_sync_set() -> None:
    region = region_of()
    region.beat(1, offline_dirs=(TWO,))
    placed = region.partition("t", 1)
    leader = region.image.brokers[2]
    change = InSyncChange(
        partition=1,
        leader_epoch=placed.leader_epoch,
        partition_epoch=placed.partition_epoch,
        isr=tuple(InSyncMember(each, -1) for each in (1, 2, 3)),
    )
    topic_id = region.image.topics_by_name["t"].id
    command = AlterPartition(2, leader.broker_epoch, ((topic_id, (change,)),))
    (outcome,) = region.do(command)  # type: ignore[misc]
    assert outcome.error is KafkaError.INELIGIBLE_REPLICA
