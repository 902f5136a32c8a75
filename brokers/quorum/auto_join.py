"""The voter changes that a controller requests of the leader by itself (KIP-853).

- A voter whose endpoints differ from the voter set's sends UpdateRaftVoter.
- A controller whose id is a voter with another directory id has a new disk: it sends RemoveRaftVoter for the old one.
  While the old voter still fetches, two nodes have one id, and the operator must correct `node.id` of one.
- A controller that the settings name as a voter, or tell to join, and whose disk never was one, sends AddRaftVoter. A
  disk that was a voter once was removed on purpose and stays an observer.
"""

from brokers.effects import Changed, Effect, SaveState
from brokers.errors import KafkaError, error_from_code
from brokers.events import Answered
from brokers.ids import Instant, LeaderEpoch, Ticket
from brokers.quorum.election_state import VOTER_NAME
from brokers.quorum.epoch_states import FollowerState
from brokers.quorum.messages import PARTITION, TOPIC, ask, only_partition
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voters import KRAFT_VERSIONS, Voter
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
)
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    KRaftVersionFeature,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    VoterListener,
)

CHANNEL = "voters"
EVERY_MS = 1_000


class AutoJoin:
    """Has one request in flight at most. `settle` sends the next one when it is due."""

    def __init__(self, quorum: QuorumState, *, was_voter: bool) -> None:
        self._quorum = quorum
        self._in_flight: Ticket | None = None
        self._next_at: Instant = 0
        self._was_voter = was_voter
        self._has_warned = False
        self._not_fetching_since: tuple[LeaderEpoch, Instant] | None = None

    @property
    def deadline(self) -> Instant | None:
        return self._next_at if self._in_flight is None and self._is_due() else None

    def settle(self, now: Instant) -> list[Effect]:
        quorum = self._quorum
        voter = quorum.voters.latest.get(quorum.config.node_id)
        effects: list[Effect] = []
        if quorum.is_voter and quorum.voters.kraft_version > 0 and not self._was_voter:
            self._was_voter = True
            effects = [SaveState(VOTER_NAME, b"")]
        return effects + self._send_next(voter, now)

    def _send_next(self, voter: Voter | None, now: Instant) -> list[Effect]:
        quorum = self._quorum
        if self._in_flight is not None or now < self._next_at or not self._is_due():
            return []
        if voter is None:
            return self._send(ApiKey.ADD_RAFT_VOTER, self._add_voter_request(), now)
        if quorum.is_voter:
            return self._send(ApiKey.UPDATE_RAFT_VOTER, self._update_voter_request(), now)
        return self._send(ApiKey.DESCRIBE_QUORUM, _describe_request(), now)

    def _is_due(self) -> bool:
        quorum = self._quorum
        state, config = quorum.state, quorum.config
        if not (isinstance(state, FollowerState) and state.has_fetched and config.endpoints):
            return False
        if not config.may_vote:
            return False
        voter = quorum.voters.latest.get(config.node_id)
        if quorum.is_voter:
            assert voter is not None
            return quorum.voters.kraft_version > 0 and voter.endpoints != config.endpoints
        is_named = config.joins or config.node_id in config.voters.ids
        return voter is not None or (is_named and not self._was_voter)

    def _send(self, key: int, message: Message, now: Instant) -> list[Effect]:
        leader = self._quorum.leader
        assert leader is not None
        self._in_flight = self._quorum.new_ticket()
        self._next_at = now + EVERY_MS
        timeout_ms = self._quorum.config.request_timeout_ms * 2
        return [ask(self._in_flight, leader, CHANNEL, key, message, timeout_ms)]

    def _add_voter_request(self) -> AddRaftVoterRequest:
        config = self._quorum.config
        return AddRaftVoterRequest(
            cluster_id=config.cluster_id,
            timeout_ms=config.request_timeout_ms,
            voter_id=config.node_id,
            voter_directory_id=config.directory,
            listeners=self._listeners(),
        )

    def _update_voter_request(self) -> UpdateRaftVoterRequest:
        config = self._quorum.config
        lowest, highest = KRAFT_VERSIONS
        return UpdateRaftVoterRequest(
            cluster_id=config.cluster_id,
            current_leader_epoch=self._quorum.leader_epoch,
            voter_id=config.node_id,
            voter_directory_id=config.directory,
            listeners=self._listeners(),
            kraft_version_feature=KRaftVersionFeature(
                min_supported_version=lowest, max_supported_version=highest
            ),
        )

    def _listeners(self) -> list[VoterListener]:
        own = self._quorum.config.endpoints
        return [VoterListener(name=name, host=host, port=port) for name, host, port in own]

    # --- answers ---

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        if self._in_flight is None or answered.ticket != self._in_flight:
            return None
        self._in_flight = None
        message = answered.message
        if isinstance(message, DescribeQuorumResponse):
            return self._on_described(message, now)
        if isinstance(message, AddRaftVoterResponse | RemoveRaftVoterResponse):
            return self._on_changed(message, now)
        return []

    def _on_described(self, message: DescribeQuorumResponse, now: Instant) -> list[Effect]:
        quorum = self._quorum
        voter = quorum.voters.latest.get(quorum.config.node_id)
        answer = None if message.error_code else only_partition(message.topics)
        if answer is None or answer.error_code or voter is None or quorum.is_voter:
            return []
        if self._is_fetching(answer, voter):
            self._not_fetching_since = None
            return self._warn_once(voter)
        if not self._stopped_fetching(now) or not isinstance(quorum.state, FollowerState):
            return []
        key = voter.key
        request = RemoveRaftVoterRequest(
            cluster_id=quorum.config.cluster_id, voter_id=key.id, voter_directory_id=key.directory
        )
        return self._send(ApiKey.REMOVE_RAFT_VOTER, request, now)

    def _is_fetching(self, answer: DescribeQuorumResponsePartition, voter: Voter) -> bool:
        """Whether the recorded voter fetched lately. Fetch times are by the leader's clock; its own is now."""
        times = {
            (each.replica_id, each.replica_directory_id): each.last_fetch_timestamp
            for each in answer.current_voters
        }
        newest = max(times.values(), default=0)
        return times.get(voter.key, -1) > newest - 2 * self._quorum.config.fetch_timeout_ms

    def _stopped_fetching(self, now: Instant) -> bool:
        """Whether the voter did not fetch for two fetch timeouts of one leader. A new leader has no fetch times yet."""
        leader_epoch = self._quorum.leader_epoch
        if self._not_fetching_since is None or self._not_fetching_since[0] != leader_epoch:
            self._not_fetching_since = (leader_epoch, now)
        return now - self._not_fetching_since[1] >= 2 * self._quorum.config.fetch_timeout_ms

    def _warn_once(self, voter: Voter) -> list[Effect]:
        was_alive, self._has_warned = self._has_warned, True
        if was_alive:
            return []
        why = f"voter {voter.key} is heard of: two nodes have the id {voter.id}, correct node.id of one"
        return [Changed("quorum member", "not a voter", why)]

    def _on_changed(
        self, message: AddRaftVoterResponse | RemoveRaftVoterResponse, now: Instant
    ) -> list[Effect]:
        if message.error_code == KafkaError.DUPLICATE_VOTER:
            return []  # this log does not hold the VotersRecord yet
        if message.error_code == KafkaError.NONE:
            self._next_at = now  # the next request, if any, is due at once
            return []
        why = message.error_message or error_from_code(message.error_code).name
        return [Changed("quorum member", "not a voter yet", why)]


def _describe_request() -> DescribeQuorumRequest:
    partitions = [DescribeQuorumRequestPartition(partition_index=PARTITION)]
    return DescribeQuorumRequest(
        topics=[DescribeQuorumRequestTopic(topic_name=TOPIC, partitions=partitions)]
    )
