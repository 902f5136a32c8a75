"""IncrementalAlterConfigs (key 44): set, delete, append to, subtract from single settings (KIP-339). Versions 0-1."""

from brokers.api.config_outcomes import propose
from brokers.api.context import Context
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.wire.messages.configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

KEY = 44
VERSIONS = (0, 1)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, IncrementalAlterConfigsRequest)
    changes: list[ConfigChange] = []
    refused: list[ConfigOutcome] = []
    for asked in message.resources:
        try:
            changes.append(_change(asked))
        except Refusal as refusal:
            resource = (asked.resource_type, asked.resource_name)
            error, because = refusal.error, refusal.because
            refused.append(ConfigOutcome(resource=resource, error=error, because=because))
    command = AlterConfigs(tuple(changes), message.validate_only)
    return propose(context, request, command, refused, _response, now)


def _change(asked: IncrementalAlterConfigsResource) -> ConfigChange:
    changes: dict[str, tuple[ConfigOperation, str | None]] = {}
    for item in asked.configs:
        if item.name in changes:
            because = f"{item.name} appears twice for one resource"
            raise Refusal(KafkaError.INVALID_REQUEST, because)
        try:
            operation = ConfigOperation(item.config_operation)
        except ValueError:
            because = f"{item.name}: unknown operation {item.config_operation}"
            raise Refusal(KafkaError.INVALID_REQUEST, because) from None
        changes[item.name] = (operation, item.value)
    return ConfigChange((asked.resource_type, asked.resource_name), changes)


def _response(outcomes: list[ConfigOutcome]) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            IncrementalAlterConfigsResourceResponse(
                error_code=outcome.error,
                error_message=outcome.because,
                resource_type=outcome.resource[0],
                resource_name=outcome.resource[1],
            )
            for outcome in outcomes
        ]
    )
