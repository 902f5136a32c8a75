"""What a member of the quorum is told."""

from dataclasses import dataclass
from uuid import UUID

from brokers.ids import BrokerId
from brokers.log.config import LogConfig
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.voters import QuorumEndpoint, VoterSet

# Segments are smaller than what lies between two snapshots, so that trimming has whole ones to drop.
LOG_CONFIG = LogConfig(segment_bytes=8 << 20, delete_expired=False, flush_messages=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumConfig:
    """`voters` are the first ones; timeouts bear the names of Kafka's `controller.quorum.*`.

    A member that `may_vote` (one with the role controller) keeps everything on its disk before it says that it has it.
    """

    node_id: BrokerId
    cluster_id: str
    voters: VoterSet
    directory: UUID = NO_DIRECTORY
    may_vote: bool = True
    endpoints: tuple[QuorumEndpoint, ...] = ()  # where this member serves the others
    election_timeout_ms: int = 1_000
    election_backoff_max_ms: int = 1_000
    fetch_timeout_ms: int = 2_000
    request_timeout_ms: int = 2_000
    retry_backoff_ms: int = 20
    fetch_wait_max_ms: int = 500  # Kafka's: how long a fetch may wait for something to fetch
    fetch_bytes_max: int = 8 << 20
    # A vote takes a few round trips and two syncs; members that miss a leader together try one after another.
    election_slot_ms: int = 50

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.node_id, self.directory)

    @property
    def check_quorum_ms(self) -> int:
        """A leader that a majority has not asked for so long is one no more. Kafka's factor."""
        return self.fetch_timeout_ms * 3 // 2
