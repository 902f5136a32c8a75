"""SyncGroup (key 14): the leader sends the assignment, each member receives its part.

Versions 0-5; from 5 protocol type and name are required and checked (KIP-559).
"""

from brokers.api.ports import Groups
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.groups.requests import SyncRequest, SyncResult
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import SyncGroupRequest, SyncGroupResponse

KEY = ApiKey.SYNC_GROUP
VERSIONS = (0, 5)
PROTOCOL_REQUIRED_FROM = 5


class SyncGroupHandler:
    """Answers SyncGroup requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, SyncGroupRequest)
        if request.api_version >= PROTOCOL_REQUIRED_FROM and None in (
            message.protocol_type,
            message.protocol_name,
        ):
            refused = SyncGroupResponse(error_code=KafkaError.INCONSISTENT_GROUP_PROTOCOL)
            return [Reply(request.ticket, refused)]
        asked = SyncRequest(
            group=message.group_id,
            generation=message.generation_id,
            member_id=message.member_id,
            instance_id=message.group_instance_id,
            protocol_type=message.protocol_type,
            protocol=message.protocol_name,
            assignments={each.member_id: bytes(each.assignment) for each in message.assignments},
        )
        self._groups.answer(request.ticket, _response)
        return self._groups.run(self._groups.coordinator.sync(request.ticket, asked, now), now)


def _response(answer: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=answer.error,
        protocol_type=answer.protocol_type,
        protocol_name=answer.protocol,
        assignment=answer.assignment,
    )
