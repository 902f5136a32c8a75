"""Envelope (key 58): a request that another node forwards to the active controller (KIP-590). Version 0, for nodes.

It encloses what only the active controller decides: requests of clients, and requests of our own (keys 10000 and up).
NOT_CONTROLLER in the envelope itself means that the request was not taken.
"""

from collections.abc import Mapping

from brokers.api.controller_apis import ControllerApi
from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Changed, Effect
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.envelopes import disclose, enclose_response
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.forwarding import EnvelopeResponse
from brokers.wire.primitives import WireError

KEY = ApiKey.ENVELOPE
VERSIONS = (0, 0)


class EnvelopeHandler:
    """Answers Envelope requests. `served`: API key -> first and last version that may be enclosed."""

    def __init__(
        self,
        metadata: MetadataCache,
        controller: ControllerPort,
        apis: Mapping[int, ControllerApi],
        served: Mapping[int, tuple[int, int]],
    ) -> None:
        self._metadata = metadata
        self._controller = controller
        self._apis = apis
        self._served = served

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        reply = reply_to(request.ticket)
        if not self._controller.is_active:
            return reply(EnvelopeResponse(error_code=KafkaError.NOT_CONTROLLER), now)
        enclosed = disclose(request, self._served)
        if isinstance(enclosed, EnvelopeResponse):
            return reply(enclosed, now)
        return self._apis[enclosed.api_key].serve(enclosed, self._respond(enclosed, reply), now)

    def _respond(self, enclosed: Request, reply: Then) -> Then:
        def respond(response: Message, now: Instant) -> list[Effect]:
            # The image here has the decision, and perhaps later ones: the sender waits for all of them.
            reached = self._metadata.image.next_offset
            try:
                envelope = enclose_response(enclosed, response, reached)
            except WireError as error:
                what = f"the response to {ApiKey(enclosed.api_key).name}"
                refused = EnvelopeResponse(error_code=KafkaError.UNKNOWN_SERVER_ERROR)
                return [Changed(what, "not encoded", str(error)), *reply(refused, now)]
            return reply(envelope, now)

        return respond
