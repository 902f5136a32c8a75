"""ElectLeaders, and the periodic move of leaderships to preferred replicas."""

from collections.abc import Iterator

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.replica_commands import ElectionType, ElectLeaders, PartitionOutcome
from brokers.metadata.image.image import NO_LEADER, Image, PartitionImage, TopicImage
from brokers.metadata.partitions.leader_elector import Election
from brokers.metadata.partitions.partition_changes import PartitionChanges

BALANCED_MAX = 1_000  # leaders moved by one decision; Kafka's MAX_ELECTIONS_PER_IMBALANCE


def elect_leaders(config: BrokerConfig, image: Image, command: ElectLeaders) -> ControllerResult:
    changes = PartitionChanges(image, config)
    names = command.partitions
    chosen = _everything(image) if names is None else dict.fromkeys(names)
    outcomes = [_elect(image, changes, command.election, name) for name in chosen]
    if names is None:
        outcomes = [each for each in outcomes if each.error is not KafkaError.ELECTION_NOT_NEEDED]
    return ControllerResult(tuple(changes.records), tuple(outcomes))


def balance_leaders(config: BrokerConfig, image: Image) -> ControllerResult:
    changes = PartitionChanges(image, config)
    left = 0
    for topic, index, partition in changes.partitions():
        if not _could_be_better(changes, partition):
            continue
        if len(changes.records) >= BALANCED_MAX:
            left += 1
        else:
            changes.update(topic, index, partition, Election.PREFERRED)
    return ControllerResult(tuple(changes.records), left)


def _everything(image: Image) -> Iterator[TopicPartition]:
    for topic in image.topics_by_name.values():
        yield from topic.each()


def _elect(
    image: Image, changes: PartitionChanges, kind: ElectionType, name: TopicPartition
) -> PartitionOutcome:
    topic = image.topics_by_name.get(name.topic)
    partition = None if topic is None else changes.partition(topic, name.partition)
    if topic is None or partition is None:
        error = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionOutcome(name, error, f"there is no partition {name}")
    if kind is ElectionType.PREFERRED:
        return _elect_preferred(changes, topic, name, partition)
    if partition.leader != NO_LEADER:
        return PartitionOutcome(name, KafkaError.ELECTION_NOT_NEEDED, f"{name} has a leader")
    if changes.update(topic, name.partition, partition, Election.UNCLEAN).leader == NO_LEADER:
        because = f"none of the replicas {list(partition.replicas)} is in service"
        return PartitionOutcome(name, KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE, because)
    return PartitionOutcome(name)


def _elect_preferred(
    changes: PartitionChanges, topic: TopicImage, name: TopicPartition, partition: PartitionImage
) -> PartitionOutcome:
    preferred = changes.elector.order(partition)[0]
    if partition.leader == preferred:
        because = f"the preferred replica {preferred} leads"
        return PartitionOutcome(name, KafkaError.ELECTION_NOT_NEEDED, because)
    settled = changes.update(topic, name.partition, partition, Election.PREFERRED)
    if settled.leader == partition.leader:
        because = f"the preferred replica {preferred} is not in sync or not in service"
        return PartitionOutcome(name, KafkaError.PREFERRED_LEADER_NOT_AVAILABLE, because)
    return PartitionOutcome(name)


def _could_be_better(changes: PartitionChanges, partition: PartitionImage) -> bool:
    if partition.leader == partition.replicas[0] and not changes.elector.has_preferences:
        return False
    return changes.elector.elect(partition, Election.PREFERRED).leader != partition.leader
