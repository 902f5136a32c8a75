"""Rules for creating topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from brokers.config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.ids import INTERNAL_TOPICS, OFFSETS_TOPIC, BrokerId, LeaderEpoch
from brokers.metadata import config_keys
from brokers.metadata.commands import (
    DEFAULT,
    NO_ID,
    CreateTopics,
    NewTopic,
    ResourceType,
    TopicOutcome,
)
from brokers.metadata.decision import Budget, Decision, once
from brokers.metadata.image import Image, metric_name
from brokers.metadata.names import check_name_is_free
from brokers.metadata.placement import check_assignment, place
from brokers.ports import Rng
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import (
    ConfigRecord,
    PartitionRecord,
    TopicRecord,
)

_RESERVED_IDS = (NO_ID, UUID(int=1))  # "no id", and that of the metadata log


@dataclass(frozen=True, slots=True)
class Rules:
    """What creation needs besides the image."""

    config: BrokerConfig
    rng: Rng


def internal_topic(name: str, config: BrokerConfig) -> NewTopic:
    """How a coordinator's topic is created, as Kafka creates it."""
    assert name in INTERNAL_TOPICS, name
    count = config.offsets_topic_num_partitions if name == OFFSETS_TOPIC else 50
    configs = {"cleanup.policy": "compact", "segment.bytes": "104857600"}
    return NewTopic(name=name, partition_count=count, replication_factor=1, configs=configs)


def create_topics(rules: Rules, image: Image, command: CreateTopics) -> Decision:
    items = {item.name: item for item in command.items}
    records: list[Message] = []
    outcomes: list[TopicOutcome] = []
    budget, taken = Budget(), dict(image.topic_names_by_metric)
    for name, is_repeated in once(item.name for item in command.items):
        try:
            if is_repeated:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"topic {name} appears twice in one request"
                )
            check_name_is_free(image, taken, name)
            made, outcome = _create(rules, image, items[name], budget)
        except Refusal as refusal:
            outcomes.append(TopicOutcome(name=name, error=refusal.error, because=refusal.because))
            continue
        taken[metric_name(name)] = name
        records += made
        outcomes.append(outcome)
    return Decision(() if command.validate_only else tuple(records), tuple(outcomes))


def check_configs(topic: str, configs: Mapping[str, str | None]) -> dict[str, str]:
    """The settings of a new topic; refuses the first that is wrong."""
    for name, value in configs.items():
        because = "no value" if value is None else config_keys.problem(topic, name, value)
        if because:
            raise Refusal(KafkaError.INVALID_CONFIG, because if value else f"{name}: {because}")
    return {name: value for name, value in configs.items() if value is not None}


def new_topic_id(rng: Rng) -> UUID:
    """A random id that means nothing else."""
    while (topic_id := UUID(bytes=rng.randbytes(16), version=4)) in _RESERVED_IDS:
        continue
    return topic_id


def _create(
    rules: Rules, image: Image, item: NewTopic, budget: Budget
) -> tuple[list[Message], TopicOutcome]:
    assignment = _assignment(rules.config, image, item, budget)
    configs = check_configs(item.name, item.configs)
    budget.take(1 + len(configs))
    topic_id = new_topic_id(rules.rng)
    outcome = TopicOutcome(
        name=item.name,
        topic_id=topic_id,
        partition_count=len(assignment),
        replication_factor=len(assignment[0]),
    )
    return topic_records(item.name, topic_id, assignment, configs), outcome


def topic_records(
    name: str,
    topic_id: UUID,
    assignment: list[tuple[BrokerId, ...]],
    configs: Mapping[str, str],
    leader_epochs: Mapping[int, LeaderEpoch] | None = None,
) -> list[Message]:
    """A new topic; its partitions begin at the given leader epochs, or 0."""
    epochs = leader_epochs or {}
    partitions = [
        partition_record(topic_id, index, replicas, leader_epoch=epochs.get(index, 0))
        for index, replicas in enumerate(assignment)
    ]
    settings = [
        ConfigRecord(
            resource_type=ResourceType.TOPIC, resource_name=name, name=key, value=configs[key]
        )
        for key in sorted(configs)
    ]
    return [TopicRecord(name=name, topic_id=topic_id), *settings, *partitions]


def partition_record(
    topic_id: UUID,
    index: int,
    replicas: tuple[BrokerId, ...],
    *,
    leader_epoch: LeaderEpoch = 0,
    partition_epoch: int = 0,
) -> PartitionRecord:
    """A partition whose replicas are all in sync, led by the first."""
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=list(replicas),
        leader=replicas[0],
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )


def _assignment(
    config: BrokerConfig, image: Image, item: NewTopic, budget: Budget
) -> list[tuple[BrokerId, ...]]:
    if item.assignments:
        return _manual_assignment(image, item, budget)
    count = config.num_partitions if item.partition_count == DEFAULT else item.partition_count
    if count < 1:
        raise Refusal(KafkaError.INVALID_PARTITIONS, f"{count} partitions; a topic has at least 1")
    factor = item.replication_factor
    factor = config.default_replication_factor if factor == DEFAULT else factor
    if factor < 1:
        raise Refusal(
            KafkaError.INVALID_REPLICATION_FACTOR, f"{factor} replicas; there is at least 1"
        )
    budget.take(count)
    return place(image, first_partition=0, count=count, replication_factor=factor)


def _manual_assignment(image: Image, item: NewTopic, budget: Budget) -> list[tuple[BrokerId, ...]]:
    if item.partition_count != DEFAULT or item.replication_factor != DEFAULT:
        because = "with an assignment, the partition count and the replication factor must be -1"
        raise Refusal(KafkaError.INVALID_REQUEST, because)
    if sorted(index for index, _ in item.assignments) != list(range(len(item.assignments))):
        because = "assigned partitions must be numbered 0, 1, 2 ... without a gap"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    budget.take(len(item.assignments))
    assignment = [tuple(replicas) for _, replicas in sorted(item.assignments)]
    check_assignment(image, assignment)
    return assignment
