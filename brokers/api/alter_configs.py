"""AlterConfigs (key 33): the whole set of a resource's settings; what is not named goes back to its default.

Versions 0-2. Old tools read everything, change one key and write everything back, inherited values included.
"""

from collections.abc import Sequence

from brokers.api.config_outcomes import refused, responses
from brokers.api.controller_apis import ControllerApi
from brokers.errors import Refusal
from brokers.events import Request
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


class AlterConfigsHandler(ControllerApi):
    """Answers AlterConfigs requests."""

    def command(self, request: Request) -> AlterConfigs:
        message = _message(request)
        return AlterConfigs(tuple(map(_change, message.resources)), message.validate_only)

    def response(self, request: Request, result: Sequence[ConfigOutcome]) -> AlterConfigsResponse:
        return AlterConfigsResponse(responses=responses(AlterConfigsResourceResponse, result))

    def refusal(self, request: Request, refusal: Refusal) -> AlterConfigsResponse:
        return self.response(request, refused(_message(request).resources, refusal))


def _message(request: Request) -> AlterConfigsRequest:
    assert isinstance(request.message, AlterConfigsRequest)
    return request.message


def _change(asked: AlterConfigsResource) -> ConfigChange:
    changes = {item.name: (ConfigOperation.SET, item.value) for item in asked.configs}
    return ConfigChange((asked.resource_type, asked.resource_name), changes, replace=True)
