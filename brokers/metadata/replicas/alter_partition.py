"""AlterPartition: a leader proposes in-sync sets (KIP-497, KIP-841, KIP-903)."""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.replica_commands import (
    RECOVERED,
    RECOVERING,
    AlterPartition,
    InSyncChange,
    InSyncMember,
    InSyncOutcome,
)
from brokers.metadata.image.broker_epochs import check_broker_epoch
from brokers.metadata.image.image import Image, PartitionImage
from brokers.metadata.partitions.partition_changes import PartitionChanges


def alter_partition(
    config: BrokerConfig, image: Image, command: AlterPartition
) -> ControllerResult:
    check_broker_epoch(image, command.broker_id, command.broker_epoch)
    changes = PartitionChanges(image, config)
    outcomes = [
        _decide(image, changes, command.broker_id, topic_id, proposal)
        for topic_id, proposals in command.topics
        for proposal in proposals
    ]
    return ControllerResult(tuple(changes.records), tuple(outcomes))


def _decide(
    image: Image,
    changes: PartitionChanges,
    broker_id: BrokerId,
    topic_id: UUID,
    proposal: InSyncChange,
) -> InSyncOutcome:
    try:
        to = _changed(image, changes, broker_id, topic_id, proposal)
    except Refusal as refusal:
        return InSyncOutcome(topic_id=topic_id, partition=proposal.partition, error=refusal.error)
    if to.leader != broker_id:
        # The proposal was accepted and completed a reassignment, by which its sender is no longer the leader.
        error = KafkaError.NEW_LEADER_ELECTED
        return InSyncOutcome(topic_id=topic_id, partition=proposal.partition, error=error)
    return InSyncOutcome(
        topic_id=topic_id,
        partition=proposal.partition,
        leader=to.leader,
        leader_epoch=to.leader_epoch,
        partition_epoch=to.partition_epoch,
        isr=to.isr,
        recovery_state=to.recovery_state,
    )


def _changed(
    image: Image,
    changes: PartitionChanges,
    broker_id: BrokerId,
    topic_id: UUID,
    proposal: InSyncChange,
) -> PartitionImage:
    topic = image.topics_by_id.get(topic_id)
    if topic is None:
        raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
    was = changes.partition(topic, proposal.partition)
    if was is None:
        raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    _check_epochs(was, broker_id, proposal)
    _check_members(image, was, proposal)
    wanted = was._replace(
        isr=tuple(member.broker_id for member in proposal.isr),
        recovery_state=proposal.recovery_state,
    )
    return changes.update(topic, proposal.partition, wanted)


def _check_epochs(was: PartitionImage, broker_id: BrokerId, proposal: InSyncChange) -> None:
    """Checks in Kafka's order. A proposal with higher epochs than the image's means that this controller is stale."""
    leader_epoch, partition_epoch = proposal.leader_epoch, proposal.partition_epoch
    if leader_epoch > was.leader_epoch or partition_epoch > was.partition_epoch:
        raise Refusal(KafkaError.NOT_CONTROLLER)
    if leader_epoch < was.leader_epoch:
        raise Refusal(KafkaError.FENCED_LEADER_EPOCH)
    if broker_id != was.leader:
        raise Refusal(KafkaError.INVALID_REQUEST)
    if partition_epoch < was.partition_epoch:
        raise Refusal(KafkaError.INVALID_UPDATE_VERSION)


def _check_members(image: Image, was: PartitionImage, proposal: InSyncChange) -> None:
    members = [member.broker_id for member in proposal.isr]
    if len(set(members)) < len(members) or not set(members) <= set(was.replicas):
        raise Refusal(KafkaError.INVALID_REQUEST)
    if was.leader not in members or proposal.recovery_state not in (RECOVERED, RECOVERING):
        raise Refusal(KafkaError.INVALID_REQUEST)
    recovers_anew = was.recovery_state == RECOVERED or len(members) > 1
    if proposal.recovery_state == RECOVERING and recovers_anew:
        raise Refusal(KafkaError.INVALID_REQUEST)
    if any(_is_ineligible(image, was, member) for member in proposal.isr):
        raise Refusal(KafkaError.INELIGIBLE_REPLICA)


def _is_ineligible(image: Image, was: PartitionImage, member: InSyncMember) -> bool:
    """A broker that is not active, or has registered again since it fetched; an observer that is not promoted; or a
    replica in an offline directory, of which the leader, or of a later move of which the controller, does not know yet.
    """
    broker = image.brokers.get(member.broker_id)
    if broker is None or not broker.is_active or member.broker_id in was.observers:
        return True
    if not broker.has_online_dir(was.directory(member.broker_id)):
        return True
    return member.broker_epoch not in (-1, broker.broker_epoch)
