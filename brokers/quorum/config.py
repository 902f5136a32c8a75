"""The settings of a voter or observer."""

from dataclasses import dataclass
from uuid import UUID

from brokers.ids import BrokerId, Peer
from brokers.log.config import LogConfig
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.voters import QuorumEndpoint, VoterSet

# Segments are smaller than the log between two snapshots, so that `trim` finds whole segments to delete.
LOG_CONFIG = LogConfig(segment_bytes=8 << 20, delete_expired=False, flush_messages=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumConfig:
    """`voters` is the configured voter set; timeouts have the names of Kafka's `controller.quorum.*`.

    A replica that `may_vote` (its node has the role controller) fetches an offset only when all before it is synced.
    """

    node_id: BrokerId
    cluster_id: str
    voters: VoterSet
    directory: UUID = NO_DIRECTORY
    may_vote: bool = True
    endpoints: tuple[QuorumEndpoint, ...] = ()  # where this replica listens
    bootstrap: tuple[Peer, ...] = ()  # where it asks for the leader too; their ids are negative
    joins: bool = False  # whether it asks to be a voter although it is not configured as one
    election_timeout_ms: int = 1_000
    election_backoff_max_ms: int = 1_000
    fetch_timeout_ms: int = 2_000
    request_timeout_ms: int = 2_000
    retry_backoff_ms: int = 20
    fetch_wait_max_ms: int = 500  # Kafka's
    fetch_bytes_max: int = 8 << 20
    # Between the elections of two voters that lose their leader together: a vote is a few round trips and 2 syncs.
    election_slot_ms: int = 50

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.node_id, self.directory)

    @property
    def check_quorum_ms(self) -> int:
        """A leader from which no majority fetched for so long resigns. Kafka's factor."""
        return self.fetch_timeout_ms * 3 // 2
