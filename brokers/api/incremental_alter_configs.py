"""IncrementalAlterConfigs (key 44): set, delete, append to, subtract from single settings (KIP-339). Versions 0-1."""

from collections.abc import Sequence

from brokers.api.config_outcomes import refused, responses
from brokers.api.controller_apis import ControllerApi
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.metadata.requests.configs import config_operation
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

KEY = ApiKey.INCREMENTAL_ALTER_CONFIGS
VERSIONS = (0, 1)


class IncrementalAlterConfigsHandler(ControllerApi):
    """A resource whose changes cannot be read is refused alone; the controller decides on the others."""

    def command(self, request: Request) -> AlterConfigs:
        message = _message(request)
        return AlterConfigs(tuple(_changes(message, [])), message.validate_only)

    def response(
        self, request: Request, result: Sequence[ConfigOutcome]
    ) -> IncrementalAlterConfigsResponse:
        unreadable: list[ConfigOutcome] = []
        _changes(_message(request), unreadable)
        return _response([*unreadable, *result])

    def refusal(self, request: Request, refusal: Refusal) -> IncrementalAlterConfigsResponse:
        return _response(refused(_message(request).resources, refusal))


def _message(request: Request) -> IncrementalAlterConfigsRequest:
    assert isinstance(request.message, IncrementalAlterConfigsRequest)
    return request.message


def _changes(
    message: IncrementalAlterConfigsRequest, unreadable: list[ConfigOutcome]
) -> list[ConfigChange]:
    """Adds the outcomes of those resources to `unreadable` whose changes cannot be read."""
    changes: list[ConfigChange] = []
    for asked in message.resources:
        try:
            changes.append(_change(asked))
        except Refusal as refusal:
            unreadable += refused([asked], refusal)
    return changes


def _change(asked: IncrementalAlterConfigsResource) -> ConfigChange:
    changes: dict[str, tuple[ConfigOperation, str | None]] = {}
    for item in asked.configs:
        if item.name in changes:
            because = f"{item.name} appears twice for one resource"
            raise Refusal(KafkaError.INVALID_REQUEST, because)
        changes[item.name] = (config_operation(item.config_operation, item.name), item.value)
    return ConfigChange((asked.resource_type, asked.resource_name), changes)


def _response(outcomes: Sequence[ConfigOutcome]) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=responses(IncrementalAlterConfigsResourceResponse, outcomes)
    )
