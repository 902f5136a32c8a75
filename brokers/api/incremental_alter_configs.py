"""IncrementalAlterConfigs (key 44): set, delete, append to, subtract from single settings (KIP-339). Versions 0-1."""

from collections.abc import Sequence

from brokers.api.config_outcomes import decide, refused
from brokers.api.ports import ControllerPort
from brokers.continuations import Then
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


class IncrementalAlterConfigsHandler:
    """Answers IncrementalAlterConfigs requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def serve(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        """A resource whose changes cannot be read is refused alone; the controller decides on the others."""
        message = request.message
        assert isinstance(message, IncrementalAlterConfigsRequest)
        changes: list[ConfigChange] = []
        unreadable: list[ConfigOutcome] = []
        for asked in message.resources:
            try:
                changes.append(_change(asked))
            except Refusal as refusal:
                unreadable += refused([(asked.resource_type, asked.resource_name)], refusal)

        def respond(outcomes: Sequence[ConfigOutcome]) -> IncrementalAlterConfigsResponse:
            return _response([*unreadable, *outcomes])

        command = AlterConfigs(tuple(changes), message.validate_only)
        return decide(self._controller, command, respond, then, now)

    def refusal(self, request: Request, refusal: Refusal) -> IncrementalAlterConfigsResponse:
        message = request.message
        assert isinstance(message, IncrementalAlterConfigsRequest)
        resources = ((each.resource_type, each.resource_name) for each in message.resources)
        return _response(refused(resources, refusal))


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
