"""AddRaftVoter, RemoveRaftVoter and UpdateRaftVoter as they come in, and their answers (KIP-853)."""

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
    member: QuorumState
    changes: VoterChanges

    def on_add(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, AddRaftVoterRequest)
        tell = partial(_added, request.ticket)
        if not is_for(message.cluster_id, self.member.config.cluster_id):
            return tell(KafkaError.INCONSISTENT_CLUSTER_ID, "that is another cluster")
        if message.voter_id < 0:
            return tell(KafkaError.INVALID_REQUEST, "a voter's id is not negative")
        endpoints = self._endpoints(message.listeners)
        voter = Voter(message.voter_id, message.voter_directory_id, endpoints)
        until = now + max(0, min(message.timeout_ms, TIMEOUT_MAX_MS))
        early = not message.ack_when_committed
        return self.changes.add(voter, until, tell, early=early, now=now)

    def on_remove(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, RemoveRaftVoterRequest)
        tell = partial(_removed, request.ticket)
        if not is_for(message.cluster_id, self.member.config.cluster_id):
            return tell(KafkaError.INCONSISTENT_CLUSTER_ID, "that is another cluster")
        key = ReplicaKey(message.voter_id, message.voter_directory_id)
        return self.changes.remove(key, now + self._patience_ms, tell, now)

    def on_update(self, request: Request, now: Instant) -> list[Effect]:
        message, member = request.message, self.member
        assert isinstance(message, UpdateRaftVoterRequest)
        tell = partial(self._updated, request.ticket)
        if not is_for(message.cluster_id, member.config.cluster_id):
            return tell(KafkaError.INCONSISTENT_CLUSTER_ID, "")
        if member.leading is None:
            return tell(KafkaError.NOT_LEADER_OR_FOLLOWER, "")
        if message.current_leader_epoch != member.leader_epoch:
            is_behind = message.current_leader_epoch < member.leader_epoch
            error = KafkaError.FENCED_LEADER_EPOCH if is_behind else KafkaError.UNKNOWN_LEADER_EPOCH
            return tell(error, "")
        supported = message.kraft_version_feature
        versions = (supported.min_supported_version, supported.max_supported_version)
        if versions[0] > versions[1] or member.voters.kraft_version not in range(
            versions[0], versions[1] + 1
        ):
            return tell(KafkaError.INVALID_REQUEST, "")
        endpoints = self._endpoints(message.listeners)
        voter = Voter(message.voter_id, message.voter_directory_id, endpoints, versions)
        return self.changes.update(voter, now + self._patience_ms, tell, now)

    @property
    def _patience_ms(self) -> int:
        """Those two requests name no time of their own."""
        return self.member.config.check_quorum_ms

    def _endpoints(self, listeners: Sequence[VoterListener]) -> tuple[QuorumEndpoint, ...]:
        """The listener of controllers first: it is where voters ask one another."""
        own = self.member.config.endpoints
        name = own[0].name if own else None
        found = (QuorumEndpoint(each.name, each.host, each.port) for each in listeners)
        return tuple(sorted(found, key=lambda each: each.name != name))

    def _updated(self, ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
        leader = self.member.leader
        told = None if leader is None else CurrentLeader(
            leader_id=leader.node_id,
            leader_epoch=self.member.leader_epoch,
            host=leader.host,
            port=leader.port,
        )  # fmt: skip
        return [Reply(ticket, UpdateRaftVoterResponse(error_code=error, current_leader=told))]


def _added(ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
    message = AddRaftVoterResponse(error_code=error, error_message=because or None)
    return [Reply(ticket, message)]


def _removed(ticket: Ticket, error: KafkaError, because: str) -> list[Effect]:
    message = RemoveRaftVoterResponse(error_code=error, error_message=because or None)
    return [Reply(ticket, message)]
