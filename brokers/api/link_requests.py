"""What links ask of the active controller (keys 10000 and up, `brokers/wire/schema/links.txt`): not Kafka's, and served
only to other nodes, inside an Envelope."""

from collections.abc import Mapping
from typing import Any

from brokers.api.controller_apis import ControllerApi
from brokers.api.ports import ControllerPort
from brokers.errors import Refusal
from brokers.events import Request
from brokers.metadata.commands.commands import Command
from brokers.metadata.requests.conversion import AnyConversion
from brokers.metadata.requests.conversions import OWN_APIS
from brokers.wire.codec import VERSIONS as CODEC_VERSIONS
from brokers.wire.message import Message

VERSIONS: Mapping[int, tuple[int, int]] = {key: CODEC_VERSIONS[key] for key in OWN_APIS}


class LinkRequestHandler(ControllerApi):
    """Answers the requests of one API of our own: each carries one command."""

    def __init__(self, conversion: AnyConversion, controller: ControllerPort) -> None:
        super().__init__(controller)
        self._conversion = conversion

    def command(self, request: Request) -> Command:
        command: Command = self._conversion.to_command(request.message)
        return command

    def response(self, request: Request, result: Any) -> Message:
        response: Message = self._conversion.to_response(request.message, result)
        return response

    def refusal(self, request: Request, refusal: Refusal) -> Message:
        return self.response(request, refusal)
