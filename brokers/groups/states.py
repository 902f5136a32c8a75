"""The classic group's states, as tables: where each may lead, and what it answers to whom.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
               ^          |                |                |
               |          v                |                |
               |        Empty              |                |
               '---------------------------+----------------'

Any state may become Dead: the group is forgotten, or its coordinator moves away.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from brokers.errors import KafkaError


class State(Enum):
    """By the names that Kafka's tools print."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"  # members are called to join
    COMPLETING_REBALANCE = "CompletingRebalance"  # the leader is to say who does what
    STABLE = "Stable"
    DEAD = "Dead"


NEXT: Mapping[State, tuple[State, ...]] = MappingProxyType(
    {
        State.EMPTY: (State.PREPARING_REBALANCE, State.DEAD),
        State.PREPARING_REBALANCE: (State.COMPLETING_REBALANCE, State.EMPTY, State.DEAD),
        State.COMPLETING_REBALANCE: (State.STABLE, State.PREPARING_REBALANCE, State.DEAD),
        State.STABLE: (State.PREPARING_REBALANCE, State.DEAD),
        State.DEAD: (),
    }
)


class Question(Enum):
    """What a member of the current generation may ask."""

    SYNC = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    COMMIT = "OffsetCommit"


# NONE: go ahead. These are Kafka's; a heartbeat while completing is fine, for a member may send one as soon as it has
# its JoinGroup answer.
ANSWERS: Mapping[Question, Mapping[State, KafkaError]] = MappingProxyType(
    {
        Question.SYNC: MappingProxyType(
            {
                State.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                State.PREPARING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                State.COMPLETING_REBALANCE: KafkaError.NONE,
                State.STABLE: KafkaError.NONE,
                State.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
        Question.HEARTBEAT: MappingProxyType(
            {
                State.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                State.PREPARING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                State.COMPLETING_REBALANCE: KafkaError.NONE,
                State.STABLE: KafkaError.NONE,
                State.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
        Question.COMMIT: MappingProxyType(
            {
                State.EMPTY: KafkaError.UNKNOWN_MEMBER_ID,
                State.PREPARING_REBALANCE: KafkaError.NONE,  # what the old generation has done
                State.COMPLETING_REBALANCE: KafkaError.REBALANCE_IN_PROGRESS,
                State.STABLE: KafkaError.NONE,
                State.DEAD: KafkaError.COORDINATOR_NOT_AVAILABLE,
            }
        ),
    }
)
