"""What a member is in the epoch that it knows, with what that role has to remember.

    observers:  unattached <--> follower
    voters:     unattached --> prospective --> candidate --> leader --> resigned --> (prospective)
                     ^---- any of them, when a higher epoch is heard of ----'

`until` is when the role ends by itself.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from brokers.ids import Instant, LeaderEpoch, Offset, Peer
from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.progress_tracker import ProgressTracker


@dataclass(slots=True)
class UnattachedState:
    """Knows the epoch and nobody who leads in it."""

    until: Instant


@dataclass(slots=True)
class ProspectiveState:
    """Asks, before it begins an election, whether it could win it. KIP-996."""

    ballot: EpochElection
    until: Instant


@dataclass(slots=True)
class CandidateState:
    """Has voted for itself, and asks for the votes of others."""

    ballot: EpochElection
    until: Instant


@dataclass(slots=True)
class LeaderState:
    """`epoch_start` is the offset of its LeaderChange; `until` when a majority will not have asked for too long."""

    leader_epoch: LeaderEpoch
    epoch_start: Offset
    until: Instant
    began_at: Instant
    progresses: ProgressTracker = field(default_factory=ProgressTracker)


@dataclass(slots=True)
class FollowerState:
    """`has_fetched`: its leader answers it, in this epoch, and has said that so much is committed."""

    leader: Peer
    until: Instant
    has_fetched: bool = False
    told_committed: Offset = -1


@dataclass(slots=True)
class ResignedState:
    """Led this epoch, and leads no more."""

    until: Instant


EpochState: TypeAlias = (
    UnattachedState
    | ProspectiveState
    | CandidateState
    | LeaderState
    | FollowerState
    | ResignedState
)


def state_name(role: EpochState, *, is_voter: bool) -> str:
    """The name of the state in Kafka's metrics, where a follower that is no voter is an observer."""
    if isinstance(role, FollowerState) and not is_voter:
        return "observer"
    return type(role).__name__.removesuffix("State").lower()
