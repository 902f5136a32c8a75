"""Who leads instead: said with a refusal, so that a client moves without asking for metadata (KIP-951)."""

from collections.abc import Mapping
from typing import NamedTuple

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, TopicPartition
from brokers.metadata.image.image import NO_LEADER, BrokerImage, Image
from brokers.partition.replica import Replica

HINTED = frozenset((KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.FENCED_LEADER_EPOCH))


class CurrentLeader(NamedTuple):
    """As the image has it; `broker` is None where it can't be reached now."""

    leader: BrokerId
    leader_epoch: LeaderEpoch
    broker: BrokerImage | None


def current_leader(
    image: Image, held: Mapping[TopicPartition, Replica], partition: TopicPartition
) -> CurrentLeader | None:
    """None where nobody is known to lead, or the partition is unknown."""
    placed, replica = image.partition(partition), held.get(partition)
    if placed is None or placed.leader == NO_LEADER or (replica and replica.knows_no_leader):
        return None
    broker = image.brokers.get(placed.leader)
    is_there = broker is not None and not broker.fenced
    return CurrentLeader(placed.leader, placed.leader_epoch, broker if is_there else None)
