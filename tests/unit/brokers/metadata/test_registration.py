"""A broker's new life raises the leader epochs of what it leads, and a new region gets its features."""

from brokers.metadata.commands import CreateMirrorTopic, CreateTopics, NewTopic
from brokers.metadata.registration import FEATURES, supported_features
from tests.unit.brokers.metadata.images import Region


def test_the_broker_epoch_is_the_offset_of_the_registration() -> None:
    region = Region()
    assert region.image.features == {"metadata.version": 30}
    assert region.image.brokers[1].broker_epoch == 1, "after the feature record"
    assert region.register(1) == region.image.brokers[1].broker_epoch == 3
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
    assert [feature.name for feature in supported_features()] == ["metadata.version"]
    assert {feature.name for feature in FEATURES} >= {"transaction.version", "group.version"}
