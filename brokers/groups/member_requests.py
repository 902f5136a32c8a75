"""SyncGroup, Heartbeat and LeaveGroup: the requests of a generation's members."""

from brokers.coordinator.effects import CoordinatorEffect, CoordinatorReply
from brokers.errors import KafkaError, Refusal
from brokers.groups.awaiting_members import sync_result
from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.group_state import MEMBER_API_ERRORS, GroupState, MemberApi
from brokers.groups.offset_commits import validate_member
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import (
    NO_MEMBER,
    REASON_CHARACTERS_MAX,
    HeartbeatRequest,
    HeartbeatResult,
    LeaveRequest,
    LeaveResult,
    MemberName,
    SyncRequest,
)
from brokers.ids import Instant, Ticket
from brokers.timers import Timers


class MemberRequestHandler:
    """Kafka's classicGroupSync, classicGroupHeartbeat and classicGroupLeave.

    Raises Refusal for a sender that is no member of the current generation.
    """

    def __init__(self, timers: Timers, rebalance: Rebalance) -> None:
        self._timers = timers
        self._rebalance = rebalance

    def sync(
        self, ticket: Ticket, group: ClassicGroup, request: SyncRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        member = self._member(group, request)
        if _differs(request.protocol_type, group.protocol_type) or _differs(
            request.protocol, group.protocol
        ):
            raise Refusal(KafkaError.INCONSISTENT_GROUP_PROTOCOL)
        if error := MEMBER_API_ERRORS[MemberApi.SYNC][group.state]:
            raise Refusal(error)
        group.pending_sync_members.pop(member.id, None)
        self._rebalance.sessions.restart(group, member, now)
        if group.state is GroupState.STABLE:
            return [CoordinatorReply(ticket, sync_result(group, member))]
        effects = self._rebalance.awaiting.await_sync(group, member, ticket)
        if group.leader == member.id:
            effects += self._rebalance.assign(group, request.assignments, now)
        return effects

    def heartbeat(
        self, ticket: Ticket, group: ClassicGroup, request: HeartbeatRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        member = self._member(group, request)
        if group.state is not GroupState.EMPTY:
            self._rebalance.sessions.restart(group, member, now)
        return [
            CoordinatorReply(
                ticket, HeartbeatResult(MEMBER_API_ERRORS[MemberApi.HEARTBEAT][group.state])
            )
        ]

    def _member(self, group: ClassicGroup, request: SyncRequest | HeartbeatRequest) -> GroupMember:
        if error := validate_member(group, request.member_id, request.instance_id):
            raise Refusal(error)
        if request.generation != group.generation:
            raise Refusal(KafkaError.ILLEGAL_GENERATION)
        return group.members[request.member_id]

    def leave(
        self, ticket: Ticket, group: ClassicGroup, request: LeaveRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        """Several members of one request leave together and cause one rebalance."""
        effects: list[CoordinatorEffect] = []
        errors: list[tuple[MemberName, KafkaError]] = []
        members_before = len(group.members)
        for name in request.members:
            error, left = self._leave_one(group, name)
            errors.append((name, error))
            effects += left
        if len(group.members) < members_before:
            reason = f": {request.reason[:REASON_CHARACTERS_MAX]}" if request.reason else ""
            effects += self._rebalance.after_removal(group, f"members left{reason}", now)
        effects += self._rebalance.try_complete_join(group, now)  # a pending member left
        return [*effects, CoordinatorReply(ticket, LeaveResult(KafkaError.NONE, tuple(errors)))]

    def _leave_one(
        self, group: ClassicGroup, name: MemberName
    ) -> tuple[KafkaError, list[CoordinatorEffect]]:
        if name.member_id in group.pending_members:
            if name.instance_id is not None:
                return KafkaError.UNKNOWN_MEMBER_ID, []
            self._timers.cancel(group.pending_members.pop(name.member_id))
            return KafkaError.NONE, []
        member_id = name.member_id
        if member_id == NO_MEMBER and name.instance_id is not None:
            member_id = group.static_members.get(name.instance_id, NO_MEMBER)
        if error := validate_member(group, member_id, name.instance_id):
            return error, []
        return KafkaError.NONE, self._rebalance.remove_member(group, group.members[member_id])


def _differs(requested: str | None, known: str | None) -> bool:
    return requested is not None and requested != known
