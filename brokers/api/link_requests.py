"""What links ask of the active controller (keys 10000 and up, `brokers/wire/schema/links.txt`): not Kafka's, and served
only to other nodes, inside an Envelope."""

from collections.abc import Mapping
from typing import Any

from brokers.api.ports import ControllerPort
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.requests.conversion import AnyConversion
from brokers.metadata.requests.conversions import OWN_APIS
from brokers.wire.codec import VERSIONS as CODEC_VERSIONS
from brokers.wire.message import Message

VERSIONS: Mapping[int, tuple[int, int]] = {key: CODEC_VERSIONS[key] for key in OWN_APIS}


class LinkRequestHandler:
    """Answers the requests of one API of our own: each carries one command."""

    def __init__(self, conversion: AnyConversion, controller: ControllerPort) -> None:
        self._conversion = conversion
        self._controller = controller

    def serve(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        try:
            command = self._conversion.to_command(request.message)
        except Refusal as refusal:
            return then(self.refusal(request, refusal), now)

        def decided(result: Any, now: Instant) -> list[Effect]:
            return then(self._conversion.to_response(command, result), now)

        return self._controller.decide_once(command, decided, now)

    def refusal(self, request: Request, refusal: Refusal) -> Message:
        response: Message = self._conversion.to_response(request.message, refusal)
        return response
