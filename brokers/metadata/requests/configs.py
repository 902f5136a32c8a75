"""AlterMirrorConfigs (key 10006): the configurations that a link copies from its source."""

from collections.abc import Iterable

from brokers.errors import KafkaError, Refusal, error_from_code
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.metadata.requests.conversion import Conversion, unique, unless_error, with_error
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    AlterMirrorConfigsRequest,
    AlterMirrorConfigsResponse,
    MirrorConfigChange,
    MirrorConfigResource,
    MirrorConfigResult,
)


def config_operation(code: int, name: str) -> ConfigOperation:
    """Raises `Refusal` INVALID_REQUEST for a code that Kafka does not have."""
    try:
        return ConfigOperation(code)
    except ValueError:
        because = f"{name}: unknown operation {code}"
        raise Refusal(KafkaError.INVALID_REQUEST, because) from None


def _request(command: AlterConfigs) -> AlterMirrorConfigsRequest:
    assert command.writer is not None, "a command of no link is carried by Kafka's own request"
    return AlterMirrorConfigsRequest(
        writer=command.writer,
        validate_only=command.validate_only,
        resources=[
            MirrorConfigResource(
                resource_type=item.resource[0],
                resource_name=item.resource[1],
                replace=item.replace,
                configs=[
                    MirrorConfigChange(name=name, operation=operation, value=value)
                    for name, (operation, value) in item.changes.items()
                ],
            )
            for item in command.items
        ],
    )


def _command(request: AlterMirrorConfigsRequest) -> AlterConfigs:
    items = tuple(map(_change, request.resources))
    return AlterConfigs(items, request.validate_only, request.writer)


def _change(resource: MirrorConfigResource) -> ConfigChange:
    changes = unique(
        (each.name, (config_operation(each.operation, each.name), each.value))
        for each in resource.configs
    )
    return ConfigChange((resource.resource_type, resource.resource_name), changes, resource.replace)


def _response(outcomes: Iterable[ConfigOutcome]) -> AlterMirrorConfigsResponse:
    return AlterMirrorConfigsResponse(
        resources=[
            MirrorConfigResult(
                resource_type=outcome.resource[0],
                resource_name=outcome.resource[1],
                error_code=outcome.error,
                error_message=outcome.because,
            )
            for outcome in outcomes
        ]
    )


def _result(response: AlterMirrorConfigsResponse) -> tuple[ConfigOutcome, ...]:
    return tuple(
        ConfigOutcome(
            resource=(each.resource_type, each.resource_name),
            error=error_from_code(each.error_code),
            because=each.error_message,
        )
        for each in response.resources
    )


ALTER_MIRROR_CONFIGS = Conversion(
    api_key=ApiKey.ALTER_MIRROR_CONFIGS,
    command=AlterConfigs,
    to_request=_request,
    to_command=_command,
    to_response=with_error(AlterMirrorConfigsResponse, _response),
    to_result=unless_error(_result),
)
