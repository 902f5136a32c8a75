"""Applies metadata records to an `Image`: the only code that changes one.

One call applies the records of one batch, so that readers see all of the batch or none of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from uuid import UUID

from brokers.ids import Offset, TopicPartition
from brokers.metadata.commands.config_commands import Resource, ResourceType
from brokers.metadata.image.broker_records import broker_changed_by, broker_of
from brokers.metadata.image.controller_records import controller_of
from brokers.metadata.image.image import (
    BrokerImage,
    Document,
    Image,
    ImageDelta,
    PartitionImage,
    TopicImage,
    metric_name,
)
from brokers.metadata.image.operation_records import operation_of
from brokers.metadata.image.partition_records import changed_by, partition_of
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.wire.message import Message
from brokers.wire.messages import metadata_records as wire


def replay(image: Image, records: Iterable[Message], next_offset: Offset) -> ImageDelta:
    """Applies the records of one batch, whose last offset is `next_offset` - 1.

    Raises MetadataLogError for a record that contradicts the image, or of an unsupported type.
    """
    change = _Change(image)
    for record in records:
        change.apply(record)
    image.next_offset = next_offset
    return change.finish()


class _Change:
    """The changes of one batch. A topic is rebuilt once per batch, so that n new partitions cost n steps, not n²."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._topics: dict[str, bool] = {}  # name -> whether it is new
        self._partitions: dict[UUID, list[PartitionImage]] = {}
        self._changed: dict[tuple[UUID, int], None] = {}
        self._deleted: dict[str, None] = {}
        self._configs: dict[Resource, None] = {}
        self._documents: dict[tuple[str, str], None] = {}
        self._brokers: dict[int, None] = {}

    def apply(self, record: Message) -> None:
        match record:
            case wire.TopicRecord():
                self._topic(record)
            case wire.PartitionRecord():
                self._partition(record)
            case wire.PartitionChangeRecord():
                self._partition_change(record)
            case wire.RemoveTopicRecord():
                self._remove_topic(record.topic_id)
            case wire.TopicWriterRecord():
                self._put(replace(self._touch(record.topic_id), writer=record.writer))
            case wire.ConfigRecord():
                self._config(record)
            case wire.RegisterBrokerRecord():
                self._register(record)
            case wire.UnregisterBrokerRecord():
                self._unregister(record)
            case wire.FenceBrokerRecord() | wire.UnfenceBrokerRecord():
                self._fence(record)
            case wire.BrokerRegistrationChangeRecord():
                self._broker_change(record)
            case wire.RegisterControllerRecord():
                self._image.controllers[record.controller_id] = controller_of(record)
            case wire.UnregisterControllerRecord():
                self._image.controllers.pop(record.controller_id, None)
            case wire.FeatureLevelRecord():
                self._image.features[record.name] = record.feature_level
            case wire.ProducerIdsRecord():
                self._image.next_producer_id = record.next_producer_id
            case wire.DocumentRecord():
                self._document(record)
            case wire.OperationRecord():
                kept = (each for each in self._image.operations if each.number >= record.oldest)
                self._image.operations = (*kept, operation_of(record))
            case wire.NoOpRecord():
                pass
            case _:
                raise MetadataLogError(f"{type(record).__name__} is not supported")

    def finish(self) -> ImageDelta:
        for topic_id, partitions in self._partitions.items():
            topic = self._image.topics_by_id[topic_id]
            self._put(replace(topic, partitions=tuple(partitions)))
        return ImageDelta(
            topics_created=tuple(name for name, is_new in self._topics.items() if is_new),
            topics_deleted=tuple(self._deleted),
            topics_changed=tuple(name for name, is_new in self._topics.items() if not is_new),
            partitions_changed=tuple(self._partitions_changed()),
            topic_configs_changed=self._configured_topics(),
            documents_changed=tuple(self._documents),
            brokers_changed=tuple(self._brokers),
        )

    def _partitions_changed(self) -> Iterator[TopicPartition]:
        for topic_id, index in self._changed:
            topic = self._image.topics_by_id.get(topic_id)
            if topic is not None and not self._topics[topic.name]:
                yield TopicPartition(topic.name, index)

    def _configured_topics(self) -> tuple[str, ...]:
        if any(kind == ResourceType.BROKER for kind, _ in self._configs):
            return tuple(self._image.topics_by_name)
        names = (name for kind, name in self._configs if kind == ResourceType.TOPIC)
        return tuple(name for name in names if name in self._image.topics_by_name)

    # --- topics ---

    def _topic(self, record: wire.TopicRecord) -> None:
        if record.name in self._image.topics_by_name:
            raise MetadataLogError(f"topic {record.name} is created twice")
        self._topics[record.name] = True
        self._image.topic_names_by_metric[metric_name(record.name)] = record.name
        self._put(TopicImage(record.name, record.topic_id))

    def _touch(self, topic_id: UUID) -> TopicImage:
        topic = self._image.topics_by_id.get(topic_id)
        if topic is None:
            raise MetadataLogError(f"no topic has the id {topic_id}")
        self._topics.setdefault(topic.name, False)
        return topic

    def _put(self, topic: TopicImage) -> None:
        self._image.topics_by_name[topic.name] = topic
        self._image.topics_by_id[topic.id] = topic

    def _draft(self, topic_id: UUID) -> list[PartitionImage]:
        topic = self._touch(topic_id)
        draft = self._partitions.get(topic_id)
        if draft is None:
            draft = self._partitions[topic_id] = list(topic.partitions)
        return draft

    def _partition(self, record: wire.PartitionRecord) -> None:
        partitions, index = self._draft(record.topic_id), record.partition_id
        if not 0 <= index <= len(partitions):
            raise MetadataLogError(f"partition {index} of {record.topic_id} leaves a gap")
        partitions[index : index + 1] = [partition_of(record)]
        self._changed[record.topic_id, index] = None

    def _partition_change(self, record: wire.PartitionChangeRecord) -> None:
        partitions, index = self._draft(record.topic_id), record.partition_id
        if not 0 <= index < len(partitions):
            raise MetadataLogError(f"partition {index} of {record.topic_id} does not exist")
        partitions[index] = changed_by(partitions[index], record)
        self._changed[record.topic_id, index] = None

    def _remove_topic(self, topic_id: UUID) -> None:
        topic = self._touch(topic_id)
        if not self._topics.pop(topic.name):
            self._deleted[topic.name] = None
        self._partitions.pop(topic_id, None)
        del self._image.topics_by_id[topic_id], self._image.topics_by_name[topic.name]
        self._image.topic_names_by_metric.pop(metric_name(topic.name), None)
        self._image.configs.pop((ResourceType.TOPIC, topic.name), None)

    # --- everything else ---

    def _config(self, record: wire.ConfigRecord) -> None:
        resource = (record.resource_type, record.resource_name)
        settings = dict(self._image.config(resource))
        if record.value is None:
            settings.pop(record.name, None)
        else:
            settings[record.name] = record.value
        self._configs[resource] = None
        if settings:
            self._image.configs[resource] = settings
        else:
            self._image.configs.pop(resource, None)

    def _register(self, record: wire.RegisterBrokerRecord) -> None:
        self._brokers[record.broker_id] = None
        self._image.brokers[record.broker_id] = broker_of(record)

    def _unregister(self, record: wire.UnregisterBrokerRecord) -> None:
        self._broker(record.broker_id, record.broker_epoch)
        del self._image.brokers[record.broker_id]

    def _fence(self, record: wire.FenceBrokerRecord | wire.UnfenceBrokerRecord) -> None:
        broker = self._broker(record.id, record.epoch)
        fenced = isinstance(record, wire.FenceBrokerRecord)
        self._image.brokers[record.id] = replace(broker, fenced=fenced)

    def _broker_change(self, record: wire.BrokerRegistrationChangeRecord) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        self._image.brokers[record.broker_id] = broker_changed_by(broker, record)

    def _broker(self, broker_id: int, broker_epoch: int) -> BrokerImage:
        """The registration that a record changes."""
        broker = self._image.brokers.get(broker_id)
        if broker is None or broker.broker_epoch != broker_epoch:
            raise MetadataLogError(f"broker {broker_id} has no registration at {broker_epoch}")
        self._brokers[broker_id] = None
        return broker

    def _document(self, record: wire.DocumentRecord) -> None:
        key = (record.kind, record.name)
        self._documents[key] = None
        if record.body is None:
            self._image.documents.pop(key, None)
        else:
            self._image.documents[key] = Document(*key, record.version, bytes(record.body))
