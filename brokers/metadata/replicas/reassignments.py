"""AlterPartitionReassignments (KIP-455).

The new replicas are added at once and fetch; when they are in sync, the old ones are removed. A reassignment does not
wait for observers. The topic's placement decides which of the new replicas are observers: the last ones.
"""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.commands.controller_result import ControllerResult, once
from brokers.metadata.commands.replica_commands import (
    AlterPartitionReassignments,
    PartitionOutcome,
    Reassignment,
)
from brokers.metadata.image.image import Image, PartitionImage, TopicImage
from brokers.metadata.partitions.leader_elector import Election
from brokers.metadata.partitions.new_partitions import directory
from brokers.metadata.partitions.partition_changes import PartitionChanges
from brokers.metadata.partitions.replica_placer import Assignment
from brokers.metadata.topics.assignments import (
    check_replicas,
    check_room,
    placement_of,
    with_roles,
)
from brokers.metadata.topics.mirror_topics import find_topic


def alter_reassignments(
    config: BrokerConfig, image: Image, command: AlterPartitionReassignments
) -> ControllerResult:
    changes = PartitionChanges(image, config)
    items = {item.partition: item for item in command.items}
    outcomes: list[PartitionOutcome] = []
    for name, is_repeated in once(item.partition for item in command.items):
        try:
            if is_repeated:
                because = f"partition {name} appears twice in one request"
                raise Refusal(KafkaError.INVALID_REQUEST, because)
            _alter(image, changes, items[name], may_change_factor=command.may_change_factor)
        except Refusal as refusal:
            outcomes.append(PartitionOutcome(name, refusal.error, refusal.because))
        else:
            outcomes.append(PartitionOutcome(name))
    return ControllerResult(tuple(changes.records), tuple(outcomes))


def _alter(
    image: Image, changes: PartitionChanges, item: Reassignment, *, may_change_factor: bool
) -> None:
    topic = find_topic(image, item.partition.topic)
    was = changes.partition(topic, item.partition.partition)
    if was is None:
        because = f"there is no partition {item.partition}"
        raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, because)
    if item.replicas is None:
        _cancel(changes, topic, item.partition, was)
        return
    check_replicas(image, item.replicas)
    _check_in_service(image, was, item.replicas)
    check_room(image, (each for each in item.replicas if each not in was.replicas))
    factor = len(was.replicas) - len(was.removing)  # of a reassignment in progress: the target's
    if not may_change_factor and len(item.replicas) != factor:
        because = (
            f"{item.partition} has {factor} replicas, the new set"
            f" {len(item.replicas)}: allow a change of the replication factor, or keep it"
        )
        raise Refusal(KafkaError.INVALID_REPLICATION_FACTOR, because)
    placement = placement_of(image.config((ResourceType.TOPIC, topic.name)))
    assignment = with_roles(image, item.replicas, placement)
    wanted = moving(image, was, assignment)
    _check_roles(changes, topic, item.partition, was, wanted)
    changes.update(topic, item.partition.partition, wanted)


def _check_in_service(image: Image, was: PartitionImage, replicas: tuple[BrokerId, ...]) -> None:
    for each in replicas:
        if each not in was.replicas and not image.brokers[each].is_active:
            because = f"broker {each} is fenced or shuts down, and could not copy: start it first"
            raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)


def moving(image: Image, was: PartitionImage, to: Assignment) -> PartitionImage:
    """The new replicas in their order, then those that are removed at the end of the reassignment."""
    eligible = {*was.isr, *was.elr, *was.last_known_elr}
    kept = tuple(each for each in was.replicas if each not in was.adding or each in eligible)
    removing = tuple(each for each in kept if each not in to.replicas)
    replicas = (*to.replicas, *removing)
    observers = (
        *(each for each in to.observers if each not in was.promoted),
        *(each for each in removing if each in was.observers),
    )
    promoted = tuple(each for each in was.promoted if each in to.observers or each in removing)
    return was._replace(
        replicas=replicas,
        isr=tuple(each for each in was.isr if each in replicas and each not in observers),
        elr=tuple(each for each in was.elr if each in replicas),
        observers=observers,
        promoted=promoted,
        adding=tuple(
            each for each in to.replicas if each not in was.replicas or each in was.adding
        ),
        removing=removing,
        directories=_directories(image, was, replicas),
    )


def _directories(
    image: Image, was: PartitionImage, replicas: tuple[BrokerId, ...]
) -> tuple[UUID, ...]:
    homes = dict(zip(was.replicas, was.directories, strict=False))
    return tuple(homes.get(each, directory(image, each)) for each in replicas)


def _check_roles(
    changes: PartitionChanges,
    topic: TopicImage,
    name: TopicPartition,
    was: PartitionImage,
    wanted: PartitionImage,
) -> None:
    """Raises Refusal where too few stay in sync: a replica that becomes an observer leaves the in-sync set at once."""
    demoted = [each for each in was.isr if each in wanted.observers]
    enough = min(changes.rules(topic.name).min_isr, len(was.isr))
    can_lead = any(changes.elector.is_available(wanted, each) for each in wanted.isr)
    if demoted and (len(wanted.isr) < enough or not can_lead):
        because = (
            f"replicas {demoted} of {name} would become observers, and too few others are in sync:"
            " add replicas first, and change these when they have caught up"
        )
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)


def _cancel(
    changes: PartitionChanges, topic: TopicImage, name: TopicPartition, was: PartitionImage
) -> None:
    if not was.is_reassigning:
        because = f"{name} is not being reassigned"
        raise Refusal(KafkaError.NO_REASSIGNMENT_IN_PROGRESS, because)
    replicas = tuple(each for each in was.replicas if each not in was.adding)
    isr = tuple(each for each in was.isr if each in replicas)
    elr = tuple(each for each in was.elr if each in replicas)
    last_known = tuple(each for each in was.last_known_elr if each in replicas)
    is_unclean = not (isr or elr or last_known)
    can_lead = any(changes.elector.is_available(was, each) for each in replicas)
    if is_unclean and not (changes.rules(topic.name).is_unclean_allowed and can_lead):
        because = (
            f"all that is in sync of {name} are replicas that were added: going back would lose records."
            " Let it complete, or set unclean.leader.election.enable"
        )
        raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
    homes = dict(zip(was.replicas, was.directories, strict=False))
    wanted = was._replace(
        replicas=replicas,
        isr=isr,
        elr=elr,
        last_known_elr=last_known,
        observers=tuple(each for each in was.observers if each in replicas),
        promoted=tuple(each for each in was.promoted if each in replicas),
        adding=(),
        removing=(),
        directories=tuple(homes[each] for each in replicas if each in homes),
    )
    election = Election.UNCLEAN if is_unclean else Election.ANY
    changes.update(topic, name.partition, wanted, election)
