"""DescribeGroups (key 15): state, members and assignments of groups.

Versions 0-6; 6 says GROUP_ID_NOT_FOUND (KIP-1043) where older ones call the group Dead.
"""

from brokers.api.ports import Groups
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.group_state import GroupState
from brokers.groups.requests import GroupDescription, MemberDescription
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

KEY = ApiKey.DESCRIBE_GROUPS
VERSIONS = (0, 6)
NOT_FOUND_FROM = 6
# Without an authorizer everything is allowed: READ (3), DELETE (6) and DESCRIBE (8), a bit each (KIP-430).
GROUP_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8
NOT_ASKED = -(1 << 31)


class DescribeGroupsHandler:
    """Answers DescribeGroups requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeGroupsRequest)
        operations = GROUP_OPERATIONS if message.include_authorized_operations else NOT_ASKED
        groups = [
            _group(description, operations, request.api_version)
            for description in self._groups.coordinator.describe(message.groups)
        ]
        return [Reply(request.ticket, DescribeGroupsResponse(groups=groups))]


def _group(description: GroupDescription, operations: int, version: int) -> DescribedGroup:
    is_unknown = description.error is KafkaError.GROUP_ID_NOT_FOUND
    error = description.error
    if is_unknown and version < NOT_FOUND_FROM:
        error = KafkaError.NONE
    has_state = is_unknown or not error
    return DescribedGroup(
        error_code=error,
        error_message=f"Group {description.group} not found." if error and is_unknown else None,
        group_id=description.group,
        group_state=(GroupState.DEAD if is_unknown else description.state).value
        if has_state
        else "",
        protocol_type=description.protocol_type,
        protocol_data=description.protocol,
        members=[_member(member) for member in description.members],
        authorized_operations=NOT_ASKED if error else operations,
    )


def _member(member: MemberDescription) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata,
        member_assignment=member.assignment,
    )
