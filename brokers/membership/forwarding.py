"""Forwards requests that only the active controller decides, in an Envelope (KIP-590, Kafka's ForwardingManager).

A client's request is forwarded as it is. A command that an upper layer submits is forwarded as the request that carries
it (`brokers.metadata.requests`), or decided here where this node is the active controller. What the controller answered
is passed on once this node's image has what was decided, and the logs that the image asks for are open. Where nobody
knows what came of a request the error is REQUEST_TIMED_OUT.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal, error_from_code
from brokers.events import Request
from brokers.ids import Instant, Offset
from brokers.membership.controller_channel import (
    FORWARDING_CHANNEL,
    REPEATED_CHANNEL,
    RETRY_MS,
    TIMEOUT_MS,
    ControllerChannel,
    ControllerRequest,
)
from brokers.membership.envelopes import disclose_response, enclose
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs, RaiseLeaderEpochsOfTopics
from brokers.metadata.requests.conversions import conversion_of
from brokers.security.origin import Origin
from brokers.timers import Timers
from brokers.wire.codec import VERSIONS
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.forwarding import EnvelopeResponse
from brokers.wire.primitives import WireError

_REPEATABLE = (RaiseLeaderEpochs, RaiseLeaderEpochsOfTopics)  # done twice they do nothing more
NO_TICKET = 0  # of a request that came over no connection


class ForwardingNode(Protocol):
    """What forwarding uses of its node."""

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller."""

    @property
    def next_offset(self) -> Offset:
        """This node's image has every metadata record below it."""

    def handle(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        """Answer a request here, as the active controller; `then` receives the response."""

    def decide_once(
        self, command: Submitted, then: Then, now: Instant, origin: Origin | None = None
    ) -> list[Effect]:
        """Decide a command here; `then` receives its result, or a `Refusal`, once it is in force."""

    def settled(self, then: Then, result: object, now: Instant) -> list[Effect]:
        """Run `then` once the logs that the image asks for are open."""


@dataclass(slots=True, eq=False)
class _Forwarded:
    """A request under way. `then` receives the response or a `Refusal`."""

    request: Request
    then: Then
    due: Instant
    may_repeat: bool = False


@dataclass(slots=True, eq=False)
class _Decided:
    """A response that waits for this node's image."""

    metadata_offset: Offset
    then: Then
    response: Message
    timer: int = 0


class ForwardingManager:
    """`progressed` after whatever may have changed the image."""

    def __init__(self, node: ForwardingNode, channel: ControllerChannel, timers: Timers) -> None:
        self._node = node
        self._channel = channel
        self._timers = timers
        self._decided: list[_Decided] = []

    def forward(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        """Forward a client's request; `then` receives the response, or a `Refusal` where there is none."""
        return self._begin(_Forwarded(request, then, now + TIMEOUT_MS), now)

    def submit(
        self, command: Submitted, then: Then, now: Instant, client: Request | None = None
    ) -> list[Effect]:
        """`then` receives the result of the command, or a `Refusal`, once it is in force here.

        `client` is the request that it is submitted for, if there is one.
        """
        return self._submit(command, then, now + TIMEOUT_MS, client, now)

    def progressed(self, now: Instant) -> list[Effect]:
        """The image may have grown: pass on the responses that it has now, in the order in which they came."""
        if not self._decided:
            return []
        effects: list[Effect] = []
        reached = self._node.next_offset
        waiting, self._decided = self._decided, []
        for each in waiting:
            if each.metadata_offset > reached:
                self._decided.append(each)
                continue
            self._timers.cancel(each.timer)
            effects += self._node.settled(each.then, each.response, now)
        return effects

    # --- commands ---

    def _submit(
        self,
        command: Submitted,
        then: Then,
        due: Instant,
        client: Request | None,
        now: Instant,
    ) -> list[Effect]:
        if isinstance(command, _REPEATABLE):
            then = partial(self._repeat, command, then, due)
        if self._node.is_active:
            origin = None if client is None else client.origin
            return self._node.decide_once(command, then, now, origin)
        conversion = conversion_of(command)
        key = conversion.api_key
        message, version = conversion.to_request(command), VERSIONS[key][1]
        request = Request(NO_TICKET, key, version, None, "", message)
        if client is not None:
            host, principal = client.client_host, client.principal
            request = replace(
                request, client_id=client.client_id, client_host=host, principal=principal
            )

        def respond(response: Any, now: Instant) -> list[Effect]:
            if isinstance(response, Refusal):
                return then(response, now)
            try:
                result = conversion.to_result(response)
            except Refusal as unreadable:
                result = Refusal(KafkaError.REQUEST_TIMED_OUT, unreadable.because)
            return then(result, now)

        may_repeat = isinstance(command, _REPEATABLE)
        return self._begin(_Forwarded(request, respond, due, may_repeat), now)

    def _repeat(
        self, command: Submitted, then: Then, due: Instant, result: object, now: Instant
    ) -> list[Effect]:
        """Where the outcome is unknown, submit the command again, until its time is over."""
        is_unknown = isinstance(result, Refusal) and result.error is KafkaError.REQUEST_TIMED_OUT
        if not is_unknown or now >= due:
            return then(result, now)
        self._timers.set(now + RETRY_MS, partial(self._submit, command, then, due, None))
        return []

    # --- envelopes ---

    def _begin(self, forwarded: _Forwarded, now: Instant) -> list[Effect]:
        try:
            envelope = enclose(forwarded.request)
        except WireError as error:
            return forwarded.then(Refusal(KafkaError.UNSUPPORTED_VERSION, str(error)), now)
        return self._channel.enqueue(
            ControllerRequest(
                REPEATED_CHANNEL if forwarded.may_repeat else FORWARDING_CHANNEL,
                ApiKey.ENVELOPE,
                envelope,
                partial(self._on_response, forwarded),
                partial(self._node.handle, forwarded.request, forwarded.then),
                forwarded.due,
                forwarded.may_repeat,
            ),
            now,
        )

    def _on_response(
        self, forwarded: _Forwarded, response: EnvelopeResponse | Refusal, now: Instant
    ) -> list[Effect]:
        if isinstance(response, Refusal):
            return forwarded.then(response, now)
        if response.error_code:
            return self._on_error(forwarded, response, now)
        try:
            enclosed = disclose_response(forwarded.request, response)
        except WireError as error:
            return forwarded.then(Refusal(KafkaError.REQUEST_TIMED_OUT, str(error)), now)
        return self._once_in_force(forwarded, response.metadata_offset, enclosed, now)

    def _on_error(
        self, forwarded: _Forwarded, response: EnvelopeResponse, now: Instant
    ) -> list[Effect]:
        """The request was not taken. A controller of an older release names the highest version that it serves."""
        highest = response.highest_version
        if 0 <= highest < forwarded.request.api_version:
            forwarded.request = replace(forwarded.request, api_version=highest)
            return self._begin(forwarded, now)
        error = error_from_code(response.error_code)
        because = f"the active controller does not accept this request: {error.name}"
        if error is KafkaError.UNSUPPORTED_VERSION:
            because = "the active controller does not know this request: upgrade all nodes"
        return forwarded.then(Refusal(error, because), now)

    # --- this node's image ---

    def _once_in_force(
        self, forwarded: _Forwarded, metadata_offset: Offset, response: Message, now: Instant
    ) -> list[Effect]:
        decided = _Decided(metadata_offset, forwarded.then, response)
        decided.timer = self._timers.set(forwarded.due, partial(self._give_up, decided))
        self._decided.append(decided)
        return self.progressed(now)

    def _give_up(self, decided: _Decided, now: Instant) -> list[Effect]:
        if decided not in self._decided:
            return []
        self._decided.remove(decided)
        because = "it is decided, and this node has not read it from the metadata log in time"
        return decided.then(Refusal(KafkaError.REQUEST_TIMED_OUT, because), now)
