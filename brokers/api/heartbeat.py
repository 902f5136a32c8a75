"""Heartbeat (key 12): a member is alive, and learns whether its generation still is. Versions 0-4."""

from brokers.api.context import Context
from brokers.effects import Effect
from brokers.events import Request
from brokers.groups.requests import HeartbeatRequest, HeartbeatResult
from brokers.ids import Instant
from brokers.wire.messages.groups import HeartbeatRequest as Message
from brokers.wire.messages.groups import HeartbeatResponse

KEY = 12
VERSIONS = (0, 4)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, Message)
    asked = HeartbeatRequest(
        group=message.group_id,
        generation=message.generation_id,
        member_id=message.member_id,
        instance_id=message.group_instance_id,
    )
    context.answer(request.ticket, _response)
    return context.run_groups(context.groups.heartbeat(request.ticket, asked, now), now)


def _response(answer: HeartbeatResult) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=answer.error)
