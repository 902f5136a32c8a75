"""Elections: the question before them, the votes, and the answers to those of others (Vote; KIP-595, 853, 996).

A vote is answered once it is durable: what a member sends after a change of its state waits for the disk in `raft`.
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
    told_peers,
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
    """`on_won` begins the epoch that this member has been elected for."""

    def __init__(self, member: QuorumState, on_won: Callable[[Instant], list[Effect]]) -> None:
        self._member = member
        self._on_won = on_won
        self._asked: dict[Ticket, tuple[EpochElection, BrokerId]] = {}
        self._again: dict[BrokerId, Instant] = {}  # who did not answer, and when to ask anew

    @property
    def deadline(self) -> Instant | None:
        if not self._member.may_stand or isinstance(self._member.role, LeaderState):
            return None
        is_asking = isinstance(self._member.role, ProspectiveState | CandidateState)
        return earliest(self._member.role.until, *(self._again.values() if is_asking else ()))

    def on_time(self, now: Instant) -> list[Effect]:
        member = self._member
        if not member.may_stand or isinstance(member.role, LeaderState):
            return []
        if now < member.role.until:
            return self._ask_again(now)
        if isinstance(member.role, CandidateState | ProspectiveState):
            member.failures += 1
        return self.consider(now)

    def consider(self, now: Instant) -> list[Effect]:
        """Become prospective, and more if nobody else need be asked."""
        self._again.clear()
        ballot = self._member.consider(now)
        return self._settle(now) if ballot.is_won else self._ask_all(ballot)

    def on_saved(self, now: Instant) -> list[Effect]:
        """This member's own vote is durable: it counts from now on."""
        role = self._member.role
        if not isinstance(role, CandidateState):
            return []
        role.ballot.count(self._member.config.node_id, granted=True)
        return self._settle(now)

    # --- asking ---

    def _ask_all(self, ballot: EpochElection) -> list[Effect]:
        own = self._member.config.node_id
        return [
            effect
            for voter_id in ballot.voters.ids
            if voter_id != own
            for effect in self._ask(ballot, voter_id)
        ]

    def _ask(self, ballot: EpochElection, voter_id: BrokerId) -> list[Effect]:
        member, peer = self._member, self._member.peer(voter_id)
        if peer is None:
            return []
        ticket = member.new_ticket()
        self._asked[ticket] = (ballot, voter_id)
        timeout_ms = member.config.request_timeout_ms
        return [
            ask(
                ticket,
                peer,
                VOTES_CHANNEL,
                ApiKey.VOTE,
                self._question(ballot, voter_id),
                timeout_ms,
            )
        ]

    def _question(self, ballot: EpochElection, voter_id: BrokerId) -> VoteRequest:
        member, voter = self._member, ballot.voters.get(voter_id)
        assert member.log is not None and voter is not None
        partition = VoteRequestPartition(
            partition_index=PARTITION,
            replica_epoch=ballot.leader_epoch,
            replica_id=member.config.node_id,
            replica_directory_id=member.config.directory,
            voter_directory_id=voter.directory,
            last_offset_epoch=member.last_epoch,
            last_offset=member.log.log_end_offset,
            pre_vote=isinstance(member.role, ProspectiveState),
        )
        return VoteRequest(
            cluster_id=member.config.cluster_id,
            voter_id=voter_id,
            topics=[VoteRequestTopic(topic_name=TOPIC, partitions=[partition])],
        )

    def _ask_again(self, now: Instant) -> list[Effect]:
        role = self._member.role
        if not isinstance(role, ProspectiveState | CandidateState):
            return []
        effects: list[Effect] = []
        for voter_id in [voter_id for voter_id, due in self._again.items() if due <= now]:
            del self._again[voter_id]
            if not role.ballot.has_answered(voter_id):
                effects += self._ask(role.ballot, voter_id)
        return effects

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        asked = self._asked.pop(answered.ticket, None)
        if asked is None:
            return None
        ballot, voter_id = asked
        message = answered.message
        if message is None:
            self._member.missed(voter_id)
        answer = (
            only_partition(message.topics)
            if isinstance(message, VoteResponse) and not message.error_code
            else None
        )
        if answer is None:
            if self.is_counted(ballot):
                self._again[voter_id] = now + self._member.config.retry_backoff_ms
            return []
        assert isinstance(message, VoteResponse)
        for peer in told_peers(message):
            self._member.met(peer)
        return self._take(ballot, voter_id, answer, now)

    def _take(
        self, ballot: EpochElection, voter_id: BrokerId, answer: VoteResponsePartition, now: Instant
    ) -> list[Effect]:
        member = self._member
        granted = answer.vote_granted and error_from_code(answer.error_code) is KafkaError.NONE
        if answer.leader_epoch > member.leader_epoch or not granted:
            # One that would vote, and has not heard yet that its leader is gone, tells nothing about who leads.
            effects = member.hear_of(answer.leader_epoch, answer.leader_id, now)
            if effects or member.leader is not None:
                return effects
        if not self.is_counted(ballot):
            return []
        role = self._member.role
        assert isinstance(role, ProspectiveState | CandidateState)
        role.ballot.count(voter_id, granted=granted)
        return self._settle(now)

    def is_counted(self, ballot: EpochElection) -> bool:
        """Answers to an earlier question say nothing about this one."""
        role = self._member.role
        return isinstance(role, ProspectiveState | CandidateState) and role.ballot is ballot

    def _settle(self, now: Instant) -> list[Effect]:
        role = self._member.role
        assert isinstance(role, ProspectiveState | CandidateState)
        if role.ballot.is_won:
            return self._on_won(now) if isinstance(role, CandidateState) else self._stand(now)
        if role.ballot.is_lost:
            self._member.failures += 1
            role.until = min(role.until, now + self._member.backoff())
        return []

    def _stand(self, now: Instant) -> list[Effect]:
        self._again.clear()
        effects = self._member.stand(now)
        role = self._member.role
        assert isinstance(role, CandidateState)
        return effects + self._ask_all(role.ballot)

    # --- answering ---

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message, member = request.message, self._member
        assert isinstance(message, VoteRequest)
        if not is_for(message.cluster_id, member.config.cluster_id):
            refused = VoteResponse(error_code=KafkaError.INCONSISTENT_CLUSTER_ID)
            return [Reply(request.ticket, refused)]
        asked = only_partition(message.topics)
        if asked is None or not member.config.may_vote or not self._is_sound(asked):
            return [Reply(request.ticket, VoteResponse(error_code=KafkaError.INVALID_REQUEST))]
        if not self._is_meant(message.voter_id, asked):
            return [self._reply(request, KafkaError.INVALID_VOTER_KEY, granted=False)]
        if asked.replica_epoch < member.leader_epoch:
            return [self._reply(request, KafkaError.FENCED_LEADER_EPOCH, granted=False)]
        effects: list[Effect] = []
        if asked.replica_epoch > member.leader_epoch:
            until = now + member.election_timeout()
            effects = member.unattach(asked.replica_epoch, until)
        granted = self._would_vote(asked) if asked.pre_vote else self._may_vote(asked)
        if granted and not asked.pre_vote:
            effects += member.vote(_asker(asked))
            effects += member.unattach(member.leader_epoch, now + member.election_timeout())
        return [*effects, self._reply(request, KafkaError.NONE, granted=granted)]

    def _is_sound(self, asked: VoteRequestPartition) -> bool:
        return (
            asked.replica_id not in (self._member.config.node_id, -1)
            and asked.replica_epoch <= LEADER_EPOCH_MAX
            and min(asked.replica_epoch, asked.last_offset, asked.last_offset_epoch) >= 0
        )

    def _is_meant(self, voter_id: BrokerId, asked: VoteRequestPartition) -> bool:
        """The voter that is asked may have had this member's id and another disk."""
        key = ReplicaKey(voter_id, asked.voter_directory_id)
        own = self._member.config.key
        return voter_id in (-1, own.id) and key.directory in (
            ReplicaKey(0).directory,
            own.directory,
        )

    def _would_vote(self, asked: VoteRequestPartition) -> bool:
        """A member that hears from its leader keeps it."""
        role = self._member.role
        hears = isinstance(role, LeaderState) or (
            isinstance(role, FollowerState) and role.has_fetched
        )
        return not hears and self.holds_all(asked)

    def _may_vote(self, asked: VoteRequestPartition) -> bool:
        state = self._member.state
        return (
            isinstance(self._member.role, UnattachedState | ProspectiveState)
            and state.leader_id < 0
            and state.voted in (None, _asker(asked))
            and self.holds_all(asked)
        )

    def holds_all(self, asked: VoteRequestPartition) -> bool:
        """Whether the asker's log holds all that this member's log holds."""
        return self._member.is_up_to_date(asked.last_offset_epoch, asked.last_offset)

    def _reply(self, request: Request, error: KafkaError, *, granted: bool) -> Reply:
        leader = self._member.leader
        partition = VoteResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._member.leader_epoch,
            vote_granted=granted,
        )
        return Reply(
            request.ticket,
            VoteResponse(
                topics=[VoteResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )


def _asker(asked: VoteRequestPartition) -> ReplicaKey:
    return ReplicaKey(asked.replica_id, asked.replica_directory_id)
