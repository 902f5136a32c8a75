"""Requests of this node to the active controller, wherever it is (Kafka's NodeToControllerChannelManager).

The active controller is this node, another one, or not known for the moment: then requests wait. A request that may be
repeated is sent again until a controller has answered it or its time is over. Another one is sent again only while it
was certainly not taken; else the outcome is unknown, which is the error REQUEST_TIMED_OUT.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from brokers.continuations import AskPeer, Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, AskFailure
from brokers.ids import Instant, Peer
from brokers.timers import Timers
from brokers.wire.codec import VERSIONS

OWN_CHANNEL = "controller"
FORWARDING_CHANNEL = (
    "forwarding"  # large requests take their time, and heartbeats must not wait for them
)
# One that may be repeated has a shorter time, and a request that is late ends all others of its channel.
REPEATED_CHANNEL = "forwarding repeated"
REQUEST_MS = 2_000  # how long one controller may take for a request that may be repeated
TIMEOUT_MS = 30_000  # how long a request may take in all, waiting for a controller included
RETRY_MS = 50


class ControllerNode(Protocol):
    """What the channel uses of its node."""

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller."""

    @property
    def controller(self) -> Peer | None:
        """The active controller as far as it is known here; None where that is this node."""

    @property
    def ask(self) -> AskPeer:
        """Sends a request to another node."""

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        """Answer one of Kafka's controller requests here; `then` receives the response."""


@dataclass(slots=True, eq=False)
class ControllerRequest:
    """A request on its way. `here` answers it where this node is the active controller; `due` is when its time is over.

    The response has an `error_code`, of which NOT_CONTROLLER means that the request was not taken.
    """

    channel: str
    api_key: int
    message: object
    then: Then
    here: Callable[[Instant], list[Effect]]
    due: Instant
    may_repeat: bool
    sent_to: Peer | None = None  # None while it waits for a controller
    attempt: int = 0  # an answer to an earlier attempt comes too late


class ControllerChannel:
    """`send` is for the node's own requests, all of which may be repeated. `progressed` after whatever may have changed
    who the active controller is."""

    def __init__(self, node: ControllerNode, timers: Timers) -> None:
        self._node = node
        self._timers = timers
        self._pending: dict[ControllerRequest, None] = {}
        self._controller: Peer | None = None  # where pending requests go
        self._is_ticking = False
        self._is_following = False

    def send(
        self,
        api_key: int,
        message: object,
        then: Then,
        now: Instant,
        *,
        timeout_ms: int = TIMEOUT_MS,
    ) -> list[Effect]:
        """Send one of Kafka's controller requests, in the highest version that both sides know."""
        request = ControllerRequest(
            OWN_CHANNEL,
            api_key,
            message,
            then,
            lambda at: self._node.serve(api_key, message, partial(self._on_response, request), at),
            now + timeout_ms,
            may_repeat=True,
        )
        return self.enqueue(request, now)

    def enqueue(self, request: ControllerRequest, now: Instant) -> list[Effect]:
        """Answer the request here, send it, or keep it until a controller is known."""
        if self._node.is_active:
            return self._answer_here(request, now)
        if not self._pending:
            self._controller = self._node.controller
        self._pending[request] = None
        self._tick(now)
        return self._send(request, now)

    def retry(self, request: ControllerRequest, now: Instant) -> list[Effect]:
        """Send it again after `RETRY_MS`, or when another controller is known. It was not taken, or may be repeated."""
        if now >= request.due:
            return self._end(request, _no_answer(), now)
        request.sent_to, self._pending[request] = None, None
        self._tick(now)
        return []

    def progressed(self, now: Instant) -> list[Effect]:
        """Another controller may be known."""
        return self._follow_controller(now) if self._pending else []

    # --- to the controller ---

    def _follow_controller(self, now: Instant) -> list[Effect]:
        """A request that is answered here leads back to `progressed`, and the stack has no room for hundreds of them:
        the loop that is under way goes on with the rest."""
        if self._is_following:
            return []
        self._is_following = True
        try:
            return self._follow_each(now)
        finally:
            self._is_following = False

    def _follow_each(self, now: Instant) -> list[Effect]:
        """What waits is sent, and what may be repeated leaves a node that is not the active controller any more."""
        was, self._controller = self._controller, self._node.controller
        effects: list[Effect] = []
        if self._controller == was and not self._node.is_active:
            return effects
        for request in list(self._pending):
            if request not in self._pending:
                continue  # ended by what another one led to
            if request.sent_to is not None and not request.may_repeat:
                if self._is_replaced(request.sent_to):
                    request.due = min(request.due, now + REQUEST_MS)
            elif self._node.is_active:
                effects += self._answer_here(request, now)
            else:
                effects += self._send(request, now)
        return effects

    def _is_replaced(self, controller: Peer) -> bool:
        """Not where none is known: followers who have waited long for a busy one ask for votes, and find it again."""
        return self._node.is_active or self._controller not in (None, controller)

    def _send(self, request: ControllerRequest, now: Instant) -> list[Effect]:
        controller = request.sent_to = self._controller
        if controller is None:
            return []
        request.attempt += 1
        left_ms = request.due - now
        return self._node.ask(
            controller,
            request.channel,
            request.api_key,
            VERSIONS[request.api_key][1],
            request.message,
            min(left_ms, REQUEST_MS) if request.may_repeat else left_ms,
            partial(self._on_answer, request, request.attempt),
        )

    def _answer_here(self, request: ControllerRequest, now: Instant) -> list[Effect]:
        self._pending.pop(request, None)
        request.attempt += 1
        return request.here(now)

    # --- from the controller ---

    def _on_answer(
        self, request: ControllerRequest, attempt: int, answered: Answered, now: Instant
    ) -> list[Effect]:
        if attempt != request.attempt or request not in self._pending:
            return []  # sent elsewhere meanwhile, or given up
        if answered.failure is AskFailure.REFUSED:
            return self.retry(request, now)
        if answered.failure is AskFailure.UNSUPPORTED_VERSION:
            because = "the active controller is of a release without this request: upgrade it"
            return self._end(request, Refusal(KafkaError.UNSUPPORTED_VERSION, because), now)
        if answered.message is None:
            if request.may_repeat:
                return self.retry(request, now)
            because = f"the connection to the controller: {answered.failure.value}"
            return self._end(request, Refusal(KafkaError.REQUEST_TIMED_OUT, because), now)
        return self._on_response(request, answered.message, now)

    def _on_response(self, request: ControllerRequest, response: Any, now: Instant) -> list[Effect]:
        if response.error_code == KafkaError.NOT_CONTROLLER:
            return self.retry(request, now)
        return self._end(request, response, now)

    def _end(self, request: ControllerRequest, outcome: object, now: Instant) -> list[Effect]:
        self._pending.pop(request, None)
        return request.then(outcome, now)

    # --- time ---

    def _tick(self, now: Instant) -> None:
        if not self._is_ticking:
            self._is_ticking = True
            self._timers.set(now + RETRY_MS, self._on_tick)

    def _on_tick(self, now: Instant) -> list[Effect]:
        self._is_ticking = False
        effects = self._follow_controller(now)
        for request in list(self._pending):
            if request not in self._pending:
                continue  # ended by what another one led to
            if now >= request.due:
                effects += self._end(request, _no_answer(), now)
            elif request.sent_to is None:
                effects += self._send(request, now)
        if self._pending:
            self._tick(now)
        return effects


def _no_answer() -> Refusal:
    return Refusal(KafkaError.REQUEST_TIMED_OUT, "no controller has answered in time")
