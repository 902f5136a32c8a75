"""UnregisterBroker (key 64): a broker that will not come back is forgotten (KIP-631). Version 0."""

from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.controller_channel import ControllerChannel
from brokers.metadata.commands.commands import UnregisterBroker
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

KEY = ApiKey.UNREGISTER_BROKER
VERSIONS = (0, 0)


class UnregisterBrokerHandler:
    """Answers UnregisterBroker requests."""

    def __init__(self, channel: ControllerChannel) -> None:
        self._channel = channel

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, UnregisterBrokerRequest)

        def then(result: Refusal | None, now: Instant) -> list[Effect]:
            response = UnregisterBrokerResponse(error_message=None)
            if result is not None:
                response.error_code, response.error_message = result.error, result.because
            return [Reply(request.ticket, response)]

        return self._channel.propose(UnregisterBroker(message.broker_id), then, now)
