"""LeaveGroup (key 13): members leave, or an administrator removes them.

Versions 0-5; one member up to 2, many from 3, where an instance id alone names a static member (KIP-345).
"""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.requests import LeaveRequest, LeaveResult, MemberName
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import LeaveGroupRequest, LeaveGroupResponse, MemberResponse

KEY = ApiKey.LEAVE_GROUP
VERSIONS = (0, 5)
MANY_FROM = 3


class LeaveGroupHandler:
    """Answers LeaveGroup requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, LeaveGroupRequest)
        has_many = request.api_version >= MANY_FROM
        members = (
            [MemberName(each.member_id, each.group_instance_id) for each in message.members]
            if has_many
            else [MemberName(message.member_id)]
        )
        self._groups.answer(request.ticket, _many if has_many else _one)
        reasons = dict.fromkeys(each.reason for each in message.members if each.reason)
        asked = LeaveRequest(message.group_id, tuple(members), "; ".join(reasons))
        return self._groups.run(self._groups.coordinator.leave(request.ticket, asked, now), now)


def _one(answer: LeaveResult) -> LeaveGroupResponse:
    """Its own error is the answer's."""
    errors = [answer.error, *(error for _, error in answer.members)]
    return LeaveGroupResponse(error_code=next(filter(None, errors), KafkaError.NONE))


def _many(answer: LeaveResult) -> LeaveGroupResponse:
    return LeaveGroupResponse(
        error_code=answer.error,
        members=[
            MemberResponse(
                member_id=name.member_id, group_instance_id=name.instance_id, error_code=error
            )
            for name, error in answer.members
        ],
    )
