"""BrokerHeartbeatManager, fencing, controlled shutdown and unregistration, and who leads afterwards."""

from uuid import UUID

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.broker_commands import (
    BrokerHeartbeat,
    BrokerHeartbeatReply,
    FenceBroker,
    UnregisterBroker,
)
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import NO_LEADER
from tests.unit.brokers.metadata.images import Region


def region_of(count: int = 3) -> Region:
    region = Region(brokers=count)
    if count < 3:
        return region
    region.topic("t", (1, 2, 3), (2, 3, 1), (3, 1, 2), min_insync_replicas="2")
    region.topic("alone", (2,))
    return region


def test_a_registered_broker_is_let_in_when_it_knows_of_itself() -> None:
    region = Region(brokers=1)
    epoch = region.register(2, starts_fenced=True)
    assert region.image.brokers[2].fenced

    def beat(metadata_offset: int, **wants: bool) -> object:
        return region.do(
            BrokerHeartbeat(
                broker_id=2,
                broker_epoch=epoch,  # type: ignore[arg-type]
                metadata_offset=metadata_offset,
                **wants,
            )
        )

    assert beat(epoch - 1) == BrokerHeartbeatReply(False, True, False)  # type: ignore[operator]
    assert beat(epoch, want_fence=True) == BrokerHeartbeatReply(True, True, False)  # type: ignore[arg-type]
    assert region.image.brokers[2].fenced
    assert beat(epoch) == BrokerHeartbeatReply(True, False, False)  # type: ignore[arg-type]
    assert not region.image.brokers[2].fenced and region.delta.brokers_changed == (2,)
    assert region.decide(region.heartbeat(2)).records == ()


def test_another_life_of_a_broker_is_refused() -> None:
    region = region_of()
    for command in (
        BrokerHeartbeat(broker_id=2, broker_epoch=99, metadata_offset=0),
        BrokerHeartbeat(broker_id=9, broker_epoch=99, metadata_offset=0),
        FenceBroker(2, 99),
    ):
        with pytest.raises(Refusal) as refused:
            region.do(command)
        assert refused.value.error is KafkaError.STALE_BROKER_EPOCH


def test_fencing_gives_what_it_led_to_others_and_keeps_it_out_of_in_sync_sets() -> None:
    region = region_of()
    region.fence(2)
    assert [region.partition("t", index).leader for index in range(3)] == [1, 3, 3]
    assert [region.partition("t", index).leader_epoch for index in range(3)] == [0, 1, 0]
    assert [region.partition("t", index).isr for index in range(3)] == [(1, 3), (3, 1), (3, 1)]
    alone = region.partition("alone")
    assert (alone.leader, alone.isr, alone.elr) == (NO_LEADER, (), (2,))
    assert region.decide(region.fencing(2)).records == ()
    assert len(region.delta.partitions_changed) == 4


def test_who_comes_back_leads_what_nobody_leads() -> None:
    region = region_of()
    region.fence(2)
    assert region.beat(2) == BrokerHeartbeatReply(True, False, False)
    alone = region.partition("alone")
    assert (alone.leader, alone.isr, alone.elr, alone.leader_epoch) == (2, (2,), (), 2)
    assert region.partition("t").isr == (1, 3), "it joins when it has caught up"


def test_members_of_a_small_in_sync_set_stay_eligible_until_it_is_large_enough() -> None:
    region = region_of()
    region.fence(2)
    region.fence(3)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (1, (1,), (3,))
    region.fence(1)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, set(partition.elr)) == (NO_LEADER, (), {1, 3})
    assert partition.last_known_elr == (1,)
    region.beat(2)
    assert region.partition("t").leader == NO_LEADER, "it may miss what the others had"
    region.beat(3)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (3, (3,), (1,))
    assert partition.last_known_elr == () and partition.recovery_state == 0


def test_a_shutdown_is_told_then_leaderships_move_and_then_it_is_let_go() -> None:
    region = region_of()
    assert region.beat(2, want_shut_down=True) == BrokerHeartbeatReply(True, False, False)
    broker = region.image.brokers[2]
    assert broker.in_controlled_shutdown and not broker.fenced
    assert region.beat(2, want_shut_down=True) == BrokerHeartbeatReply(True, False, False), (
        "sent twice"
    )
    assert region.partition("t", 1).leader == 2 == region.partition("alone").leader
    assert region.beat(2, want_shut_down=True, want_fence=True) == BrokerHeartbeatReply(
        True, False, False
    )
    assert region.partition("t", 1).leader == 3 and region.partition("alone").leader == NO_LEADER
    assert region.partition("t", 1).isr == (3, 1) and region.partition("t", 0).isr == (1, 2, 3)
    assert region.beat(2, want_shut_down=True) == BrokerHeartbeatReply(True, True, True)
    assert region.image.brokers[2].fenced and region.partition("t", 0).isr == (1, 3)
    assert region.beat(2, want_shut_down=True) == BrokerHeartbeatReply(True, True, True)


def test_who_leads_nothing_may_go_at_once() -> None:
    region = region_of(4)
    assert region.beat(4, want_shut_down=True) == BrokerHeartbeatReply(True, True, True)


def test_a_broker_can_ask_to_be_fenced() -> None:
    region = region_of()
    assert region.beat(1, want_fence=True) == BrokerHeartbeatReply(True, True, False)
    assert region.partition("t").leader == 2


def test_an_unregistered_broker_is_gone_but_stays_assigned() -> None:
    region = region_of()
    region.do(UnregisterBroker(2))
    assert 2 not in region.image.brokers and region.partition("t").replicas == (1, 2, 3)
    assert region.partition("t", 1).leader == 3
    with pytest.raises(Refusal) as refused:
        region.do(UnregisterBroker(2))
    assert refused.value.error is KafkaError.BROKER_ID_NOT_REGISTERED


def test_a_node_that_is_the_whole_region_is_not_unregistered() -> None:
    """It registers once, as it starts: nobody would lead anything until it starts again."""
    region = Region()
    region.topic("t", (1,))
    with pytest.raises(Refusal) as refused:
        region.do(UnregisterBroker(1))
    assert refused.value.error is KafkaError.INVALID_REQUEST
    assert region.partition("t").leader == 1


def test_where_it_is_allowed_somebody_leads_at_the_price_of_records() -> None:
    region = region_of()
    region.topic("lax", (1, 2), unclean_leader_election_enable="true")
    region.topic("strict", (1, 2))
    region.fence(2)
    region.fence(1)
    region.beat(2)
    lax = region.partition("lax")
    assert (lax.leader, lax.isr, lax.elr, lax.recovery_state) == (2, (2,), (), 1)
    assert region.partition("strict").leader == NO_LEADER
    allow = {"unclean.leader.election.enable": (ConfigOperation.SET, "true")}
    region.do(AlterConfigs((ConfigChange((2, "strict"), allow),)))
    assert region.partition("strict").leader == 2, "at once, without waiting for another event"


def test_a_lower_minimum_ends_eligibility() -> None:
    region = region_of()
    region.fence(2)
    region.fence(3)
    assert region.partition("t").elr == (3,)
    lower = {"min.insync.replicas": (ConfigOperation.SET, "1")}
    region.do(AlterConfigs((ConfigChange((2, "t"), lower),), validate_only=True))
    assert region.partition("t").elr == (3,)
    region.do(AlterConfigs((ConfigChange((2, "t"), lower),)))
    assert region.partition("t").elr == (), "the leader commits without it from now on"


def test_nobody_stays_eligible_beside_an_eligible_one_who_leads_and_is_enough() -> None:
    region = region_of()
    for gone in (2, 3, 1):
        region.fence(gone)
    lower = {"min.insync.replicas": (ConfigOperation.SET, "1")}
    region.do(AlterConfigs((ConfigChange((2, "t"), lower),)))
    region.beat(3)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (3, (3,), ())
    region.beat(1)
    region.fence(3)
    assert region.partition("t").leader == NO_LEADER, "3 may have committed what 1 misses"


def test_the_minimum_of_all_brokers_counts_where_a_topic_has_none() -> None:
    region = Region(brokers=2)
    region.topic("t", (1, 2))
    minimum = {"min.insync.replicas": (ConfigOperation.SET, "2")}
    region.do(AlterConfigs((ConfigChange((4, ""), minimum),)))
    region.fence(2)
    assert region.partition("t").elr == (2,)
    region.do(AlterConfigs((ConfigChange((4, ""), {}, replace=True),)))
    assert region.partition("t").elr == ()


def test_directories_whose_disks_are_nearly_full_are_known_to_all_until_they_have_room() -> None:
    region = region_of(2)
    (directory,) = region.image.brokers[2].log_dirs
    assert region.beat(2, cordoned_dirs=(directory, UUID(int=99))) == BrokerHeartbeatReply(
        True, False, False
    )
    assert region.image.brokers[2].cordoned_log_dirs == (directory,)
    assert region.image.brokers[2].is_cordoned
    kept = snapshot.decode(snapshot.encode(region.image, 3, 99), "region-one", 9)
    assert kept.brokers == region.image.brokers
    before = region.image.next_offset
    region.beat(2, cordoned_dirs=(directory,))
    region.beat(2)  # of a release that does not tell
    assert region.image.next_offset == before and region.image.brokers[2].is_cordoned
    region.beat(2, cordoned_dirs=())
    assert not region.image.brokers[2].is_cordoned
    region.beat(2, cordoned_dirs=(directory,))
    region.register(2)
    assert not region.image.brokers[2].is_cordoned, "the next heartbeat tells again"


def test_a_region_of_an_older_level_writes_nothing_of_such_directories() -> None:
    region = region_of(2)
    region.image.features["metadata.version"] = 29
    region.beat(2, cordoned_dirs=region.image.brokers[2].log_dirs)
    assert region.image.brokers[2].cordoned_log_dirs == ()
