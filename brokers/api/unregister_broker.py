"""UnregisterBroker (key 64): the registration of a broker that will not come back is removed (KIP-631). Version 0."""

from brokers.api.controller_apis import ControllerApi
from brokers.errors import Refusal
from brokers.events import Request
from brokers.metadata.commands.broker_commands import UnregisterBroker
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

KEY = ApiKey.UNREGISTER_BROKER
VERSIONS = (0, 0)


class UnregisterBrokerHandler(ControllerApi):
    """Answers UnregisterBroker requests."""

    def command(self, request: Request) -> UnregisterBroker:
        assert isinstance(request.message, UnregisterBrokerRequest)
        return UnregisterBroker(request.message.broker_id)

    def response(self, request: Request, result: None) -> UnregisterBrokerResponse:
        return UnregisterBrokerResponse(error_message=None)

    def refusal(self, request: Request, refusal: Refusal) -> UnregisterBrokerResponse:
        return UnregisterBrokerResponse(error_code=refusal.error, error_message=refusal.because)
