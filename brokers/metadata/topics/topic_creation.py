"""CreateTopics."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.config.replica_placement import ReplicaPlacement
from brokers.errors import KafkaError, Refusal
from brokers.ids import INTERNAL_TOPICS, NO_ID, OFFSETS_TOPIC, LeaderEpoch
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.commands.controller_result import ControllerResult, RecordBudget, once
from brokers.metadata.commands.topic_commands import DEFAULT, CreateTopics, NewTopic, TopicOutcome
from brokers.metadata.configs import config_keys
from brokers.metadata.image.image import Image, metric_name
from brokers.metadata.partitions.new_partitions import new_partitions
from brokers.metadata.partitions.replica_placer import Assignment, crowding
from brokers.metadata.partitions.replica_rules import PLACEMENT_KEY
from brokers.metadata.topics.assignments import (
    assign,
    check_assignment,
    default_placement,
    placement_of,
    with_roles,
)
from brokers.metadata.topics.topic_names import check_name_is_free
from brokers.ports import Rng
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import ConfigRecord, TopicRecord

_RESERVED_IDS = (NO_ID, UUID(int=1))  # Kafka's: no id, and the metadata log's


@dataclass(frozen=True, slots=True)
class TopicCreationContext:
    """What creating topics needs besides the image."""

    config: BrokerConfig
    rng: Rng


def internal_topic(name: str, config: BrokerConfig) -> NewTopic:
    """A coordinator's topic as Kafka creates it; the controller chooses its replication factor."""
    assert name in INTERNAL_TOPICS, name
    count = config.offsets_topic_num_partitions if name == OFFSETS_TOPIC else 50
    segment_bytes = config.offsets_topic_segment_bytes if name == OFFSETS_TOPIC else 100 << 20
    configs = {"cleanup.policy": "compact", "segment.bytes": str(segment_bytes)}
    return NewTopic(name=name, partition_count=count, configs=configs)


def create_topics(
    rules: TopicCreationContext, image: Image, command: CreateTopics
) -> ControllerResult:
    items = {item.name: item for item in command.items}
    records: list[Message] = []
    outcomes: list[TopicOutcome] = []
    budget, taken = RecordBudget(), dict(image.topic_names_by_metric)
    for name, is_repeated in once(item.name for item in command.items):
        try:
            if is_repeated:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"topic {name} appears twice in one request"
                )
            check_name_is_free(image, taken, name)
            before = len(taken) - len(image.topic_names_by_metric)
            made, outcome = _create(rules, image, items[name], budget, before)
        except Refusal as refusal:
            outcomes.append(TopicOutcome(name=name, error=refusal.error, because=refusal.because))
            continue
        taken[metric_name(name)] = name
        records += made
        outcomes.append(outcome)
    return ControllerResult(() if command.validate_only else tuple(records), tuple(outcomes))


def check_configs(topic: str, configs: Mapping[str, str | None]) -> dict[str, str]:
    """The configuration of a new topic. Raises Refusal INVALID_CONFIG for the first invalid value."""
    for name, value in configs.items():
        because = (
            "no value" if value is None else config_keys.topic_config_error(topic, name, value)
        )
        if because:
            raise Refusal(KafkaError.INVALID_CONFIG, because if value else f"{name}: {because}")
    return {name: value for name, value in configs.items() if value is not None}


def new_topic_id(rng: Rng) -> UUID:
    """A random topic id that is not reserved."""
    while (topic_id := UUID(bytes=rng.randbytes(16), version=4)) in _RESERVED_IDS:
        continue
    return topic_id


def _create(
    rules: TopicCreationContext,
    image: Image,
    item: NewTopic,
    budget: RecordBudget,
    topics_before: int,
) -> tuple[list[Message], TopicOutcome]:
    configs = _configs(rules.config, item)
    placement = placement_of(configs)
    if item.assignments:
        assignments = _manual_assignments(image, item, placement, budget)
    else:
        count = _partition_count(rules.config, item)
        budget.take(count)
        assignments = assign(
            rules.config,
            image,
            item.name,
            count=count,
            factor=item.replication_factor,
            placement=placement,
            topics_before=topics_before,
        )
    checked = check_configs(item.name, configs)
    budget.take(1 + len(checked))
    return new_topic(rules, image, item.name, assignments, checked)


def new_topic(
    rules: TopicCreationContext,
    image: Image,
    name: str,
    assignments: list[Assignment],
    configs: Mapping[str, str],
    leader_epochs: Mapping[int, LeaderEpoch] | None = None,
) -> tuple[list[Message], TopicOutcome]:
    """The records of a new topic; its partitions begin at the given leader epochs, or at 0."""
    topic_id = new_topic_id(rules.rng)
    settings = [
        ConfigRecord(
            resource_type=ResourceType.TOPIC, resource_name=name, name=key, value=configs[key]
        )
        for key in sorted(configs)
    ]
    partitions = new_partitions(
        image, rules.config, topic_id, assignments, leader_epochs=leader_epochs
    )
    outcome = TopicOutcome(
        name=name,
        topic_id=topic_id,
        partition_count=len(assignments),
        replication_factor=len(assignments[0].replicas),
        warning=crowding(image, assignments),
    )
    return [TopicRecord(name=name, topic_id=topic_id), *settings, *partitions], outcome


def _configs(config: BrokerConfig, item: NewTopic) -> Mapping[str, str | None]:
    """The topic's configuration, with the default placement unless a placement, replicas or their number are given."""
    is_free = not item.assignments and item.replication_factor == DEFAULT
    placement = default_placement(config, item.name)
    if not placement or not is_free or PLACEMENT_KEY in item.configs:
        return item.configs
    return {**item.configs, PLACEMENT_KEY: placement}


def _partition_count(config: BrokerConfig, item: NewTopic) -> int:
    count = config.num_partitions if item.partition_count == DEFAULT else item.partition_count
    if count < 1:
        raise Refusal(KafkaError.INVALID_PARTITIONS, f"{count} partitions; a topic has at least 1")
    return count


def _manual_assignments(
    image: Image, item: NewTopic, placement: ReplicaPlacement | None, budget: RecordBudget
) -> list[Assignment]:
    if item.partition_count != DEFAULT or item.replication_factor != DEFAULT:
        because = "with an assignment, the partition count and the replication factor must be -1"
        raise Refusal(KafkaError.INVALID_REQUEST, because)
    if sorted(index for index, _ in item.assignments) != list(range(len(item.assignments))):
        because = "assigned partitions must be numbered 0, 1, 2 ... without a gap"
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    budget.take(len(item.assignments))
    assigned = [replicas for _, replicas in sorted(item.assignments)]
    check_assignment(image, assigned)
    return [with_roles(image, replicas, placement) for replicas in assigned]
