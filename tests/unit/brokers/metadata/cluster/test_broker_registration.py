"""A broker's new life: who may begin one, what of the last one is resumed or lost, and what a new region gets."""

from typing import Any
from uuid import UUID

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.ids import NO_ID
from brokers.metadata.cluster.broker_registration import FEATURES, supported_features
from brokers.metadata.commands.broker_commands import BrokerHeartbeat, RegisterBroker
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.image.image import NO_LEADER, Endpoint, FeatureRange
from tests.unit.brokers.metadata.images import Region


def refusal(region: Region, broker_id: int, **more: Any) -> Refusal:
    with pytest.raises(Refusal) as refused:
        region.do(region.registration(broker_id, starts_fenced=True, **more))
    return refused.value


def test_the_broker_epoch_is_the_offset_of_the_registration() -> None:
    region = Region()
    assert region.image.features == {"causeway.version": 1, "metadata.version": 30}
    assert region.image.brokers[1].broker_epoch == 2, "after the feature records"
    assert region.register(1) == region.image.brokers[1].broker_epoch == 4
    assert region.delta.brokers_changed == (1,)
    assert not region.image.brokers[1].fenced


def test_leader_epochs_rise_where_it_leads_and_nowhere_else() -> None:
    region = Region(brokers=2)
    region.do(CreateTopics((NewTopic(name="t", assignments=((0, (1,)), (1, (2,)))),)))
    region.do(CreateMirrorTopic(name="m", partition_count=1, writer="east", leader_epochs={0: 6}))
    leader = region.image.topics_by_name["m"].partitions[0].leader
    region.register(1)
    assert [p.leader_epoch for p in region.image.topics_by_name["t"].partitions] == [1, 0]
    assert region.image.topics_by_name["m"].partitions[0].leader_epoch == 6 + (leader == 1)
    assert "t" in region.delta.topics_changed


def test_what_can_only_be_off_is_not_registered() -> None:
    assert supported_features() == [
        FeatureRange("causeway.version", 0, 1),
        FeatureRange("kraft.version", 0, 1),
        FeatureRange("metadata.version", 7, 30),
    ]
    assert {feature.name for feature in FEATURES} >= {"transaction.version", "group.version"}


def test_a_broker_says_where_it_is_and_what_it_has() -> None:
    region = Region()
    dirs = (UUID(int=7), UUID(int=8))
    region.register(2, rack="a", host_label="m", directory=None, log_dirs=dirs, starts_fenced=True)
    broker = region.image.brokers[2]
    assert broker.endpoints == (Endpoint("PLAINTEXT", "127.0.0.1", 9093),)
    assert (broker.host, broker.port, broker.peer) == ("127.0.0.1", 9093, (2, "127.0.0.1", 9093))
    assert (broker.rack, broker.host_label, broker.log_dirs) == ("a", "m", dirs)
    assert broker.fenced and not broker.is_active


def test_an_id_is_taken_while_its_broker_is_heard_of() -> None:
    region = Region(brokers=2)
    region.beat(2)
    refused = refusal(region, 2, directory=UUID(int=5))
    assert refused.error is KafkaError.DUPLICATE_BROKER_REGISTRATION
    assert "127.0.0.1:9093" in refused.because
    region.now = 9_001
    assert region.do(other_disk(region, 6)), "its session has ended"
    region.beat(2)
    region.fence(2)
    assert region.do(other_disk(region, 7)), "it was told to be gone"
    region.beat(2)
    region.topic("t", (2, 1))
    region.beat(2, want_shut_down=True)
    assert region.do(other_disk(region, 8)), "it was about to leave"
    assert not region.image.brokers[2].in_controlled_shutdown


def other_disk(region: Region, disk: int) -> RegisterBroker:
    return region.registration(2, directory=UUID(int=disk), starts_fenced=True)


def test_who_has_the_same_directories_at_the_same_place_need_not_wait() -> None:
    """They were locked by the life before, so that one is over."""
    region = Region(brokers=2)
    region.topic("t", (2, 1))
    region.beat(2)
    was = region.image.brokers[2]
    assert region.do(region.registration(2, starts_fenced=True)) > was.broker_epoch
    now = region.image.brokers[2]
    assert now.fenced and (now.log_dirs, now.incarnation != was.incarnation) == (was.log_dirs, True)
    assert region.partition("t").leader == 1
    with pytest.raises(Refusal) as refused:
        region.do(BrokerHeartbeat(broker_id=2, broker_epoch=was.broker_epoch, metadata_offset=99))
    assert refused.value.error is KafkaError.STALE_BROKER_EPOCH


@pytest.mark.parametrize(
    "more",
    [
        {"endpoints": (("PLAINTEXT", "127.0.0.1", 9999),)},
        {"endpoints": (("PLAINTEXT", "127.0.0.9", 9093),)},
        {"directory": NO_ID},
        {"directory": UUID(int=5)},
    ],
)
def test_a_copy_of_the_disk_elsewhere_and_an_unnamed_disk_prove_nothing(
    more: dict[str, Any],
) -> None:
    region = Region(brokers=2)
    region.beat(2)
    assert refusal(region, 2, **more).error is KafkaError.DUPLICATE_BROKER_REGISTRATION


def test_the_answer_to_the_first_try_is_repeated() -> None:
    region = Region()
    command = region.registration(2, starts_fenced=True)
    first = region.do(command)
    region.beat(2)
    assert region.do(command) == first == region.image.brokers[2].broker_epoch
    assert not region.image.brokers[2].fenced and region.decide(command).records == ()


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"cluster_id": "another"}, KafkaError.INCONSISTENT_CLUSTER_ID, "region another"),
        ({"features": ()}, KafkaError.UNSUPPORTED_VERSION, "causeway.version 1"),
        (
            {"features": (("causeway.version", 0, 1), ("metadata.version", 7, 29))},
            KafkaError.UNSUPPORTED_VERSION,
            "metadata.version 30",
        ),
        ({"directory": UUID(int=201)}, KafkaError.INVALID_REGISTRATION, "broker 1's"),
        (
            {"directory": None, "log_dirs": (UUID(int=5), UUID(int=5))},
            KafkaError.INVALID_REGISTRATION,
            "twice",
        ),
    ],
)
def test_each_flaw_has_its_error(more: dict[str, Any], error: KafkaError, says: str) -> None:
    region = Region()
    refused = refusal(region, 2, **more)
    assert refused.error is error and says in refused.because
    assert 2 not in region.image.brokers


def region_of_three() -> Region:
    region = Region(brokers=3)
    region.topic("t", (1, 2, 3), min_insync_replicas="2")
    region.topic("alone", (1,))
    region.fence(2)
    region.fence(3)
    assert region.partition("t").elr == (3,)
    return region


def test_after_a_clean_end_a_broker_is_as_eligible_as_it_was() -> None:
    region = region_of_three()
    ended = region.image.brokers[3].broker_epoch
    region.register(3, starts_fenced=True, previous_broker_epoch=ended)
    assert region.partition("t").elr == (3,)


def test_after_a_crash_a_broker_may_have_lost_what_it_held() -> None:
    """KIP-966."""
    region = region_of_three()
    region.register(3, starts_fenced=True, previous_broker_epoch=ended_before(region, 3))
    assert region.partition("t").elr == ()
    region.register(1, starts_fenced=True)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.elr) == (NO_LEADER, (), ())
    assert partition.last_known_elr == (1,)
    alone = region.partition("alone")
    assert (alone.leader, alone.elr) == (NO_LEADER, (1,)), "there is no better copy"
    region.beat(1)
    partition = region.partition("t")
    assert (partition.leader, partition.isr, partition.recovery_state) == (1, (1,), 1)
    assert (region.partition("alone").leader, region.partition("alone").recovery_state) == (1, 0)


def ended_before(region: Region, broker_id: int) -> int:
    return region.image.brokers[broker_id].broker_epoch - 1


def test_a_crash_that_nobody_noticed_yet_costs_the_leadership_all_the_same() -> None:
    region = Region(brokers=3)
    region.topic("t", (1, 2, 3))
    region.register(1, starts_fenced=True)
    assert (region.partition("t").leader, region.partition("t").isr) == (2, (2, 3))


def test_a_lone_node_resumes_what_nobody_else_could() -> None:
    region = Region(brokers=2)
    region.topic("shared", (1, 2))
    region.topic("own", (1,))
    region.register(1)
    assert (region.partition("shared").leader, region.partition("shared").isr) == (2, (2,))
    own = region.partition("own")
    assert (own.leader, own.isr, own.leader_epoch) == (1, (1,), 1)
    region.fence(1)
    region.register(1)
    assert (region.partition("own").leader, region.partition("own").leader_epoch) == (1, 3)
