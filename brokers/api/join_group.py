"""JoinGroup (key 11): a new member joins a group, or a member rejoins.

Versions 0-9; from 4 a new member is given its id first (KIP-394), 5 knows static members (KIP-345), 9 lets a static
leader skip the assignment (KIP-814). Answered when the group's new generation begins.
"""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.events import Request
from brokers.groups.requests import JoinRequest, JoinResult
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)

KEY = ApiKey.JOIN_GROUP
VERSIONS = (0, 9)
MEMBER_IDS_FROM = 4
NULL_PROTOCOL_FROM = 7
SKIP_ASSIGNMENT_FROM = 9


class JoinGroupHandler:
    """Answers JoinGroup requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, JoinGroupRequest)
        self._groups.answer(request.ticket, lambda answer: _response(answer, request.api_version))
        joining = self._groups.coordinator.join(request.ticket, _asked(request, message), now)
        return self._groups.run(joining, now)


def _asked(request: Request, message: JoinGroupRequest) -> JoinRequest:
    return JoinRequest(
        group=message.group_id,
        member_id=message.member_id,
        instance_id=message.group_instance_id,
        client_id=request.client_id or "",
        client_host=f"/{request.client_host}",  # as Java prints an address, and Kafka's tools show it
        protocol_type=message.protocol_type,
        protocols=tuple((each.name, bytes(each.metadata)) for each in message.protocols),
        session_timeout_ms=message.session_timeout_ms,
        rebalance_timeout_ms=message.rebalance_timeout_ms,
        requires_member_id=request.api_version >= MEMBER_IDS_FROM,
        supports_skipping_assignment=request.api_version >= SKIP_ASSIGNMENT_FROM,
        reason=message.reason or "",
    )


def _response(answer: JoinResult, version: int) -> JoinGroupResponse:
    no_protocol = None if version >= NULL_PROTOCOL_FROM else ""
    return JoinGroupResponse(
        error_code=answer.error,
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name=no_protocol if answer.protocol is None else answer.protocol,
        leader=answer.leader,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata,
            )
            for member in answer.members
        ],
    )
