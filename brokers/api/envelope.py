"""Envelope (key 58): a command that another node brings to the active controller. Version 0, between nodes.

Kafka's envelope holds a client's whole request (KIP-590); ours holds a command, because some of what nodes ask of the
controller has no request of Kafka's. NOT_CONTROLLER in the envelope itself means that the command was not taken.
"""

from brokers.api.ports import ControllerPort, reply_to
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.encoding import (
    EncodingError,
    Outcome,
    decode_command,
    encode_outcome,
)
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.forwarding import EnvelopeRequest, EnvelopeResponse

KEY = ApiKey.ENVELOPE
VERSIONS = (0, 0)


class EnvelopeHandler:
    """Answers Envelope requests."""

    def __init__(self, metadata: MetadataCache, controller: ControllerPort) -> None:
        self._metadata = metadata
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, EnvelopeRequest)
        reply = reply_to(request.ticket)
        if not self._controller.is_active:
            return reply(EnvelopeResponse(error_code=KafkaError.NOT_CONTROLLER), now)
        try:
            command = decode_command(message.request_data)
        except EncodingError:
            return reply(EnvelopeResponse(error_code=KafkaError.INVALID_REQUEST), now)

        def then(result: object | Refusal, now: Instant) -> list[Effect]:
            # The image here has the decision, and perhaps later ones: who asked waits for all of them.
            outcome = Outcome(result, self._metadata.image.next_offset)
            data = encode_outcome(type(command), outcome)
            return reply(EnvelopeResponse(response_data=data), now)

        return self._controller.decide(command, then, now)
