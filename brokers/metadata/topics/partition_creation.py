"""CreatePartitions: adds partitions to topics."""

from brokers.config.broker_config import BrokerConfig
from brokers.config.replica_placement import ReplicaPlacement
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, LeaderEpoch
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.commands.controller_result import ControllerResult, RecordBudget, once
from brokers.metadata.commands.mirror_commands import ELECTION_BITS
from brokers.metadata.commands.topic_commands import (
    DEFAULT,
    CreatePartitions,
    NewPartitions,
    TopicOutcome,
)
from brokers.metadata.image.image import Image, TopicImage
from brokers.metadata.partitions.new_partitions import new_partitions
from brokers.metadata.partitions.replica_placer import Assignment, crowding
from brokers.metadata.topics.assignments import assign, check_assignment, placement_of, with_roles
from brokers.metadata.topics.mirror_topics import check_writer, find_topic
from brokers.wire.message import Message


def create_partitions(
    config: BrokerConfig, image: Image, command: CreatePartitions
) -> ControllerResult:
    items = {item.name: item for item in command.items}
    records: list[Message] = []
    outcomes: list[TopicOutcome] = []
    budget = RecordBudget()
    for name, is_repeated in once(item.name for item in command.items):
        try:
            if is_repeated:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"topic {name} appears twice in one request"
                )
            topic = find_topic(image, name)
            check_writer(topic, command.writer)
            added = _added(config, image, topic, items[name], budget)
            first = len(topic.partitions)
            # All partitions of a topic or none: the last may be refused after the first was created.
            epochs = dict.fromkeys(range(first, first + len(added)), _first_epoch(topic))
            records += [
                *new_partitions(image, config, topic.id, added, first=first, leader_epochs=epochs)
            ]
        except Refusal as refusal:
            outcomes.append(TopicOutcome(name=name, error=refusal.error, because=refusal.because))
        else:
            outcomes.append(
                TopicOutcome(
                    name=name,
                    topic_id=topic.id,
                    partition_count=items[name].count,
                    warning=crowding(image, added),
                )
            )
    return ControllerResult(() if command.validate_only else tuple(records), tuple(outcomes))


def _first_epoch(topic: TopicImage) -> LeaderEpoch:
    """That of the topic's newest cut: another region may have a partition of this number with a history of its own."""
    newest = max(partition.leader_epoch for partition in topic.partitions)
    return newest >> ELECTION_BITS << ELECTION_BITS


def _added(
    config: BrokerConfig, image: Image, topic: TopicImage, item: NewPartitions, budget: RecordBudget
) -> list[Assignment]:
    have = len(topic.partitions)
    if item.count <= have:
        because = f"topic {topic.name} has {have} partitions; {item.count} would not be more"
        raise Refusal(KafkaError.INVALID_PARTITIONS, because)
    added = item.count - have
    budget.take(added)
    placement = placement_of(image.config((ResourceType.TOPIC, topic.name)))
    # During a reassignment: the factor after it.
    now = topic.partitions[0]
    factor = len(now.replicas) - len(now.removing)
    if item.assignments is not None:
        return _assigned(image, item.assignments, added, factor, placement)
    return assign(
        config,
        image,
        topic.name,
        count=added,
        factor=factor if placement is None else DEFAULT,
        placement=placement,
        first_partition=have,
    )


def _assigned(
    image: Image,
    assignments: tuple[tuple[BrokerId, ...], ...],
    added: int,
    factor: int,
    placement: ReplicaPlacement | None,
) -> list[Assignment]:
    if len(assignments) != added:
        because = f"{added} partitions are added, but {len(assignments)} are assigned"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    check_assignment(image, assignments)
    if len(assignments[0]) != factor and placement is None:
        because = f"the topic has {factor} replicas of each partition, the assignment {len(assignments[0])}"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    return [with_roles(image, replicas, placement) for replicas in assignments]
