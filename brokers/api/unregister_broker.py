"""UnregisterBroker (key 64): a broker that will not come back is forgotten (KIP-631). Version 0."""

from brokers.api.ports import ControllerPort
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import UnregisterBroker
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

KEY = ApiKey.UNREGISTER_BROKER
VERSIONS = (0, 0)


class UnregisterBrokerHandler:
    """Answers UnregisterBroker requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def serve(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, UnregisterBrokerRequest)

        def decided(result: Refusal | None, now: Instant) -> list[Effect]:
            if result is not None:
                return then(self.refusal(request, result), now)
            return then(UnregisterBrokerResponse(error_message=None), now)

        return self._controller.decide_once(UnregisterBroker(message.broker_id), decided, now)

    def refusal(self, request: Request, refusal: Refusal) -> UnregisterBrokerResponse:
        return UnregisterBrokerResponse(error_code=refusal.error, error_message=refusal.because)
