"""BeginQuorumEpoch and EndQuorumEpoch, sent and answered (KIP-595, 853).

Followers pull, so a voter learns of a new leader only from its BeginQuorumEpoch. EndQuorumEpoch of a leader that
resigns spares the voters the fetch timeout.
"""

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Answered, Request
from brokers.ids import BrokerId, Instant, Offset, Peer, Ticket
from brokers.quorum.epoch_states import (
    FollowerState,
    LeaderState,
    ProspectiveState,
    UnattachedState,
)
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
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
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
    BeginQuorumEpochResponse,
    BeginQuorumEpochResponsePartition,
    BeginQuorumEpochResponseTopic,
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochRequestTopic,
    EndQuorumEpochResponse,
    EndQuorumEpochResponsePartition,
    EndQuorumEpochResponseTopic,
    LeaderEndpoint,
    NodeEndpoint,
    ReplicaInfo,
)


class QuorumEpochs:
    """Repeats BeginQuorumEpoch to voters that do not fetch; sends EndQuorumEpoch once, when the leader resigns."""

    def __init__(self, member: QuorumState) -> None:
        self._member = member
        self._asked: dict[Ticket, BrokerId] = {}
        self._next_at: Instant = 0

    @property
    def deadline(self) -> Instant | None:
        leads_others = self._member.leading and self._member.other_voters()
        return self._next_at if leads_others else None

    @property
    def is_heard(self) -> bool:
        """Every request that was sent has been answered, or has failed."""
        return not self._asked

    def begin(self, now: Instant) -> list[Effect]:
        """Send BeginQuorumEpoch to all other voters."""
        self._asked.clear()
        self._next_at = now + self._interval
        return [effect for peer in self._member.other_voters() for effect in self._tell(peer)]

    def on_time(self, now: Instant) -> list[Effect]:
        leading = self._member.leading
        if leading is None or now < self._next_at:
            return []
        self._next_at = now + self._interval
        silent = [
            peer
            for peer in self._member.other_voters()
            if self._fetched_at(leading, peer.node_id) <= now - self._interval
        ]
        under_way = set(self._asked.values())
        return [
            effect
            for peer in silent
            if peer.node_id not in under_way
            for effect in self._tell(peer)
        ]

    def end(self, leading: LeaderState) -> list[Effect]:
        """Send EndQuorumEpoch to all other voters, with the preferred successors: those that hold most of the log
        first."""
        self._asked.clear()
        return [
            effect
            for peer in self._member.other_voters()
            for effect in self._tell_end(peer, leading)
        ]

    @property
    def _interval(self) -> int:
        return self._member.config.fetch_timeout_ms // 4

    def _fetched_at(self, leading: LeaderState, voter_id: BrokerId) -> Instant:
        voter = self._member.voters.latest.get(voter_id)
        return -1 if voter is None else leading.progresses.of(voter).fetched_at

    def _tell(self, peer: Peer) -> list[Effect]:
        member = self._member
        voter = member.voters.latest.get(peer.node_id)
        partition = BeginQuorumEpochRequestPartition(
            partition_index=PARTITION,
            voter_directory_id=NO_DIRECTORY if voter is None else voter.directory,
            leader_id=member.config.node_id,
            leader_epoch=member.leader_epoch,
        )
        message = BeginQuorumEpochRequest(
            cluster_id=member.config.cluster_id,
            voter_id=peer.node_id,
            topics=[BeginQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])],
            leader_endpoints=self._own_endpoints(),
        )
        return self._send(peer, ApiKey.BEGIN_QUORUM_EPOCH, message)

    def _tell_end(self, peer: Peer, leading: LeaderState) -> list[Effect]:
        member = self._member
        heirs = sorted(
            (voter for voter in member.voters.latest if voter.id != member.config.node_id),
            key=lambda voter: -self._held(leading, voter.id),
        )
        partition = EndQuorumEpochRequestPartition(
            partition_index=PARTITION,
            leader_id=member.config.node_id,
            leader_epoch=leading.leader_epoch,
            preferred_successors=[heir.id for heir in heirs],
            preferred_candidates=[
                ReplicaInfo(candidate_id=heir.id, candidate_directory_id=heir.directory)
                for heir in heirs
            ],
        )
        message = EndQuorumEpochRequest(
            cluster_id=member.config.cluster_id,
            topics=[EndQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])],
            leader_endpoints=self._own_endpoints(),
        )
        return self._send(peer, ApiKey.END_QUORUM_EPOCH, message)

    def _held(self, leading: LeaderState, voter_id: BrokerId) -> Offset:
        voter = self._member.voters.latest.get(voter_id)
        return -1 if voter is None else leading.progresses.of(voter).next_offset

    def _own_endpoints(self) -> list[LeaderEndpoint]:
        own = self._member.config.endpoints
        return [LeaderEndpoint(name=name, host=host, port=port) for name, host, port in own]

    def _send(
        self, peer: Peer, key: int, message: BeginQuorumEpochRequest | EndQuorumEpochRequest
    ) -> list[Effect]:
        ticket = self._member.new_ticket()
        self._asked[ticket] = peer.node_id
        timeout_ms = self._member.config.request_timeout_ms
        return [ask(ticket, peer, VOTES_CHANNEL, key, message, timeout_ms)]

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        voter_id = self._asked.pop(answered.ticket, None)
        if voter_id is None:
            return None
        message = answered.message
        if message is None:
            self._member.missed(voter_id)
        if not isinstance(message, BeginQuorumEpochResponse | EndQuorumEpochResponse):
            return []
        answer = None if message.error_code else only_partition(message.topics)
        if answer is None:
            return []
        for peer in told_peers(message):
            self._member.met(peer)
        return self._member.hear_of(answer.leader_epoch, answer.leader_id, now)

    # --- answering ---

    def on_begin(self, request: Request, now: Instant) -> list[Effect]:
        message, member = request.message, self._member
        assert isinstance(message, BeginQuorumEpochRequest)
        if not is_for(message.cluster_id, member.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, BeginQuorumEpochResponse(error_code=error))]
        told = only_partition(message.topics)
        if told is None or told.leader_id < 0:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, BeginQuorumEpochResponse(error_code=error))]
        effects: list[Effect] = []
        error = self._why_not(message, told)
        if error is KafkaError.NONE:
            for where in message.leader_endpoints[:1]:
                member.met(Peer(told.leader_id, where.host, where.port))
            effects = member.hear_of(told.leader_epoch, told.leader_id, now)
        return [*effects, self._begun(request, error)]

    def _why_not(
        self, message: BeginQuorumEpochRequest, told: BeginQuorumEpochRequestPartition
    ) -> KafkaError:
        member, own = self._member, self._member.config.key
        is_meant = message.voter_id in (-1, own.id)
        if not is_meant or told.voter_directory_id not in (NO_DIRECTORY, own.directory):
            return KafkaError.INVALID_VOTER_KEY
        if told.leader_epoch < member.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if not member.is_first_in(told.leader_epoch, told.leader_id):
            return KafkaError.INVALID_REQUEST
        return KafkaError.NONE

    def _begun(self, request: Request, error: KafkaError) -> Reply:
        leader = self._member.leader
        partition = BeginQuorumEpochResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._member.leader_epoch,
        )
        return Reply(
            request.ticket,
            BeginQuorumEpochResponse(
                topics=[BeginQuorumEpochResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )

    def on_end(self, request: Request, now: Instant) -> list[Effect]:
        message, member = request.message, self._member
        assert isinstance(message, EndQuorumEpochRequest)
        if not is_for(message.cluster_id, member.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, EndQuorumEpochResponse(error_code=error))]
        told = only_partition(message.topics)
        if told is None or told.leader_id < 0:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, EndQuorumEpochResponse(error_code=error))]
        effects: list[Effect] = []
        error = KafkaError.NONE
        if told.leader_epoch < member.leader_epoch:
            error = KafkaError.FENCED_LEADER_EPOCH
        elif not member.is_first_in(told.leader_epoch, told.leader_id):
            error = KafkaError.INVALID_REQUEST
        elif told.leader_epoch > member.leader_epoch or isinstance(
            member.role, FollowerState | UnattachedState | ProspectiveState
        ):
            effects = member.unattach(told.leader_epoch, now + self._delay(told))
        return [*effects, self._ended(request, error)]

    def _delay(self, told: EndQuorumEpochRequestPartition) -> int:
        """Milliseconds until this voter stands for election: 0 for the first successor, one slot more for each next
        one.

        However many successors there are, the delay is at most `election_backoff_max_ms`, plus a random backoff for a
        voter that is not among them.
        """
        config, heirs = self._member.config, _heirs(told)
        own = (ReplicaKey(config.node_id), config.key)
        place = next((index for index, heir in enumerate(heirs) if heir in own), None)
        turns = (len(heirs) if place is None else place) * config.election_slot_ms
        turns = min(turns, config.election_backoff_max_ms)
        return turns if place is not None else turns + self._member.backoff()

    def _ended(self, request: Request, error: KafkaError) -> Reply:
        leader = self._member.leader
        partition = EndQuorumEpochResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._member.leader_epoch,
        )
        return Reply(
            request.ticket,
            EndQuorumEpochResponse(
                topics=[EndQuorumEpochResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )


def _heirs(told: EndQuorumEpochRequestPartition) -> list[ReplicaKey]:
    """The preferred successors. Version 1 has them with their directories, in `preferred_candidates`."""
    if told.preferred_candidates:
        return [
            ReplicaKey(each.candidate_id, each.candidate_directory_id)
            for each in told.preferred_candidates
        ]
    return [ReplicaKey(heir) for heir in told.preferred_successors]
