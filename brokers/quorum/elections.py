"""Elections: Vote and pre-vote, sent and answered (KIP-595, 853, 996).

A granted vote is answered once it is durable: `raft_client` sends responses after the election state is saved.
"""

from collections.abc import Callable

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, error_from_code
from brokers.events import Answered, Request
from brokers.ids import BrokerId, Instant, Ticket
from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.epoch_states import (
    CandidateState,
    FollowerState,
    LeaderState,
    ProspectiveState,
    UnattachedState,
)
from brokers.quorum.ids import LEADER_EPOCH_MAX, ReplicaKey
from brokers.quorum.messages import (
    PARTITION,
    TOPIC,
    VOTES_CHANNEL,
    ask,
    endpoints,
    is_for,
    only_partition,
    peers_of,
)
from brokers.quorum.quorum_state import QuorumState
from brokers.timers import earliest
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum import (
    NodeEndpoint,
    VoteRequest,
    VoteRequestPartition,
    VoteRequestTopic,
    VoteResponse,
    VoteResponsePartition,
    VoteResponseTopic,
)


class QuorumElections:
    """`on_won` begins the epoch that this voter won."""

    def __init__(self, quorum: QuorumState, on_won: Callable[[Instant], list[Effect]]) -> None:
        self._quorum = quorum
        self._on_won = on_won
        self._in_flight: dict[Ticket, tuple[EpochElection, BrokerId]] = {}
        self._retry_at: dict[BrokerId, Instant] = {}  # by voter that did not answer

    @property
    def deadline(self) -> Instant | None:
        if not self._quorum.is_electable or isinstance(self._quorum.state, LeaderState):
            return None
        is_asking = isinstance(self._quorum.state, ProspectiveState | CandidateState)
        return earliest(self._quorum.state.until, *(self._retry_at.values() if is_asking else ()))

    def on_time(self, now: Instant) -> list[Effect]:
        quorum = self._quorum
        if not quorum.is_electable or isinstance(quorum.state, LeaderState):
            return []
        if now < quorum.state.until:
            return self._retry(now)
        if isinstance(quorum.state, CandidateState | ProspectiveState):
            quorum.failures += 1
        return self.start_pre_vote(now)

    def start_pre_vote(self, now: Instant) -> list[Effect]:
        """Begin a pre-vote; a lone voter becomes a candidate at once."""
        self._retry_at.clear()
        election = self._quorum.become_prospective(now)
        return self._settle(now) if election.is_won else self._send_all(election)

    def on_saved(self, now: Instant) -> list[Effect]:
        """This voter's own vote is durable: count it."""
        state = self._quorum.state
        if not isinstance(state, CandidateState):
            return []
        state.election.count(self._quorum.config.node_id, granted=True)
        return self._settle(now)

    # --- sending Vote ---

    def _send_all(self, election: EpochElection) -> list[Effect]:
        own = self._quorum.config.node_id
        return [
            effect
            for voter_id in election.voters.ids
            if voter_id != own
            for effect in self._send(election, voter_id)
        ]

    def _send(self, election: EpochElection, voter_id: BrokerId) -> list[Effect]:
        quorum, peer = self._quorum, self._quorum.peer(voter_id)
        if peer is None:
            return []
        ticket = quorum.new_ticket()
        self._in_flight[ticket] = (election, voter_id)
        timeout_ms = quorum.config.request_timeout_ms
        request = self._request(election, voter_id)
        return [ask(ticket, peer, VOTES_CHANNEL, ApiKey.VOTE, request, timeout_ms)]

    def _request(self, election: EpochElection, voter_id: BrokerId) -> VoteRequest:
        quorum, voter = self._quorum, election.voters.get(voter_id)
        assert quorum.log is not None and voter is not None
        partition = VoteRequestPartition(
            partition_index=PARTITION,
            replica_epoch=election.leader_epoch,
            replica_id=quorum.config.node_id,
            replica_directory_id=quorum.config.directory,
            voter_directory_id=voter.directory,
            last_offset_epoch=quorum.last_epoch,
            last_offset=quorum.log.log_end_offset,
            pre_vote=isinstance(quorum.state, ProspectiveState),
        )
        return VoteRequest(
            cluster_id=quorum.config.cluster_id,
            voter_id=voter_id,
            topics=[VoteRequestTopic(topic_name=TOPIC, partitions=[partition])],
        )

    def _retry(self, now: Instant) -> list[Effect]:
        state = self._quorum.state
        if not isinstance(state, ProspectiveState | CandidateState):
            return []
        effects: list[Effect] = []
        for voter_id in [voter_id for voter_id, due in self._retry_at.items() if due <= now]:
            del self._retry_at[voter_id]
            if not state.election.has_answered(voter_id):
                effects += self._send(state.election, voter_id)
        return effects

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None if this module did not send the request."""
        sent = self._in_flight.pop(answered.ticket, None)
        if sent is None:
            return None
        election, voter_id = sent
        message = answered.message
        if message is None:
            self._quorum.endpoint_failed(voter_id)
        answer = (
            only_partition(message.topics)
            if isinstance(message, VoteResponse) and not message.error_code
            else None
        )
        if answer is None:
            if self.is_counted(election):
                self._retry_at[voter_id] = now + self._quorum.config.retry_backoff_ms
            return []
        assert isinstance(message, VoteResponse)
        for peer in peers_of(message):
            self._quorum.update_endpoint(peer)
        return self._on_vote(election, voter_id, answer, now)

    def _on_vote(
        self, election: EpochElection, voter: BrokerId, answer: VoteResponsePartition, now: Instant
    ) -> list[Effect]:
        quorum = self._quorum
        granted = answer.vote_granted and error_from_code(answer.error_code) is KafkaError.NONE
        if answer.leader_epoch > quorum.leader_epoch or not granted:
            # A voter that grants the vote may name a leader that is gone, which it has not noticed yet.
            effects = quorum.maybe_transition(answer.leader_epoch, answer.leader_id, now)
            if effects or quorum.leader is not None:
                return effects
        if not self.is_counted(election):
            return []
        state = self._quorum.state
        assert isinstance(state, ProspectiveState | CandidateState)
        state.election.count(voter, granted=granted)
        return self._settle(now)

    def is_counted(self, election: EpochElection) -> bool:
        """Whether `election` is the current one: a vote of an earlier election does not count."""
        state = self._quorum.state
        return isinstance(state, ProspectiveState | CandidateState) and state.election is election

    def _settle(self, now: Instant) -> list[Effect]:
        state = self._quorum.state
        assert isinstance(state, ProspectiveState | CandidateState)
        if state.election.is_won:
            is_candidate = isinstance(state, CandidateState)
            return self._on_won(now) if is_candidate else self._start_election(now)
        if state.election.is_lost:
            self._quorum.failures += 1
            state.until = min(state.until, now + self._quorum.backoff())
        return []

    def _start_election(self, now: Instant) -> list[Effect]:
        self._retry_at.clear()
        effects = self._quorum.become_candidate(now)
        state = self._quorum.state
        assert isinstance(state, CandidateState)
        return effects + self._send_all(state.election)

    # --- answering Vote ---

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self._quorum
        assert isinstance(message, VoteRequest)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            refused = VoteResponse(error_code=KafkaError.INCONSISTENT_CLUSTER_ID)
            return [Reply(request.ticket, refused)]
        partition = only_partition(message.topics)
        if partition is None or not quorum.config.may_vote or not self._is_valid(partition):
            return [Reply(request.ticket, VoteResponse(error_code=KafkaError.INVALID_REQUEST))]
        if not self._is_own_key(message.voter_id, partition):
            return [self._reply(request, KafkaError.INVALID_VOTER_KEY, granted=False)]
        if partition.replica_epoch < quorum.leader_epoch:
            return [self._reply(request, KafkaError.FENCED_LEADER_EPOCH, granted=False)]
        effects: list[Effect] = []
        if partition.replica_epoch > quorum.leader_epoch:
            until = now + quorum.election_timeout()
            effects = quorum.become_unattached(partition.replica_epoch, until)
        granted = (
            self._grants_pre_vote(partition) if partition.pre_vote else self._grants_vote(partition)
        )
        if granted and not partition.pre_vote:
            effects += quorum.add_voted_state(_candidate(partition))
            effects += quorum.become_unattached(
                quorum.leader_epoch, now + quorum.election_timeout()
            )
        return [*effects, self._reply(request, KafkaError.NONE, granted=granted)]

    def _is_valid(self, partition: VoteRequestPartition) -> bool:
        return (
            partition.replica_id not in (self._quorum.config.node_id, -1)
            and partition.replica_epoch <= LEADER_EPOCH_MAX
            and min(partition.replica_epoch, partition.last_offset, partition.last_offset_epoch)
            >= 0
        )

    def _is_own_key(self, voter_id: BrokerId, partition: VoteRequestPartition) -> bool:
        """Whether the request is for this voter: another one may have had its id, with another directory id."""
        key = ReplicaKey(voter_id, partition.voter_directory_id)
        own = self._quorum.config.key
        return voter_id in (-1, own.id) and key.directory in (
            ReplicaKey(0).directory,
            own.directory,
        )

    def _grants_pre_vote(self, partition: VoteRequestPartition) -> bool:
        """A voter that fetches from a leader grants no pre-vote."""
        state = self._quorum.state
        has_leader = isinstance(state, LeaderState) or (
            isinstance(state, FollowerState) and state.has_fetched
        )
        return not has_leader and self.is_log_up_to_date(partition)

    def _grants_vote(self, partition: VoteRequestPartition) -> bool:
        saved = self._quorum.election_state
        return (
            isinstance(self._quorum.state, UnattachedState | ProspectiveState)
            and saved.leader_id < 0
            and saved.voted in (None, _candidate(partition))
            and self.is_log_up_to_date(partition)
        )

    def is_log_up_to_date(self, partition: VoteRequestPartition) -> bool:
        """Whether the candidate's log is at least as up to date as this voter's (Raft 5.4.1)."""
        return self._quorum.is_up_to_date(partition.last_offset_epoch, partition.last_offset)

    def _reply(self, request: Request, error: KafkaError, *, granted: bool) -> Reply:
        leader = self._quorum.leader
        partition = VoteResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._quorum.leader_epoch,
            vote_granted=granted,
        )
        return Reply(
            request.ticket,
            VoteResponse(
                topics=[VoteResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )


def _candidate(partition: VoteRequestPartition) -> ReplicaKey:
    return ReplicaKey(partition.replica_id, partition.replica_directory_id)
