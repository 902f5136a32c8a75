"""ControllerRegistration (key 70): a controller says where it is reached and what it supports (KIP-919). Version 0."""

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import RegisterController
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

KEY = ApiKey.CONTROLLER_REGISTRATION
VERSIONS = (0, 0)


class ControllerRegistrationHandler:
    """Answers ControllerRegistration requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: object, then: Then, now: Instant) -> list[Effect]:
        assert isinstance(message, ControllerRegistrationRequest)
        if not self._controller.is_active:
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
        return self._controller.decide(command, decided, now)
