"""ListGroups (key 16): the groups that this broker coordinates.

Versions 0-5; 4 filters by state (KIP-518), 5 by type (KIP-848).
"""

from brokers.api.ports import Groups
from brokers.effects import Effect, Reply
from brokers.events import Request
from brokers.groups.requests import CLASSIC
from brokers.ids import Instant
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import ListedGroup, ListGroupsRequest, ListGroupsResponse

KEY = ApiKey.LIST_GROUPS
VERSIONS = (0, 5)


class ListGroupsHandler:
    """Answers ListGroups requests."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, ListGroupsRequest)
        listing = self._groups.coordinator.list_groups(message.states_filter, message.types_filter)
        response = ListGroupsResponse(
            error_code=listing.error,
            groups=[
                ListedGroup(
                    group_id=group.group,
                    protocol_type=group.protocol_type,
                    group_state=group.state.value,
                    group_type=CLASSIC,
                )
                for group in listing.groups
            ],
        )
        return [Reply(request.ticket, response)]
