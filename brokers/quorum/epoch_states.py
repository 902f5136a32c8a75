"""The state of a replica in the epoch that it knows (Kafka's `EpochState`).

    observers:  unattached <--> follower
    voters:     unattached --> prospective --> candidate --> leader --> resigned --> (prospective)
                     ^---- any of them, when the replica learns of a higher epoch ----'

`until` is the instant at which the state times out.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from brokers.ids import Instant, LeaderEpoch, Offset, Peer
from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.progress_tracker import ProgressTracker


@dataclass(slots=True)
class UnattachedState:
    """Knows the epoch and no leader of it."""

    until: Instant


@dataclass(slots=True)
class ProspectiveState:
    """Sends pre-votes: could it win an election? KIP-996."""

    election: EpochElection
    until: Instant


@dataclass(slots=True)
class CandidateState:
    """Has voted for itself, and sends Vote to the other voters."""

    election: EpochElection
    until: Instant


@dataclass(slots=True)
class LeaderState:
    """`epoch_start` is the offset of its LeaderChange; at `until` it checks whether a majority fetches."""

    leader_epoch: LeaderEpoch
    epoch_start: Offset
    until: Instant
    began_at: Instant
    tracker: ProgressTracker = field(default_factory=ProgressTracker)


@dataclass(slots=True)
class FollowerState:
    """`has_fetched`: the leader answered a Fetch in this epoch, with `leader_high_watermark`."""

    leader: Peer
    until: Instant
    has_fetched: bool = False
    leader_high_watermark: Offset = -1


@dataclass(slots=True)
class ResignedState:
    """Led this epoch, and resigned."""

    until: Instant


EpochState: TypeAlias = (
    UnattachedState
    | ProspectiveState
    | CandidateState
    | LeaderState
    | FollowerState
    | ResignedState
)


def state_name(state: EpochState, *, is_voter: bool) -> str:
    """The name in Kafka's metrics, where a follower that is no voter is an observer."""
    if isinstance(state, FollowerState) and not is_voter:
        return "observer"
    return type(state).__name__.removesuffix("State").lower()
