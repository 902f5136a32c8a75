"""Answers AddRaftVoter, RemoveRaftVoter and UpdateRaftVoter (KIP-853)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant, Ticket
from brokers.quorum.ids import ReplicaKey
from brokers.quorum.messages import is_for
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voter_changes import VoterChanges
from brokers.quorum.voters import QuorumEndpoint, Voter
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    CurrentLeader,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
    VoterListener,
)

TIMEOUT_MAX_MS = 600_000


@dataclass(frozen=True, slots=True)
class VoterRequests:
    quorum: QuorumState
    changes: VoterChanges

    def on_add(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, AddRaftVoterRequest)
        respond = partial(_added, request.ticket)
        if not is_for(message.cluster_id, self.quorum.config.cluster_id):
            return respond(KafkaError.INCONSISTENT_CLUSTER_ID, "that is another cluster")
        if message.voter_id < 0:
            return respond(KafkaError.INVALID_REQUEST, "a voter's id is not negative")
        endpoints = self._endpoints(message.listeners)
        voter = Voter(message.voter_id, message.voter_directory_id, endpoints)
        until = now + max(0, min(message.timeout_ms, TIMEOUT_MAX_MS))
        early = not message.ack_when_committed
        return self.changes.add(voter, until, respond, early=early, now=now)

    def on_remove(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, RemoveRaftVoterRequest)
        respond = partial(_removed, request.ticket)
        if not is_for(message.cluster_id, self.quorum.config.cluster_id):
            return respond(KafkaError.INCONSISTENT_CLUSTER_ID, "that is another cluster")
        key = ReplicaKey(message.voter_id, message.voter_directory_id)
        return self.changes.remove(key, now + self._timeout_ms, respond, now)

    def on_update(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self.quorum
        assert isinstance(message, UpdateRaftVoterRequest)
        respond = partial(self._updated, request.ticket)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            return respond(KafkaError.INCONSISTENT_CLUSTER_ID, "")
        if quorum.leader_state is None:
            return respond(KafkaError.NOT_LEADER_OR_FOLLOWER, "")
        if message.current_leader_epoch != quorum.leader_epoch:
            is_behind = message.current_leader_epoch < quorum.leader_epoch
            error = KafkaError.FENCED_LEADER_EPOCH if is_behind else KafkaError.UNKNOWN_LEADER_EPOCH
            return respond(error, "")
        supported = message.kraft_version_feature
        versions = (supported.min_supported_version, supported.max_supported_version)
        if versions[0] > versions[1] or quorum.voters.kraft_version not in range(
            versions[0], versions[1] + 1
        ):
            return respond(KafkaError.INVALID_REQUEST, "")
        endpoints = self._endpoints(message.listeners)
        voter = Voter(message.voter_id, message.voter_directory_id, endpoints, versions)
        return self.changes.update(voter, now + self._timeout_ms, respond, now)

    @property
    def _timeout_ms(self) -> int:
        """RemoveRaftVoter and UpdateRaftVoter have no timeout of their own."""
        return self.quorum.config.check_quorum_ms

    def _endpoints(self, listeners: Sequence[VoterListener]) -> tuple[QuorumEndpoint, ...]:
        """The controller listener first: voters send their requests there."""
        own = self.quorum.config.endpoints
        name = own[0].name if own else None
        found = (QuorumEndpoint(each.name, each.host, each.port) for each in listeners)
        return tuple(sorted(found, key=lambda each: each.name != name))

    def _updated(self, ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
        leader = self.quorum.leader
        current = None if leader is None else CurrentLeader(
            leader_id=leader.node_id,
            leader_epoch=self.quorum.leader_epoch,
            host=leader.host,
            port=leader.port,
        )  # fmt: skip
        return [Reply(ticket, UpdateRaftVoterResponse(error_code=error, current_leader=current))]


def _added(ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
    message = AddRaftVoterResponse(error_code=error, error_message=because or None)
    return [Reply(ticket, message)]


def _removed(ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
    message = RemoveRaftVoterResponse(error_code=error, error_message=because or None)
    return [Reply(ticket, message)]
