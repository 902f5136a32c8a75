"""Mirror topics, which only their link writes, and changes of the writer (promise P4)."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from brokers.errors import KafkaError, Refusal
from brokers.ids import INTERNAL_TOPICS, LeaderEpoch, Offset
from brokers.metadata.commands.controller_result import ControllerResult, RecordBudget
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
    superseder_of,
)
from brokers.metadata.commands.topic_commands import DEFAULT
from brokers.metadata.image.image import Image, TopicImage, metric_name
from brokers.metadata.image.partition_records import partition_record
from brokers.metadata.partitions.replica_rules import PLACEMENT_KEY
from brokers.metadata.topics.assignments import assign, default_placement, placement_of
from brokers.metadata.topics.topic_creation import TopicCreationContext, check_configs, new_topic
from brokers.metadata.topics.topic_names import check_name_is_free
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import TopicWriterRecord

ItemT = TypeVar("ItemT")


def check_writer(topic: TopicImage, writer: str | None) -> None:
    """Raises Refusal unless `writer` is the topic's: a mirror topic's link, or None for a topic of producers.

    A topic that another region has taken over is an operator's as before.
    """
    if topic.writer == writer or (writer is None and superseder_of(topic.writer) is not None):
        return
    if topic.writer is None:
        because = f"{topic.name} is not a mirror of link {writer}"
    else:
        because = (
            f"{topic.name} is a mirror of link {topic.writer}:"
            " promote it, fail it over or delete the link first"
        )
    raise Refusal(KafkaError.POLICY_VIOLATION, because)


def create_mirror_topic(
    rules: TopicCreationContext, image: Image, command: CreateMirrorTopic
) -> ControllerResult:
    return _create(rules, image, command, {})


def create_mirror_topics(
    rules: TopicCreationContext, image: Image, command: CreateMirrorTopics
) -> ControllerResult:
    """A topic whose name collides with one before it is refused."""
    taken: dict[str, str] = {}

    def create(item: CreateMirrorTopic) -> ControllerResult:
        made = _create(rules, image, item, taken)
        taken[metric_name(item.name)] = item.name
        return made

    return _each(command.items, create)


def _create(
    rules: TopicCreationContext,
    image: Image,
    command: CreateMirrorTopic,
    taken: dict[str, str],
) -> ControllerResult:
    """`taken`: the names of topics that are created in the same batch, by their names in metrics."""
    name, count = command.name, command.partition_count
    check_name_is_free(image, ChainMap(taken, image.topic_names_by_metric), name)
    _check_not_internal(name)
    _check_record(image, command)
    if count < 1:
        raise Refusal(KafkaError.INVALID_PARTITIONS, f"{count} partitions; a topic has at least 1")
    configs = check_configs(name, dict(command.configs))
    RecordBudget().take(2 + len(configs) + count)
    factor = command.replication_factor
    placement = default_placement(rules.config, name) if factor == DEFAULT else ""
    if placement and PLACEMENT_KEY not in configs:
        configs[PLACEMENT_KEY] = placement
    assignments = assign(
        rules.config,
        image,
        name,
        count=count,
        factor=factor,
        placement=placement_of(configs),
        topics_before=len(taken),
    )
    records, outcome = new_topic(rules, image, name, assignments, configs, command.leader_epochs)
    writer = TopicWriterRecord(topic_id=outcome.topic_id, writer=command.writer)
    return ControllerResult((*records, writer), outcome)


def _check_record(image: Image, command: CreateMirrorTopic) -> None:
    """Raises Refusal where the command is late: the mirror's record is not the one that it was decided upon."""
    kind, name = command.record_kind, command.name
    if kind and not image.document_version(kind, name):
        because = f"{kind} {name} was removed meanwhile"
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION, because)
    if kind and command.record_version:
        _check_version(image, kind, name, command.record_version)


def _check_version(image: Image, kind: str, name: str, expected: Offset) -> None:
    """Raises Refusal where the document is another one than was expected; 0: none."""
    version = image.document_version(kind, name)
    if version != expected:
        because = f"{kind} {name} is at version {version}, not {expected}"
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION, because)


def _each(items: Iterable[ItemT], decide: Callable[[ItemT], ControllerResult]) -> ControllerResult:
    """One batch of records for all of them. An item that is refused leaves the others as they are."""
    budget = RecordBudget()
    records: list[Message] = []
    results: list[object] = []
    for item in items:
        try:
            decided = decide(item)
        except Refusal as refusal:
            results.append(refusal)
            continue
        budget.take(len(decided.records))
        records += decided.records
        results.append(decided.result)
    return ControllerResult(tuple(records), tuple(results))


def _once(
    topic_of: Callable[[ItemT], str], decide: Callable[[ItemT], ControllerResult]
) -> Callable[[ItemT], ControllerResult]:
    """A topic that appears again is refused, as the second change would not see the first."""
    seen: set[str] = set()

    def decide_once(item: ItemT) -> ControllerResult:
        if topic_of(item) in seen:
            raise Refusal(KafkaError.INVALID_REQUEST, f"{topic_of(item)} appears twice")
        decided = decide(item)
        seen.add(topic_of(item))
        return decided

    return decide_once


def _check_not_internal(name: str) -> None:
    if name in INTERNAL_TOPICS:
        raise Refusal(
            KafkaError.POLICY_VIOLATION, f"{name} is the coordinator's own: no link writes it"
        )


def set_topic_writer(image: Image, command: SetTopicWriter) -> ControllerResult:
    topic = find_topic(image, command.topic)
    if command.expected_writer is not None or superseder_of(topic.writer) is None:
        check_writer(topic, command.expected_writer)
    else:
        because = f"{topic.name} was taken over by another region meanwhile"
        raise Refusal(KafkaError.POLICY_VIOLATION, because)
    _check_not_internal(topic.name)
    _check_decided_upon(image, topic, command)
    # A new writer begins a new leader epoch, so that the records of the two writers can be distinguished.
    wanted = {
        index: max(partition.leader_epoch + 1, command.leader_epochs.get(index, 0))
        for index, partition in enumerate(topic.partitions)
    }
    records, epochs = _raise(topic, wanted)
    writer = TopicWriterRecord(topic_id=topic.id, writer=command.writer)
    return ControllerResult((writer, *records), epochs)


def _check_decided_upon(image: Image, topic: TopicImage, command: SetTopicWriter) -> None:
    """Raises Refusal where the command is late: the topic, or a document, is not the one that it was decided upon."""
    if command.topic_id not in (None, topic.id):
        because = f"{topic.name} was deleted meanwhile, and made anew"
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION, because)
    for (kind, name), expected in command.expected_versions.items():
        _check_version(image, kind, name, expected)


def set_topic_writers(image: Image, command: SetTopicWriters) -> ControllerResult:
    return _each(
        command.items, _once(lambda item: item.topic, lambda item: set_topic_writer(image, item))
    )


def raise_leader_epochs(image: Image, command: RaiseLeaderEpochs) -> ControllerResult:
    topic = find_topic(image, command.topic)
    unknown = [index for index in command.leader_epochs if not 0 <= index < len(topic.partitions)]
    if unknown:
        because = f"{topic.name} has no partition {unknown[0]}"
        raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, because)
    records, epochs = _raise(topic, command.leader_epochs)
    return ControllerResult(tuple(records), epochs)


def raise_leader_epochs_of_topics(
    image: Image, command: RaiseLeaderEpochsOfTopics
) -> ControllerResult:
    return _each(
        command.items, _once(lambda item: item.topic, lambda item: raise_leader_epochs(image, item))
    )


def find_topic(image: Image, name: str) -> TopicImage:
    topic = image.topics_by_name.get(name)
    if topic is None:
        raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
    return topic


def _raise(
    topic: TopicImage, wanted: Mapping[int, LeaderEpoch]
) -> tuple[list[Message], dict[int, LeaderEpoch]]:
    """Writes whole partition records, as Kafka's PartitionChangeRecord raises a leader epoch by one only."""
    records: list[Message] = []
    epochs: dict[int, LeaderEpoch] = {}
    for index, leader_epoch in sorted(wanted.items()):
        was = topic.partitions[index]
        epochs[index] = max(was.leader_epoch, leader_epoch)
        if leader_epoch <= was.leader_epoch:
            continue
        to = was._replace(leader_epoch=leader_epoch, partition_epoch=was.partition_epoch + 1)
        records.append(partition_record(topic.id, index, to))
    return records, epochs
