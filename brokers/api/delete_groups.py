"""DeleteGroups (key 42): forget empty groups and their offsets. Versions 0-2."""

from brokers.api.context import Context
from brokers.effects import Effect
from brokers.events import Request
from brokers.groups.requests import DeleteGroupsResult
from brokers.ids import Instant
from brokers.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

KEY = 42
VERSIONS = (0, 2)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DeleteGroupsRequest)
    context.answer(request.ticket, _response)
    deleting = context.groups.delete(request.ticket, message.groups_names, now)
    return context.run_groups(deleting, now)


def _response(answer: DeleteGroupsResult) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group, error_code=error)
            for group, error in answer.errors.items()
        ]
    )
