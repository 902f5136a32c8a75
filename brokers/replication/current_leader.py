"""The current leader in an error response, so that a client needs no metadata request (KIP-951)."""

from collections.abc import Mapping
from typing import NamedTuple

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, TopicPartition
from brokers.metadata.image.image import NO_LEADER, BrokerImage, Image
from brokers.partition.replica import Replica

HINTED = frozenset((KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.FENCED_LEADER_EPOCH))


class CurrentLeader(NamedTuple):
    """From the image; `broker` is None if the leader is fenced or unknown."""

    leader: BrokerId
    leader_epoch: LeaderEpoch
    broker: BrokerImage | None


def current_leader(
    image: Image, held: Mapping[TopicPartition, Replica], partition: TopicPartition
) -> CurrentLeader | None:
    """None if no leader is known, or the partition is unknown."""
    state, replica = image.partition(partition), held.get(partition)
    if state is None or state.leader == NO_LEADER or (replica and replica.knows_no_leader):
        return None
    broker = image.brokers.get(state.leader)
    is_there = broker is not None and not broker.fenced
    return CurrentLeader(state.leader, state.leader_epoch, broker if is_there else None)
