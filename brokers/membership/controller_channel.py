"""The way to the active controller, wherever it is: this node, another one, or for the moment nobody.

A request of Kafka's own is repeated until a controller has answered it or its time is over: all of them may be repeated
harmlessly. A command is repeated only while it has certainly not been taken, or where that makes no difference; else
its asker is told that nobody knows. What a controller decided is told here once this node's image has it too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal, told_error
from brokers.events import Answered, AskFailure
from brokers.ids import Instant, Offset, Peer
from brokers.membership.encoding import (
    EncodingError,
    Outcome,
    decode_outcome,
    encode_command,
)
from brokers.metadata.commands.commands import (
    AllocateProducerIds,
    Command,
    RaiseLeaderEpochs,
    RegisterBroker,
)
from brokers.timers import Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.forwarding import EnvelopeRequest, EnvelopeResponse

CONTROL_CHANNEL = "controller"
COMMAND_CHANNEL = "commands"  # a large one takes its time, and heartbeats must not wait for it
# API key -> version, of what goes to the controller: the highest there is, since all nodes are of one release or two.
VERSIONS: Mapping[int, int] = {
    ApiKey.ALTER_PARTITION: 3,
    ApiKey.ENVELOPE: 0,
    ApiKey.BROKER_REGISTRATION: 4,
    ApiKey.BROKER_HEARTBEAT: 2,
    ApiKey.ALLOCATE_PRODUCER_IDS: 0,
    ApiKey.CONTROLLER_REGISTRATION: 0,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: 0,
}
REQUEST_MS = 2_000  # how long one controller may take; a stalled one is given up for the next
PATIENCE_MS = 30_000  # how long there may be none
TICK_MS = 50  # between attempts

REPEATABLE = (AllocateProducerIds, RaiseLeaderEpochs, RegisterBroker)

Then: TypeAlias = Callable[[Any, Instant], list[Effect]]


class Home(Protocol):
    """What the channel needs of its node."""

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller."""

    @property
    def controller(self) -> Peer | None:
        """The active controller as far as it is known here."""

    @property
    def next_offset(self) -> Offset:
        """Up to where the metadata log is in this node's image."""

    def ask(
        self,
        peer: Peer,
        channel: str,
        api_key: int,
        api_version: int,
        message: object,
        timeout_ms: int,
        then: Callable[[Answered, Instant], list[Effect]],
    ) -> list[Effect]:
        """Ask another node; `then` hears what came of it."""

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        """Answer one of Kafka's controller requests here; `then` gets the response."""

    def decide(self, command: Command, then: Then, now: Instant) -> list[Effect]:
        """Decide a command here; `then` gets its result or `Refusal`."""

    def settled(self, then: Then, result: object, now: Instant) -> list[Effect]:
        """Run `then` once the logs that the image asks for are open."""


@dataclass(slots=True, eq=False)
class _Errand:
    """Something to bring to the controller. `at` is where it is now, None while it waits for one."""

    api_key: int
    message: object  # None for a command that was not encoded yet
    command: Command | None  # None: `message` itself is what is asked
    then: Then
    due: Instant
    may_repeat: bool
    at: Peer | None = None
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A result that this node's image does not have yet."""

    next_offset: Offset
    result: object
    then: Then
    due: Instant


class ControllerChannel:
    """`moved` tells it what may have changed the controller or the image."""

    def __init__(self, home: Home, timers: Timers) -> None:
        self._home = home
        self._timers = timers
        self._errands: dict[_Errand, None] = {}
        self._ahead: list[_Ahead] = []
        self._controller: Peer | None = None  # to whom errands go
        self._ticking = False

    def control(
        self,
        api_key: int,
        message: object,
        then: Then,
        now: Instant,
        *,
        patience_ms: int = PATIENCE_MS,
    ) -> list[Effect]:
        """`then` gets the response, or a `Refusal` if no controller answered in time."""
        return self._begin(_Errand(api_key, message, None, then, now + patience_ms, True), now)

    def propose(self, command: Command, then: Then, now: Instant) -> list[Effect]:
        """`then` gets the result, in force here, or the `Refusal`; REQUEST_TIMED_OUT is "nobody knows"."""
        may_repeat = isinstance(command, REPEATABLE)
        return self._begin(
            _Errand(ApiKey.ENVELOPE, None, command, then, now + PATIENCE_MS, may_repeat), now
        )

    def moved(self, now: Instant) -> list[Effect]:
        """The image may have grown, or another controller be known."""
        effects = self._catch_up(now) if self._ahead else []
        if self._errands:
            effects += self._follow_controller(now)
        return effects

    # --- to the controller ---

    def _begin(self, errand: _Errand, now: Instant) -> list[Effect]:
        errand.at = None
        if self._home.is_active:
            return self._do_here(errand, now)
        if not self._errands:
            self._controller = self._home.controller
        self._errands[errand] = None
        self._tick(now)
        return self._send(errand, now)

    def _follow_controller(self, now: Instant) -> list[Effect]:
        """What waits goes out, and what may be repeated does not stay with one that is controller no more."""
        was, self._controller = self._controller, self._home.controller
        effects: list[Effect] = []
        if self._controller == was and not self._home.is_active:
            return effects
        for errand in list(self._errands):
            if errand not in self._errands:
                continue  # what another led to has ended it
            if errand.at is not None and not errand.may_repeat:
                errand.due = min(errand.due, now + REQUEST_MS)
            elif self._home.is_active:
                effects += self._do_here(errand, now)
            else:
                effects += self._send(errand, now)
        return effects

    def _send(self, errand: _Errand, now: Instant) -> list[Effect]:
        controller = errand.at = self._controller
        if controller is None:
            return []
        if errand.message is None:
            assert errand.command is not None
            errand.message = EnvelopeRequest(request_data=encode_command(errand.command))
        errand.attempt += 1
        patience_ms = errand.due - now
        return self._home.ask(
            controller,
            CONTROL_CHANNEL if errand.command is None else COMMAND_CHANNEL,
            errand.api_key,
            VERSIONS[errand.api_key],
            errand.message,
            min(patience_ms, REQUEST_MS) if errand.may_repeat else patience_ms,
            partial(self._on_answer, errand, errand.attempt),
        )

    def _do_here(self, errand: _Errand, now: Instant) -> list[Effect]:
        self._errands.pop(errand, None)
        errand.attempt += 1  # an answer from elsewhere comes too late
        if errand.command is None:
            return self._home.serve(
                errand.api_key, errand.message, partial(self._on_response, errand), now
            )
        return self._home.decide(errand.command, partial(self._on_decided, errand), now)

    # --- from the controller ---

    def _on_answer(
        self, errand: _Errand, attempt: int, answered: Answered, now: Instant
    ) -> list[Effect]:
        if attempt != errand.attempt or errand not in self._errands:
            return []  # it was sent elsewhere meanwhile, or given up
        if answered.failure is AskFailure.REFUSED:
            return self._again(errand, now)
        if answered.message is None:
            return self._lost(
                errand, f"the connection to the controller: {answered.failure.value}", now
            )
        if errand.command is None:
            return self._on_response(errand, answered.message, now)
        return self._on_envelope(errand, answered.message, now)

    def _on_response(self, errand: _Errand, response: Any, now: Instant) -> list[Effect]:
        if response.error_code == KafkaError.NOT_CONTROLLER:
            return self._again(errand, now)
        self._errands.pop(errand, None)
        return errand.then(response, now)

    def _on_envelope(self, errand: _Errand, response: Any, now: Instant) -> list[Effect]:
        assert isinstance(response, EnvelopeResponse) and errand.command is not None
        if response.error_code == KafkaError.NOT_CONTROLLER:
            return self._again(errand, now)  # it was not taken
        if response.error_code:
            because = "the controller does not understand this command; upgrade all nodes"
            return self._end(errand, Refusal(told_error(response.error_code), because), now)
        try:
            outcome = decode_outcome(type(errand.command), response.response_data or b"")
        except EncodingError as error:
            return self._end(errand, Refusal(KafkaError.REQUEST_TIMED_OUT, str(error)), now)
        return self._on_outcome(errand, outcome, now)

    def _on_outcome(self, errand: _Errand, outcome: Outcome, now: Instant) -> list[Effect]:
        result = outcome.result
        if isinstance(result, Refusal) and result.error is KafkaError.NOT_CONTROLLER:
            return self._lost(errand, result.because, now)
        self._errands.pop(errand, None)
        self._ahead.append(_Ahead(outcome.next_offset, result, errand.then, errand.due))
        self._tick(now)
        return self._catch_up(now)

    def _on_decided(self, errand: _Errand, result: object, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal) and result.error is KafkaError.NOT_CONTROLLER:
            return self._lost(errand, result.because, now)
        return errand.then(result, now)

    # --- again, or not ---

    def _lost(self, errand: _Errand, because: str, now: Instant) -> list[Effect]:
        """It may have been carried out."""
        if errand.may_repeat:
            return self._again(errand, now)
        return self._end(errand, Refusal(KafkaError.REQUEST_TIMED_OUT, because), now)

    def _again(self, errand: _Errand, now: Instant) -> list[Effect]:
        """With the next tick, or when a controller is known."""
        if now >= errand.due:
            return self._end(errand, _nobody(), now)
        errand.at, self._errands[errand] = None, None
        self._tick(now)
        return []

    def _end(self, errand: _Errand, refusal: Refusal, now: Instant) -> list[Effect]:
        self._errands.pop(errand, None)
        return errand.then(refusal, now)

    def _catch_up(self, now: Instant) -> list[Effect]:
        """Results that have come true here, in the order they came."""
        effects: list[Effect] = []
        reached = self._home.next_offset
        waiting, self._ahead = self._ahead, []
        for each in waiting:
            if each.next_offset <= reached:
                effects += self._home.settled(each.then, each.result, now)
            else:
                self._ahead.append(each)
        return effects

    # --- time ---

    def _tick(self, now: Instant) -> None:
        if not self._ticking:
            self._ticking = True
            self._timers.set(now + TICK_MS, self._on_tick)

    def _on_tick(self, now: Instant) -> list[Effect]:
        self._ticking = False
        effects = self._follow_controller(now)
        for errand in list(self._errands):
            if errand not in self._errands:
                continue  # what another led to has ended it
            if now >= errand.due:
                effects += self._end(errand, _nobody(), now)
            elif errand.at is None:
                effects += self._send(errand, now)
        late = [each for each in self._ahead if now >= each.due]
        self._ahead = [each for each in self._ahead if now < each.due]
        for each in late:
            because = "it is decided, and this node has not heard of it from the metadata log"
            effects += each.then(Refusal(KafkaError.REQUEST_TIMED_OUT, because), now)
        if self._errands or self._ahead:
            self._tick(now)
        return effects


def _nobody() -> Refusal:
    return Refusal(KafkaError.REQUEST_TIMED_OUT, "no controller has answered in time")
