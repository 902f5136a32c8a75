"""ControllerRegistration (key 70): a controller says where it is reached and what it supports (KIP-919). Version 0."""

from brokers.api.context import Context, Then, reply_to
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import RegisterController
from brokers.wire.messages.broker_lifecycle import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

KEY = 70
VERSIONS = (0, 0)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    return serve(context, request.message, reply_to(request.ticket), now)


def serve(context: Context, message: object, then: Then, now: Instant) -> list[Effect]:
    assert isinstance(message, ControllerRegistrationRequest)
    if not context.plane.is_active:
        return then(ControllerRegistrationResponse(error_code=KafkaError.NOT_CONTROLLER), now)

    def decided(result: Refusal | None, now: Instant) -> list[Effect]:
        response = ControllerRegistrationResponse(error_message=None)
        if result is not None:
            response.error_code, response.error_message = result.error, result.because
        return then(response, now)

    command = RegisterController(
        controller_id=message.controller_id,
        incarnation=message.incarnation_id,
        endpoints=tuple((each.name, each.host, each.port) for each in message.listeners),
        features=tuple(
            (each.name, each.min_supported_version, each.max_supported_version)
            for each in message.features
        ),
    )
    return context.decide(command, decided, now)
