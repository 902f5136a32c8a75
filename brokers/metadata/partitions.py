"""Rules for adding partitions to a topic."""

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands import CreatePartitions, Growth, TopicOutcome
from brokers.metadata.decision import Budget, Decision, once
from brokers.metadata.image import Image, TopicImage
from brokers.metadata.mirrors import check_writer, find_topic
from brokers.metadata.placement import check_assignment, place
from brokers.metadata.topics import partition_record
from brokers.wire.message import Message


def create_partitions(image: Image, command: CreatePartitions) -> Decision:
    items = {item.name: item for item in command.items}
    records: list[Message] = []
    outcomes: list[TopicOutcome] = []
    budget = Budget()
    for name, is_repeated in once(item.name for item in command.items):
        try:
            if is_repeated:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"topic {name} appears twice in one request"
                )
            topic = find_topic(image, name)
            check_writer(topic, command.writer)
            records += _grow(image, topic, items[name], budget)
        except Refusal as refusal:
            outcomes.append(TopicOutcome(name=name, error=refusal.error, because=refusal.because))
        else:
            outcomes.append(
                TopicOutcome(name=name, topic_id=topic.id, partition_count=items[name].count)
            )
    return Decision(() if command.validate_only else tuple(records), tuple(outcomes))


def _grow(image: Image, topic: TopicImage, growth: Growth, budget: Budget) -> list[Message]:
    have = len(topic.partitions)
    if growth.count <= have:
        because = f"topic {topic.name} has {have} partitions; {growth.count} would not be more"
        raise Refusal(KafkaError.INVALID_PARTITIONS, because)
    added = growth.count - have
    budget.take(added)
    factor = len(topic.partitions[0].replicas)
    if growth.assignments is None:
        placed = place(image, first_partition=have, count=added, replication_factor=factor)
    else:
        placed = _assigned(image, growth, added, factor)
    return [
        partition_record(topic.id, have + index, replicas) for index, replicas in enumerate(placed)
    ]


def _assigned(image: Image, growth: Growth, added: int, factor: int) -> list[tuple[int, ...]]:
    assignments = growth.assignments or ()
    if len(assignments) != added:
        because = f"{added} partitions are added, but {len(assignments)} are assigned"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    check_assignment(image, assignments)
    if len(assignments[0]) != factor:
        because = f"the topic has {factor} replicas of each partition, the assignment {len(assignments[0])}"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    return list(assignments)
