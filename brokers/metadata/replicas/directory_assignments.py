"""AssignReplicasToDirs: the log directories of replicas, as brokers report them (KIP-858)."""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.replica_commands import AssignedReplica, AssignReplicasToDirs
from brokers.metadata.image.broker_epochs import check_broker_epoch
from brokers.metadata.image.image import BrokerImage, Image
from brokers.metadata.partitions.partition_changes import PartitionChanges


def assign_replicas(
    config: BrokerConfig, image: Image, command: AssignReplicasToDirs
) -> ControllerResult:
    broker = check_broker_epoch(image, command.broker_id, command.broker_epoch)
    changes = PartitionChanges(image, config)
    outcomes: list[AssignedReplica] = []
    for directory, topic_id, index in command.replicas:
        error = KafkaError.NONE
        try:
            _assign(image, changes, broker, directory, topic_id, index)
        except Refusal as refusal:
            error = refusal.error
        outcomes.append(AssignedReplica(directory, topic_id, index, error))
    return ControllerResult(tuple(changes.records), tuple(outcomes))


def _assign(
    image: Image,
    changes: PartitionChanges,
    broker: BrokerImage,
    directory: UUID,
    topic_id: UUID,
    index: int,
) -> None:
    topic = image.topics_by_id.get(topic_id)
    if topic is None:
        raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
    was = changes.partition(topic, index)
    if was is None:
        raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    if broker.id not in was.replicas:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    wanted = was.with_directory(broker.id, directory)
    # Nothing can be moved out of an offline directory: a replica in another directory was created again, empty. It
    # stays in sync only if the partition has no other replica.
    is_recreated = not broker.has_online_dir(was.directory(broker.id)) and len(was.replicas) > 1
    if is_recreated or not broker.has_online_dir(directory):
        wanted = wanted._replace(isr=tuple(each for each in was.isr if each != broker.id))
    if is_recreated:
        wanted = wanted._replace(
            elr=tuple(each for each in was.elr if each != broker.id),
            last_known_elr=tuple(each for each in was.last_known_elr if each != broker.id),
        )
    changes.update(topic, index, wanted, lost=(broker.id,) if is_recreated else ())
