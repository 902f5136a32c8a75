"""A node that knows of the active controller what a test says."""

from collections.abc import Callable
from typing import Any

from brokers.effects import Ask, Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, AskFailure, Request
from brokers.ids import Instant, Peer
from brokers.membership.controller_channel import RETRY_MS, ControllerChannel
from brokers.membership.forwarding import ForwardingManager
from brokers.security.origin import Origin
from brokers.timers import Timers

ONE, TWO = Peer(1, "a", 91), Peer(2, "b", 92)

Then = Callable[[Any, Instant], list[Effect]]


class ControllerNode:
    """`asked` went to other nodes; `here` is for this node to answer; `results` are what callers received."""

    def __init__(self) -> None:
        self.is_active = False
        self.controller: Peer | None = None
        self.next_offset = 0
        self.now = 1_000
        self.timers = Timers()
        self.channel = ControllerChannel(self, self.timers)
        self.forwarding = ForwardingManager(self, self.channel, self.timers)
        self.asked: list[Ask] = []
        self.here: list[tuple[object, Then]] = []
        self.results: list[Any] = []
        self._then: dict[int, Callable[[Answered, Instant], list[Effect]]] = {}

    # --- what the channel and forwarding use ---

    def ask(self, *about: Any) -> list[Effect]:
        *fields, then = about
        ask = Ask(len(self._then), *fields)
        self._then[ask.ticket] = then
        return [ask]

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        self.here.append((message, then))
        return []

    def handle(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        self.here.append((request, then))
        return []

    def decide_once(
        self, command: object, then: Then, now: Instant, origin: Origin | None = None
    ) -> list[Effect]:
        self.here.append((command, then))
        return []

    def settled(self, then: Then, result: object, now: Instant) -> list[Effect]:
        return [Changed("logs", "open"), *then(result, now)]

    # --- what a test does ---

    def received(self, result: Any, now: Instant) -> list[Effect]:
        self.results.append(result)
        return []

    def move(
        self, controller: Peer | None = None, *, active: bool = False, next_offset: int = 0
    ) -> None:
        self.controller, self.is_active, self.next_offset = controller, active, next_offset
        self.take(self.forwarding.progressed(self.now))
        self.take(self.channel.progressed(self.now))

    def answer(
        self, message: object | None, failure: AskFailure = AskFailure.NONE, index: int = -1
    ) -> None:
        """Another node answers one of `asked`."""
        ticket = self.asked[index].ticket
        self.take(self._then.pop(ticket)(Answered(ticket, message, failure), self.now))

    def finish(self, result: object, index: int = -1) -> None:
        """What this node was to answer itself is done."""
        self.take(self.here[index][1](result, self.now))

    def wait(self, milliseconds: int = RETRY_MS) -> None:
        until = self.now + milliseconds
        while (due := self.timers.deadline) is not None and due <= until:
            self.now = due
            for act in self.timers.due(due):
                self.take(act(due))
        self.now = until

    def take(self, effects: list[Effect]) -> None:
        self.asked += [effect for effect in effects if isinstance(effect, Ask)]

    def errors(self) -> list[KafkaError]:
        return [each.error for each in self.results if isinstance(each, Refusal)]
