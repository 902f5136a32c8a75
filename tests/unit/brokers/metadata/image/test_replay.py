"""Records onto an image: what changes, what is told, and what cannot be."""

from uuid import UUID

import pytest

from brokers.metadata.image.image import Image
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.wire.messages import metadata_records as wire
from tests.unit.brokers.metadata.images import Region

ID = UUID(int=9)


def topic_with(*partitions: int) -> list:
    made = [
        wire.PartitionRecord(
            partition_id=index, topic_id=ID, replicas=[1], isr=[1], leader=1, leader_epoch=0
        )
        for index in partitions
    ]
    return [wire.TopicRecord(name="t", topic_id=ID), *made]


def test_a_topic_made_and_deleted_at_once_is_not_told() -> None:
    image = Image("r")
    delta = replay(image, [*topic_with(0), wire.RemoveTopicRecord(topic_id=ID)], 3)
    assert (delta.topics_created, delta.topics_deleted) == ((), ())
    assert not image.topics_by_name and image.next_offset == 3


def test_a_topic_deleted_and_made_anew_at_once_is_told_twice() -> None:
    image = Image("r")
    replay(image, topic_with(0), 2)
    again = [wire.RemoveTopicRecord(topic_id=ID), wire.TopicRecord(name="t", topic_id=UUID(int=10))]
    delta = replay(image, again, 4)
    assert (delta.topics_deleted, delta.topics_created) == (("t",), ("t",))
    assert image.topics_by_name["t"].id == UUID(int=10)


def test_a_change_record_raises_epochs_as_kafka_means_it() -> None:
    image = Image("r")
    replay(image, topic_with(0), 2)
    only_isr = wire.PartitionChangeRecord(partition_id=0, topic_id=ID, isr=[])
    leader = wire.PartitionChangeRecord(partition_id=0, topic_id=ID, leader=2, replicas=[2, 1])
    replay(image, [only_isr], 3)
    (partition,) = image.topics_by_name["t"].partitions
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (1, 0, 0)
    assert partition.isr == ()
    delta = replay(image, [leader], 4)
    (partition,) = image.topics_by_name["t"].partitions
    assert (partition.leader, partition.leader_epoch, partition.replicas) == (2, 1, (2, 1))
    assert delta.topics_changed == ("t",)


def test_a_partition_record_for_a_partition_that_exists_replaces_it() -> None:
    image = Image("r")
    replay(image, topic_with(0, 1), 3)
    record = wire.PartitionRecord(partition_id=0, topic_id=ID, leader=1, leader_epoch=8)
    replay(image, [record], 4)
    assert [p.leader_epoch for p in image.topics_by_name["t"].partitions] == [8, 0]


def test_what_was_taken_from_an_image_stays_as_it_was() -> None:
    image = Image("r")
    replay(image, topic_with(0), 2)
    topic = image.topics_by_name["t"]
    replay(image, [wire.TopicWriterRecord(topic_id=ID, writer="east")], 3)
    assert topic.writer is None and image.topics_by_name["t"].writer == "east"


@pytest.mark.parametrize(
    "records",
    [
        [*topic_with(), wire.TopicRecord(name="t", topic_id=UUID(int=3))],
        topic_with(1),
        topic_with(0, 2),
        topic_with(-1),
        [wire.PartitionRecord(partition_id=0, topic_id=ID)],
        [*topic_with(0), wire.PartitionChangeRecord(partition_id=1, topic_id=ID)],
        [wire.RemoveTopicRecord(topic_id=ID)],
        [wire.TopicWriterRecord(topic_id=ID, writer="east")],
        [wire.DelegationTokenRecord()],
        [wire.ClientQuotaRecord()],
        [wire.UnfenceBrokerRecord(id=8)],
        [wire.RegisterBrokerRecord(broker_id=1)],
    ],
)
def test_records_that_make_no_sense_are_refused(records: list) -> None:
    with pytest.raises(MetadataLogError):
        replay(Image("r"), records, 5)


def test_settings_of_a_topic_that_is_gone_are_not_told() -> None:
    region = Region()
    record = wire.ConfigRecord(
        resource_type=2, resource_name="gone", name="retention.ms", value="1"
    )
    delta = replay(region.image, [record, wire.NoOpRecord()], 9)
    assert delta.topic_configs_changed == ()
