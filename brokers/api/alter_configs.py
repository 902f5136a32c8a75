"""AlterConfigs (key 33): the whole set of a resource's settings; what is not named goes back to its default.

Versions 0-2. Old tools read everything, change one key and write everything back, inherited values included.
"""

from brokers.api.config_outcomes import propose
from brokers.effects import Effect
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.controller_channel import ControllerChannel
from brokers.metadata.commands.commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

KEY = ApiKey.ALTER_CONFIGS
VERSIONS = (0, 2)


class AlterConfigsHandler:
    """Answers AlterConfigs requests."""

    def __init__(self, channel: ControllerChannel) -> None:
        self._channel = channel

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, AlterConfigsRequest)
        command = AlterConfigs(tuple(map(_change, message.resources)), message.validate_only)
        return propose(self._channel, request, command, [], _response, now)


def _change(asked: AlterConfigsResource) -> ConfigChange:
    changes = {item.name: (ConfigOperation.SET, item.value) for item in asked.configs}
    return ConfigChange((asked.resource_type, asked.resource_name), changes, replace=True)


def _response(outcomes: list[ConfigOutcome]) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=outcome.error,
                error_message=outcome.because,
                resource_type=outcome.resource[0],
                resource_name=outcome.resource[1],
            )
            for outcome in outcomes
        ]
    )
