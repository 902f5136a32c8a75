"""The offline replicas of a partition, for responses to clients."""

from brokers.ids import BrokerId, TopicPartition
from brokers.metadata.image.image import Image
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import TRANSIENT


def offline_replicas(
    image: Image, replicas: HostedPartitions, node_id: BrokerId, partition: TopicPartition
) -> list[BrokerId]:
    """Brokers that are fenced or unregistered or whose log directory failed, and this node if its log failed."""
    state = image.partition(partition)
    if state is None:
        return []
    own = replicas.get(partition)
    is_offline_here = own is not None and own.log is None and own.offline not in TRANSIENT
    offline = []
    for broker_id in state.replicas:
        broker = image.brokers.get(broker_id)
        is_well = (
            broker is not None
            and not broker.fenced
            and broker.has_online_dir(state.directory(broker_id))
        )
        if not is_well or (broker_id == node_id and is_offline_here):
            offline.append(broker_id)
    return offline
