"""ControllerRegistration (key 70): the endpoints and features of a controller (KIP-919). Version 0."""

from brokers.api.controller_apis import ControllerService
from brokers.errors import Refusal
from brokers.metadata.commands.broker_commands import RegisterController
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

KEY = ApiKey.CONTROLLER_REGISTRATION
VERSIONS = (0, 0)


class ControllerRegistrationHandler(ControllerService):
    """Answers ControllerRegistration requests."""

    def command(self, message: ControllerRegistrationRequest) -> RegisterController:
        return RegisterController(
            controller_id=message.controller_id,
            incarnation=message.incarnation_id,
            endpoints=tuple((each.name, each.host, each.port) for each in message.listeners),
            features=tuple(
                (each.name, each.min_supported_version, each.max_supported_version)
                for each in message.features
            ),
        )

    def response(self, result: None) -> ControllerRegistrationResponse:
        return ControllerRegistrationResponse(error_message=None)

    def refusal(self, refusal: Refusal) -> ControllerRegistrationResponse:
        return ControllerRegistrationResponse(
            error_code=refusal.error, error_message=refusal.because
        )
