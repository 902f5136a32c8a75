"""New partitions: every active replica is in sync, as there is nothing to copy yet."""

from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.ids import UNASSIGNED_DIRECTORY, BrokerId, LeaderEpoch
from brokers.metadata.image.image import NO_LEADER, Image, PartitionImage
from brokers.metadata.image.partition_records import partition_record
from brokers.metadata.partitions.leader_elector import LeaderElector
from brokers.metadata.partitions.replica_placer import Assignment
from brokers.wire.messages.metadata_records import PartitionRecord


def new_partitions(
    image: Image,
    config: BrokerConfig,
    topic_id: UUID,
    assignments: Iterable[Assignment],
    *,
    first: int = 0,
    leader_epochs: Mapping[int, LeaderEpoch] | None = None,
) -> Iterator[PartitionRecord]:
    """One record per partition; leader epochs begin as given, or at 0.

    Raises Refusal for a partition without an active replica.
    """
    elector = LeaderElector(image, config.preferred_racks)
    directories = {broker_id: directory(image, broker_id) for broker_id in image.brokers}
    epochs = leader_epochs or {}
    for index, (replicas, observers) in enumerate(assignments, first):
        followers = [replica for replica in replicas if replica not in observers]
        made = PartitionImage(
            leader=NO_LEADER,
            leader_epoch=epochs.get(index, 0),
            partition_epoch=0,
            replicas=replicas,
            isr=tuple(replica for replica in followers if replica in elector.active),
            observers=observers,
            directories=tuple(directories[replica] for replica in replicas),
        )
        leader = next((each for each in elector.order(made) if each in made.isr), None)
        if leader is None:
            because = f"brokers {followers} of partition {index} are all fenced or shut down"
            raise Refusal(KafkaError.INVALID_REPLICA_ASSIGNMENT, because)
        yield partition_record(topic_id, index, made._replace(leader=leader))


def directory(image: Image, broker_id: BrokerId) -> UUID:
    """The directory of a new replica: the broker's only log directory, else UNASSIGNED_DIRECTORY."""
    broker = image.brokers.get(broker_id)
    if broker is None or len(broker.log_dirs) != 1:
        return UNASSIGNED_DIRECTORY
    return broker.log_dirs[0]
