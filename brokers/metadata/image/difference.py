"""The delta between two images whose records are not known, as an image was replaced by a snapshot."""

from collections.abc import Mapping
from typing import TypeVar

from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import Image, ImageDelta, TopicImage

Key = TypeVar("Key")


def difference(before: Image, after: Image) -> ImageDelta:
    """The delta that `replay` would return. A topic that was deleted and created again is in both lists."""
    deleted = [
        topic for topic in before.topics_by_id.values() if topic.id not in after.topics_by_id
    ]
    new = [topic for topic in after.topics_by_id.values() if topic.id not in before.topics_by_id]
    changed = [
        topic
        for topic in after.topics_by_id.values()
        if topic.id in before.topics_by_id and before.topics_by_id[topic.id] != topic
    ]
    return ImageDelta(
        topics_created=tuple(topic.name for topic in new),
        topics_deleted=tuple(topic.name for topic in deleted),
        topics_changed=tuple(topic.name for topic in changed),
        partitions_changed=tuple(
            partition
            for topic in (*new, *changed)
            for partition in _partitions(before.topics_by_id.get(topic.id), topic)
        ),
        topic_configs_changed=_configured(before, after),
        documents_changed=tuple(_changed(before.documents, after.documents)),
        brokers_changed=tuple(_changed(before.brokers, after.brokers)),
    )


def _partitions(before: TopicImage | None, after: TopicImage) -> list[TopicPartition]:
    """The partitions that were added or changed."""
    old = () if before is None else before.partitions
    return [
        TopicPartition(after.name, index)
        for index, partition in enumerate(after.partitions)
        if index >= len(old) or old[index] != partition
    ]


def _configured(before: Image, after: Image) -> tuple[str, ...]:
    resources = _changed(before.configs, after.configs)
    if any(kind == ResourceType.BROKER for kind, _ in resources):
        return tuple(after.topics_by_name)
    names = (name for kind, name in resources if kind == ResourceType.TOPIC)
    return tuple(name for name in names if name in after.topics_by_name)


def _changed(before: Mapping[Key, object], after: Mapping[Key, object]) -> list[Key]:
    """Keys whose value was changed, added or removed."""
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]
