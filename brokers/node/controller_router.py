"""Routes a request that only the active controller decides: to the handler here, or in an Envelope to another node."""

from functools import partial

from brokers.api.controller_apis import ControllerApi
from brokers.api.ports import reply_to
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.membership.forwarding import ForwardingManager
from brokers.node.local_controller import LocalController


class ControllerRouter:
    """`handle` is the request handler of one API at both listeners."""

    def __init__(
        self, api: ControllerApi, controller: LocalController, forwarding: ForwardingManager
    ) -> None:
        self._api = api
        self._controller = controller
        self._forwarding = forwarding

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        if self._controller.is_active:
            return self._api.serve(request, reply_to(request.ticket), now)
        return self._forwarding.forward(request, partial(self._reply, request), now)

    def _reply(self, request: Request, response: object, now: Instant) -> list[Effect]:
        if isinstance(response, Refusal):
            response = self._api.refusal(request, response)
        return [Reply(request.ticket, response)]
