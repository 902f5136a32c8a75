"""SyncGroup, Heartbeat and LeaveGroup: what members of a generation ask for."""

from brokers.errors import KafkaError, Refusal
from brokers.groups.effects import Answer, GroupEffect
from brokers.groups.membership import Group, Member
from brokers.groups.offsets import member_error
from brokers.groups.parking import synced
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import (
    NO_MEMBER,
    REASON_CHARACTERS_MAX,
    HeartbeatAnswer,
    HeartbeatRequest,
    LeaveAnswer,
    LeaveRequest,
    MemberName,
    SyncRequest,
)
from brokers.groups.states import ANSWERS, Question, State
from brokers.ids import Instant, Ticket
from brokers.timers import Timers


class Following:
    """Raises `Refusal` for what is not a current member's to ask."""

    def __init__(self, timers: Timers, rebalance: Rebalance) -> None:
        self._timers = timers
        self._rebalance = rebalance

    def sync(
        self, ticket: Ticket, group: Group, request: SyncRequest, now: Instant
    ) -> list[GroupEffect]:
        member = self._member(group, request)
        if _differs(request.protocol_type, group.protocol_type) or _differs(
            request.protocol, group.protocol
        ):
            raise Refusal(KafkaError.INCONSISTENT_GROUP_PROTOCOL)
        if error := ANSWERS[Question.SYNC][group.state]:
            raise Refusal(error)
        group.unsynced.pop(member.id, None)
        self._rebalance.sessions.touch(group, member, now)
        if group.state is State.STABLE:
            return [Answer(ticket, synced(group, member))]
        effects = self._rebalance.parking.sync(group, member, ticket)
        if group.leader == member.id:
            effects += self._rebalance.assign(group, request.assignments, now)
        return effects

    def heartbeat(
        self, ticket: Ticket, group: Group, request: HeartbeatRequest, now: Instant
    ) -> list[GroupEffect]:
        member = self._member(group, request)
        if group.state is not State.EMPTY:
            self._rebalance.sessions.touch(group, member, now)
        return [Answer(ticket, HeartbeatAnswer(ANSWERS[Question.HEARTBEAT][group.state]))]

    def _member(self, group: Group, request: SyncRequest | HeartbeatRequest) -> Member:
        if error := member_error(group, request.member_id, request.instance_id):
            raise Refusal(error)
        if request.generation != group.generation:
            raise Refusal(KafkaError.ILLEGAL_GENERATION)
        return group.members[request.member_id]

    def leave(
        self, ticket: Ticket, group: Group, request: LeaveRequest, now: Instant
    ) -> list[GroupEffect]:
        """All at once, so that many leaving members cost one rebalance."""
        effects: list[GroupEffect] = []
        errors: list[tuple[MemberName, KafkaError]] = []
        members_before = len(group.members)
        for name in request.members:
            error, left = self._leave_one(group, name)
            errors.append((name, error))
            effects += left
        if len(group.members) < members_before:
            reason = f": {request.reason[:REASON_CHARACTERS_MAX]}" if request.reason else ""
            effects += self._rebalance.after_removal(group, f"members left{reason}", now)
        effects += self._rebalance.try_complete(
            group, now
        )  # an id given back may have been waited for
        return [*effects, Answer(ticket, LeaveAnswer(KafkaError.NONE, tuple(errors)))]

    def _leave_one(self, group: Group, name: MemberName) -> tuple[KafkaError, list[GroupEffect]]:
        if name.member_id in group.pending:
            if name.instance_id is not None:
                return KafkaError.UNKNOWN_MEMBER_ID, []
            self._timers.cancel(group.pending.pop(name.member_id))
            return KafkaError.NONE, []
        member_id = name.member_id
        if member_id == NO_MEMBER and name.instance_id is not None:
            member_id = group.static_members.get(name.instance_id, NO_MEMBER)
        if error := member_error(group, member_id, name.instance_id):
            return error, []
        return KafkaError.NONE, self._rebalance.dismiss(group, group.members[member_id])


def _differs(asked: str | None, known: str | None) -> bool:
    return asked is not None and asked != known
