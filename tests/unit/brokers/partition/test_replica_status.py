"""What a leader tells of its replicas: roles as the image has them, progress as they asked for it."""

from collections.abc import Collection

import pytest

from brokers.effects import Effect
from brokers.ids import BrokerId
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.metadata.image.image import PartitionImage
from brokers.partition.isr_state import PendingIsr
from brokers.partition.leader import append
from brokers.partition.remote_replica import LastFetch
from brokers.partition.replica import Replica
from brokers.partition.replica_status import ReplicaStatus, replica_statuses
from tests.unit.brokers.partition.replicas import NOW, PARTITION, batch, open_replica

LAG_MS_MAX = 30_000
PLACED = PartitionImage(
    leader=1, leader_epoch=3, partition_epoch=5, replicas=(1, 2, 3, 4, 5), isr=(1, 2, 4), observers=(3,), promoted=(4,)
)  # fmt: skip


class Neighbours:
    """Whoever is around broker 1; nobody's proposals are decided on."""

    node_id = 1
    lag_ms_max = LAG_MS_MAX

    def is_isr_eligible(self, broker: BrokerId, broker_epoch: int) -> bool:
        return True

    def propose(self, replica: Replica, proposal: PendingIsr) -> None:
        pass

    def advanced(self, replica: Replica) -> list[Effect]:
        return []


@pytest.fixture
def replica() -> Replica:
    """Of broker 1, leading, with three records."""
    one = Replica(
        PARTITION, topic_id=bytes(16), leader_epoch=2, writer=None, config=LogConfig(), host=Neighbours()
    )  # fmt: skip
    log = Log(PARTITION, bytes(16), segments=[Segment(0)], log_start_offset=0, log_end_offset=0)
    one.opened(log, NOW)
    one.make_leader(PLACED, None, NOW)
    append(one, batch(3), 9, NOW)
    return one


def fetch(replica: Replica, broker: int, offset: int, at: int) -> LastFetch:
    assert replica.leadership is not None
    contact = LastFetch(at)
    replica.leadership.fetched(broker, offset, 0, 7, contact, at)
    return contact


def told(
    replica: Replica, now: int, active: Collection[int] = (1, 2, 3, 4, 5)
) -> list[ReplicaStatus]:
    return list(replica_statuses(replica, PLACED, lambda each: each in active, LAG_MS_MAX, now))


def test_roles_are_those_of_the_image(replica: Replica) -> None:
    found = told(replica, NOW, active=(1, 2, 3, 4))
    assert [each.broker for each in found] == [1, 2, 3, 4, 5]
    assert [each.is_leader for each in found] == [True, False, False, False, False]
    assert [each.is_observer for each in found] == [False, False, True, True, False]
    assert [each.is_eligible for each in found] == [True, True, False, True, False]
    assert [each.is_in_sync for each in found] == [True, True, False, True, False]


def test_a_leader_is_level_with_itself(replica: Replica) -> None:
    leader = told(replica, NOW + 99)[0]
    assert (leader.caught_up_ms, leader.fetched_ms, leader.lag) == (0, 0, 0)
    assert (leader.log_start_offset, leader.log_end_offset, leader.is_caught_up) == (0, 3, True)


def test_who_never_asked_is_unknown(replica: Replica) -> None:
    """But a member was given the time of the election, to find its leader."""
    member, observer = told(replica, NOW + 5)[1:3]
    assert (observer.caught_up_ms, observer.fetched_ms) == (-1, -1)
    assert (observer.log_start_offset, observer.log_end_offset, observer.lag) == (-1, -1, -1)
    assert not observer.is_caught_up
    assert (member.caught_up_ms, member.fetched_ms) == (5, -1)
    assert not member.is_caught_up


def test_who_is_behind_lacks_records_and_was_level_some_time_ago(replica: Replica) -> None:
    fetch(replica, 2, 3, NOW + 10)
    append(replica, batch(4), 9, NOW + 20)
    fetch(replica, 2, 5, NOW + 50)
    behind = told(replica, NOW + 60)[1]
    assert (behind.log_end_offset, behind.lag) == (5, 2)
    assert (behind.caught_up_ms, behind.fetched_ms) == (50, 10)
    assert behind.is_caught_up
    assert not told(replica, NOW + 11 + LAG_MS_MAX)[1].is_caught_up


def test_an_idle_session_is_level_as_of_its_last_question(replica: Replica) -> None:
    contact = fetch(replica, 2, 3, NOW)
    contact.at = NOW + 40_000
    level = told(replica, NOW + 40_500)[1]
    assert (level.caught_up_ms, level.fetched_ms, level.lag) == (500, 500, 0)
    assert level.is_caught_up


def test_without_a_log_nothing_is_measured(replica: Replica) -> None:
    fetch(replica, 2, 3, NOW)
    replica.failed("the disk is gone", NOW)
    leader, follower = told(replica, NOW)[:2]
    assert leader.is_leader
    assert not leader.is_caught_up
    assert (leader.log_end_offset, leader.lag) == (-1, -1)
    assert (follower.log_end_offset, follower.lag, follower.is_caught_up) == (3, -1, False)


def test_a_single_replica_leads_alone() -> None:
    alone = open_replica()
    placed = PartitionImage(leader=1, leader_epoch=3, partition_epoch=0, replicas=(1,), isr=(1,))
    (only,) = replica_statuses(alone, placed, lambda each: True, LAG_MS_MAX, NOW)
    assert (only.is_leader, only.is_caught_up, only.lag) == (True, True, 0)
