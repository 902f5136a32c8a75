"""UnregisterBroker (key 64): a broker that will not come back is forgotten (KIP-631). Version 0."""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import UnregisterBroker
from brokers.wire.messages.broker_lifecycle import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

KEY = 64
VERSIONS = (0, 0)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, UnregisterBrokerRequest)

    def then(result: Refusal | None, now: Instant) -> list[Effect]:
        response = UnregisterBrokerResponse(error_message=None)
        if result is not None:
            response.error_code, response.error_message = result.error, result.because
        return [Reply(request.ticket, response)]

    return context.propose(UnregisterBroker(message.broker_id), then, now)
