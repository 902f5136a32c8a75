"""RecordOperation (key 10008)."""

from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.requests.conversion import Conversion, unless_error, with_error
from brokers.security.origin import Origin
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    RecordedResource,
    RecordOperationRequest,
    RecordOperationResponse,
)


def _request(command: RecordOperation) -> RecordOperationRequest:
    return RecordOperationRequest(
        principal=command.origin.principal,
        client_id=command.origin.client_id,
        host=command.origin.host,
        operation=command.operation,
        resources=[
            RecordedResource(resource_type=kind, name=name) for kind, name in command.resources
        ],
        details=command.details,
    )


def _command(request: RecordOperationRequest) -> RecordOperation:
    return RecordOperation(
        origin=Origin(request.principal, request.client_id, request.host),
        operation=request.operation,
        resources=tuple((each.resource_type, each.name) for each in request.resources),
        details=request.details,
    )


RECORD_OPERATION = Conversion(
    api_key=ApiKey.RECORD_OPERATION,
    command=RecordOperation,
    to_request=_request,
    to_command=_command,
    to_response=with_error(RecordOperationResponse, lambda _: RecordOperationResponse()),
    to_result=unless_error(lambda _: None),
)
