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
    peers_of,
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

    def __init__(self, quorum: QuorumState) -> None:
        self._quorum = quorum
        self._in_flight: dict[Ticket, BrokerId] = {}
        self._next_at: Instant = 0

    @property
    def deadline(self) -> Instant | None:
        leads_others = self._quorum.leader_state and self._quorum.other_voters()
        return self._next_at if leads_others else None

    @property
    def has_no_requests(self) -> bool:
        """Every request that was sent has been answered, or has failed."""
        return not self._in_flight

    def begin(self, now: Instant) -> list[Effect]:
        """Send BeginQuorumEpoch to all other voters."""
        self._in_flight.clear()
        self._next_at = now + self._interval
        return [effect for peer in self._quorum.other_voters() for effect in self._send_begin(peer)]

    def on_time(self, now: Instant) -> list[Effect]:
        leader_state = self._quorum.leader_state
        if leader_state is None or now < self._next_at:
            return []
        self._next_at = now + self._interval
        silent = [
            peer
            for peer in self._quorum.other_voters()
            if self._fetched_at(leader_state, peer.node_id) <= now - self._interval
        ]
        under_way = set(self._in_flight.values())
        return [
            effect
            for peer in silent
            if peer.node_id not in under_way
            for effect in self._send_begin(peer)
        ]

    def end(self, leader_state: LeaderState) -> list[Effect]:
        """Send EndQuorumEpoch to all other voters, with the preferred successors: those that hold most of the log
        first."""
        self._in_flight.clear()
        return [
            effect
            for peer in self._quorum.other_voters()
            for effect in self._send_end(peer, leader_state)
        ]

    @property
    def _interval(self) -> int:
        return self._quorum.config.fetch_timeout_ms // 4

    def _fetched_at(self, leader_state: LeaderState, voter_id: BrokerId) -> Instant:
        voter = self._quorum.voters.latest.get(voter_id)
        return -1 if voter is None else leader_state.tracker.of(voter).fetched_at

    def _send_begin(self, peer: Peer) -> list[Effect]:
        quorum = self._quorum
        voter = quorum.voters.latest.get(peer.node_id)
        partition = BeginQuorumEpochRequestPartition(
            partition_index=PARTITION,
            voter_directory_id=NO_DIRECTORY if voter is None else voter.directory,
            leader_id=quorum.config.node_id,
            leader_epoch=quorum.leader_epoch,
        )
        message = BeginQuorumEpochRequest(
            cluster_id=quorum.config.cluster_id,
            voter_id=peer.node_id,
            topics=[BeginQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])],
            leader_endpoints=self._own_endpoints(),
        )
        return self._send(peer, ApiKey.BEGIN_QUORUM_EPOCH, message)

    def _send_end(self, peer: Peer, leader_state: LeaderState) -> list[Effect]:
        quorum = self._quorum
        successors = sorted(
            (voter for voter in quorum.voters.latest if voter.id != quorum.config.node_id),
            key=lambda voter: -self._held(leader_state, voter.id),
        )
        partition = EndQuorumEpochRequestPartition(
            partition_index=PARTITION,
            leader_id=quorum.config.node_id,
            leader_epoch=leader_state.leader_epoch,
            preferred_successors=[successor.id for successor in successors],
            preferred_candidates=[
                ReplicaInfo(candidate_id=successor.id, candidate_directory_id=successor.directory)
                for successor in successors
            ],
        )
        message = EndQuorumEpochRequest(
            cluster_id=quorum.config.cluster_id,
            topics=[EndQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])],
            leader_endpoints=self._own_endpoints(),
        )
        return self._send(peer, ApiKey.END_QUORUM_EPOCH, message)

    def _held(self, leader_state: LeaderState, voter_id: BrokerId) -> Offset:
        voter = self._quorum.voters.latest.get(voter_id)
        return -1 if voter is None else leader_state.tracker.of(voter).next_offset

    def _own_endpoints(self) -> list[LeaderEndpoint]:
        own = self._quorum.config.endpoints
        return [LeaderEndpoint(name=name, host=host, port=port) for name, host, port in own]

    def _send(
        self, peer: Peer, key: int, message: BeginQuorumEpochRequest | EndQuorumEpochRequest
    ) -> list[Effect]:
        ticket = self._quorum.new_ticket()
        self._in_flight[ticket] = peer.node_id
        timeout_ms = self._quorum.config.request_timeout_ms
        return [ask(ticket, peer, VOTES_CHANNEL, key, message, timeout_ms)]

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None if this module did not send the request."""
        voter_id = self._in_flight.pop(answered.ticket, None)
        if voter_id is None:
            return None
        message = answered.message
        if message is None:
            self._quorum.endpoint_failed(voter_id)
        if not isinstance(message, BeginQuorumEpochResponse | EndQuorumEpochResponse):
            return []
        answer = None if message.error_code else only_partition(message.topics)
        if answer is None:
            return []
        for peer in peers_of(message):
            self._quorum.update_endpoint(peer)
        return self._quorum.maybe_transition(answer.leader_epoch, answer.leader_id, now)

    # --- answering ---

    def on_begin(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self._quorum
        assert isinstance(message, BeginQuorumEpochRequest)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, BeginQuorumEpochResponse(error_code=error))]
        partition = only_partition(message.topics)
        if partition is None or partition.leader_id < 0:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, BeginQuorumEpochResponse(error_code=error))]
        effects: list[Effect] = []
        error = self._why_not(message, partition)
        if error is KafkaError.NONE:
            for where in message.leader_endpoints[:1]:
                quorum.update_endpoint(Peer(partition.leader_id, where.host, where.port))
            effects = quorum.maybe_transition(partition.leader_epoch, partition.leader_id, now)
        return [*effects, self._begun(request, error)]

    def _why_not(
        self, message: BeginQuorumEpochRequest, partition: BeginQuorumEpochRequestPartition
    ) -> KafkaError:
        quorum, own = self._quorum, self._quorum.config.key
        is_own_id = message.voter_id in (-1, own.id)
        if not is_own_id or partition.voter_directory_id not in (NO_DIRECTORY, own.directory):
            return KafkaError.INVALID_VOTER_KEY
        if partition.leader_epoch < quorum.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if not quorum.has_consistent_leader(partition.leader_epoch, partition.leader_id):
            return KafkaError.INVALID_REQUEST
        return KafkaError.NONE

    def _begun(self, request: Request, error: KafkaError) -> Reply:
        leader = self._quorum.leader
        partition = BeginQuorumEpochResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._quorum.leader_epoch,
        )
        return Reply(
            request.ticket,
            BeginQuorumEpochResponse(
                topics=[BeginQuorumEpochResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )

    def on_end(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self._quorum
        assert isinstance(message, EndQuorumEpochRequest)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, EndQuorumEpochResponse(error_code=error))]
        partition = only_partition(message.topics)
        if partition is None or partition.leader_id < 0:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, EndQuorumEpochResponse(error_code=error))]
        effects: list[Effect] = []
        error = KafkaError.NONE
        if partition.leader_epoch < quorum.leader_epoch:
            error = KafkaError.FENCED_LEADER_EPOCH
        elif not quorum.has_consistent_leader(partition.leader_epoch, partition.leader_id):
            error = KafkaError.INVALID_REQUEST
        elif partition.leader_epoch > quorum.leader_epoch or isinstance(
            quorum.state, FollowerState | UnattachedState | ProspectiveState
        ):
            effects = quorum.become_unattached(partition.leader_epoch, now + self._delay(partition))
        return [*effects, self._ended(request, error)]

    def _delay(self, partition: EndQuorumEpochRequestPartition) -> int:
        """Milliseconds until this voter starts an election: 0 for the first successor, one slot more for each next
        one.

        However many successors there are, the delay is at most `election_backoff_max_ms`, plus a random backoff for a
        voter that is not among them.
        """
        config, successors = self._quorum.config, _preferred_successors(partition)
        own = (ReplicaKey(config.node_id), config.key)
        place = next(
            (index for index, successor in enumerate(successors) if successor in own), None
        )
        turns = (len(successors) if place is None else place) * config.election_slot_ms
        turns = min(turns, config.election_backoff_max_ms)
        return turns if place is not None else turns + self._quorum.backoff()

    def _ended(self, request: Request, error: KafkaError) -> Reply:
        leader = self._quorum.leader
        partition = EndQuorumEpochResponsePartition(
            partition_index=PARTITION,
            error_code=error,
            leader_id=-1 if leader is None else leader.node_id,
            leader_epoch=self._quorum.leader_epoch,
        )
        return Reply(
            request.ticket,
            EndQuorumEpochResponse(
                topics=[EndQuorumEpochResponseTopic(topic_name=TOPIC, partitions=[partition])],
                node_endpoints=endpoints(NodeEndpoint, leader, request),
            ),
        )


def _preferred_successors(partition: EndQuorumEpochRequestPartition) -> list[ReplicaKey]:
    """The preferred successors. Version 1 has them with their directories, in `preferred_candidates`."""
    if partition.preferred_candidates:
        return [
            ReplicaKey(each.candidate_id, each.candidate_directory_id)
            for each in partition.preferred_candidates
        ]
    return [ReplicaKey(successor) for successor in partition.preferred_successors]
