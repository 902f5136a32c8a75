"""A broker's new life: its registration, the leaderships it resumes, and what a new region begins with."""

from collections.abc import Iterator
from dataclasses import dataclass

from brokers.ids import BrokerId, Offset
from brokers.metadata.commands import RegisterBroker
from brokers.metadata.decision import Decision
from brokers.metadata.image import Image
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import (
    BrokerEndpoint,
    BrokerFeature,
    FeatureLevelRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
)


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature and the levels of it that this release supports; `initial` is a new region's, 0 is "off"."""

    name: str
    lowest: int
    highest: int
    initial: int


# 30 is the metadata version of Kafka 4.3. Transactions and the new group protocols stay off until they work.
FEATURES = (
    Feature("group.version", lowest=0, highest=0, initial=0),
    Feature("kraft.version", lowest=0, highest=0, initial=0),
    Feature("metadata.version", lowest=7, highest=30, initial=30),
    Feature("transaction.version", lowest=0, highest=0, initial=0),
)


def register_broker(image: Image, command: RegisterBroker, next_offset: Offset) -> Decision:
    features = list(_missing_features(image))
    broker_epoch = next_offset + len(features)
    records = (
        *features,
        _registration(command, broker_epoch),
        UnfenceBrokerRecord(id=command.broker_id, epoch=broker_epoch),
        *_resumed_leaderships(image, command.broker_id),
    )
    return Decision(records, broker_epoch)


def supported_features() -> list[BrokerFeature]:
    """What a registration says of this release; features that can only be off are left out."""
    return [
        BrokerFeature(
            name=feature.name,
            min_supported_version=feature.lowest,
            max_supported_version=feature.highest,
        )
        for feature in FEATURES
        if feature.highest
    ]


def _missing_features(image: Image) -> Iterator[Message]:
    for feature in FEATURES:
        if feature.initial and feature.name not in image.features:
            yield FeatureLevelRecord(name=feature.name, feature_level=feature.initial)


def _registration(command: RegisterBroker, broker_epoch: int) -> RegisterBrokerRecord:
    endpoint = BrokerEndpoint(
        name="PLAINTEXT", host=command.host, port=command.port, security_protocol=0
    )
    return RegisterBrokerRecord(
        broker_id=command.broker_id,
        incarnation_id=command.incarnation,
        broker_epoch=broker_epoch,
        end_points=[endpoint],
        features=supported_features(),
        rack=command.rack,
        fenced=True,
        log_dirs=[command.directory],
    )


def _resumed_leaderships(image: Image, broker_id: BrokerId) -> Iterator[Message]:
    """Each under a new leader epoch: what a crash may have torn off was of the old one, and others can tell."""
    for _, topic in sorted(image.topics_by_name.items()):
        for index, partition in enumerate(topic.partitions):
            if partition.leader == broker_id:
                yield PartitionChangeRecord(partition_id=index, topic_id=topic.id, leader=broker_id)
