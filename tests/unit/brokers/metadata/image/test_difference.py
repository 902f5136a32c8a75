"""What differs between two images is what replaying the records between them would have told."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import Refusal
from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ResourceType,
)
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
)
from brokers.metadata.image.difference import difference
from brokers.metadata.image.image import Image, ImageDelta
from tests.playbooks.metadata.asks import commands
from tests.unit.brokers.metadata.images import Region


def test_nothing_differs_from_itself_and_everything_from_nothing() -> None:
    region = Region(brokers=2)
    region.do(CreateTopics((NewTopic(name="a", partition_count=2),)))
    assert difference(region.image, region.image.copy()) == ImageDelta()
    all_of_it = difference(Image("region-one"), region.image)
    assert all_of_it.topics_created == ("a",)
    assert all_of_it.partitions_changed == (TopicPartition("a", 0), TopicPartition("a", 1))
    assert all_of_it.brokers_changed == (1, 2)


def test_a_topic_that_was_made_anew_has_gone_and_come() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="a"), NewTopic(name="b"))))
    before = region.image.copy()
    region.do(DeleteTopics(("a",)))
    region.do(CreateTopics((NewTopic(name="a"),)))
    region.do(CreatePartitions((NewPartitions(name="b", count=3),)))
    delta = difference(before, region.image)
    assert delta.topics_deleted == delta.topics_created == ("a",)
    assert delta.topics_changed == ("b",)
    assert set(delta.partitions_changed) == {
        TopicPartition("a", 0),
        TopicPartition("b", 1),
        TopicPartition("b", 2),
    }


def test_a_brokers_setting_concerns_every_topic() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="a"), NewTopic(name="b"))))
    before = region.image.copy()
    change = {"log.retention.ms": (ConfigOperation.SET, "5000")}
    region.do(AlterConfigs((ConfigChange((ResourceType.BROKER, ""), change),)))
    assert set(difference(before, region.image).topic_configs_changed) == {"a", "b"}


@given(st.lists(commands, max_size=8), commands)
def test_it_tells_all_that_a_replay_tells_and_nothing_else(asked: list, last: object) -> None:
    region = Region(brokers=2)
    for command in asked:
        _do(region, command)
    before = region.image.copy()
    region.delta = ImageDelta()
    _do(region, last)
    found, told = difference(before, region.image), region.delta
    for field in ("topics_created", "topics_deleted", "topics_changed", "brokers_changed"):
        assert set(getattr(found, field)) == set(getattr(told, field)), field
    # A setting that was set to what it was, or went with its topic, has been touched and has not changed.
    assert set(found.topic_configs_changed) <= set(told.topic_configs_changed)
    assert set(found.documents_changed) <= set(told.documents_changed)


def _do(region: Region, command: object) -> None:
    try:
        region.do(command)
    except Refusal:
        return
