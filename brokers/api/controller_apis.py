"""What the handlers of requests to the active controller share (Kafka's ControllerApis)."""

from abc import ABC, abstractmethod
from typing import Any

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.commands import Command
from brokers.wire.message import Message


class ControllerApi(ABC):
    """An API whose requests brokers forward to the active controller: each request is one command."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def serve(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        """This node is the active controller: `then` receives the response once the decision is in force."""

        def decided(result: Any, at: Instant) -> list[Effect]:
            if isinstance(result, Refusal):
                return then(self.refusal(request, result), at)
            return [*self.changes(result), *then(self.response(request, result), at)]

        try:
            command = self.command(request)
        except Refusal as refusal:
            return then(self.refusal(request, refusal), now)
        return self._controller.decide_once(command, decided, now, request.origin)

    @abstractmethod
    def command(self, request: Request) -> Command:
        """What the controller decides. Raises `Refusal`."""

    @abstractmethod
    def response(self, request: Request, result: Any) -> Message:
        """The response to a request with the result of its command."""

    @abstractmethod
    def refusal(self, request: Request, refusal: Refusal) -> Message:
        """The response to a request that was not decided."""

    def changes(self, result: Any) -> list[Effect]:
        """What the operator should know of the result."""
        return []


class ControllerService(ABC):
    """An API that nodes, not clients, ask of the active controller; a node may ask itself."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: Any, then: Then, now: Instant) -> list[Effect]:
        """`then` receives the response once the decision is in force."""

        def decided(result: Any, at: Instant) -> list[Effect]:
            refused = isinstance(result, Refusal)
            return then(self.refusal(result) if refused else self.response(result), at)

        try:
            if not self._controller.is_active:
                raise Refusal(KafkaError.NOT_CONTROLLER)
            command = self.command(message)
        except Refusal as refusal:
            return then(self.refusal(refusal), now)
        return self._controller.decide(command, decided, now)

    @abstractmethod
    def command(self, message: Any) -> Command:
        """What the controller decides. Raises `Refusal`."""

    @abstractmethod
    def response(self, result: Any) -> Message:
        """The response with the result of the command."""

    @abstractmethod
    def refusal(self, refusal: Refusal) -> Message:
        """The response to a request that was not decided."""
