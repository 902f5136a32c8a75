"""Heartbeat (key 12): a member is alive; the response tells it to rejoin when it must. Versions 0-4."""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.events import Request
from brokers.groups.requests import HeartbeatRequest, HeartbeatResult
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import HeartbeatRequest as Message
from brokers.wire.messages.groups import HeartbeatResponse

KEY = ApiKey.HEARTBEAT
VERSIONS = (0, 4)


class HeartbeatHandler:
    """Answers Heartbeat requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, Message)
        asked = HeartbeatRequest(
            group=message.group_id,
            generation=message.generation_id,
            member_id=message.member_id,
            instance_id=message.group_instance_id,
        )
        self._groups.answer(request.ticket, _response)
        return self._groups.run(self._groups.coordinator.heartbeat(request.ticket, asked, now), now)


def _response(answer: HeartbeatResult) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=answer.error)
