"""AlterConfigs (key 33): the whole set of a resource's settings; what is not named goes back to its default.

Versions 0-2. Old tools read everything, change one key and write everything back, inherited values included.
"""

from brokers.api.config_outcomes import propose
from brokers.api.context import Context
from brokers.effects import Effect
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

KEY = 33
VERSIONS = (0, 2)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, AlterConfigsRequest)
    command = AlterConfigs(tuple(map(_change, message.resources)), message.validate_only)
    return propose(context, request, command, [], _response, now)


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
