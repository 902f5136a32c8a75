"""AlterConfigs (key 33): the whole set of a resource's settings; what is not named goes back to its default.

Versions 0-2. Old tools read everything, change one key and write everything back, inherited values included.
"""

from collections.abc import Sequence

from brokers.api.config_outcomes import decide, refused
from brokers.api.ports import ControllerPort
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import (
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

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def serve(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, AlterConfigsRequest)
        command = AlterConfigs(tuple(map(_change, message.resources)), message.validate_only)
        return decide(self._controller, command, _response, then, now)

    def refusal(self, request: Request, refusal: Refusal) -> AlterConfigsResponse:
        message = request.message
        assert isinstance(message, AlterConfigsRequest)
        resources = ((each.resource_type, each.resource_name) for each in message.resources)
        return _response(refused(resources, refusal))


def _change(asked: AlterConfigsResource) -> ConfigChange:
    changes = {item.name: (ConfigOperation.SET, item.value) for item in asked.configs}
    return ConfigChange((asked.resource_type, asked.resource_name), changes, replace=True)


def _response(outcomes: Sequence[ConfigOutcome]) -> AlterConfigsResponse:
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
