"""The classic group's states, as tables: the valid transitions, and the error of each member request by state.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
               ^          |                |                |
               |          v                |                |
               |        Empty              |                |
               '---------------------------+----------------'

Any state may become Dead: the group is deleted, or its partition is unloaded.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from brokers.errors import KafkaError


class GroupState(Enum):
    """Kafka's ClassicGroupState, by the names that Kafka's tools print."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"  # the members have to rejoin
    COMPLETING_REBALANCE = "CompletingRebalance"  # waits for the leader's assignment
    STABLE = "Stable"
    DEAD = "Dead"


VALID_TRANSITIONS: Mapping[GroupState, tuple[GroupState, ...]] = MappingProxyType(
    {
        GroupState.EMPTY: (GroupState.PREPARING_REBALANCE, GroupState.DEAD),
        GroupState.PREPARING_REBALANCE: (
            GroupState.COMPLETING_REBALANCE,
            GroupState.EMPTY,
            GroupState.DEAD,
        ),
        GroupState.COMPLETING_REBALANCE: (
            GroupState.STABLE,
            GroupState.PREPARING_REBALANCE,
            GroupState.DEAD,
        ),
        GroupState.STABLE: (GroupState.PREPARING_REBALANCE, GroupState.DEAD),
        GroupState.DEAD: (),
    }
)


class MemberApi(Enum):
    """The requests of a member of the current generation."""

    SYNC = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    COMMIT = "OffsetCommit"


# Kafka's errors; NONE: the request is valid. A heartbeat in CompletingRebalance is valid, as a member may send one as
# soon as it has its JoinGroup response.
MEMBER_API_ERRORS: Mapping[MemberApi, Mapping[GroupState, KafkaError]] = MappingProxyType(
    {
        MemberApi.SYNC: MappingProxyType(
            {
                GroupState.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                GroupState.PREPARING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                GroupState.COMPLETING_REBALANCE: KafkaError.NONE,
                GroupState.STABLE: KafkaError.NONE,
                GroupState.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
        MemberApi.HEARTBEAT: MappingProxyType(
            {
                GroupState.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                GroupState.PREPARING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                GroupState.COMPLETING_REBALANCE: KafkaError.NONE,
                GroupState.STABLE: KafkaError.NONE,
                GroupState.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
        MemberApi.COMMIT: MappingProxyType(
            {
                GroupState.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                GroupState.PREPARING_REBALANCE: KafkaError.NONE,  # the old generation's progress
                GroupState.COMPLETING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                GroupState.STABLE: KafkaError.NONE,
                GroupState.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
    }
)
