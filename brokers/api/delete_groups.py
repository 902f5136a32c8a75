"""DeleteGroups (key 42): forget empty groups and their offsets. Versions 0-2."""

from brokers.api.ports import Groups
from brokers.effects import Effect
from brokers.events import Request
from brokers.groups.requests import DeleteGroupsResult
from brokers.ids import Instant
from brokers.membership.operation_recorder import OperationRecorder
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

KEY = ApiKey.DELETE_GROUPS
VERSIONS = (0, 2)


class DeleteGroupsHandler:
    """Answers DeleteGroups requests."""

    def __init__(self, groups: Groups, recorder: OperationRecorder) -> None:
        self._groups = groups
        self._recorder = recorder

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DeleteGroupsRequest)

        def answered(answer: DeleteGroupsResult) -> DeleteGroupsResponse:
            deleted = [("group", group) for group, error in answer.errors.items() if not error]
            self._recorder.record(request, "DeleteGroups", deleted)
            return _response(answer)

        self._groups.answer(request.ticket, answered)
        deleting = self._groups.coordinator.delete(request.ticket, message.groups_names, now)
        return self._groups.run(deleting, now)


def _response(answer: DeleteGroupsResult) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group, error_code=error)
            for group, error in answer.errors.items()
        ]
    )
