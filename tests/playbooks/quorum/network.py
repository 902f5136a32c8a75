"""Connections between members: what goes over one arrives in order or not at all, and can be late, lost or refused."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brokers.effects import Ask, Reply
from brokers.events import AskFailure, Listener, Request
from tests.kernel.exchange import Exchange
from tests.kernel.timeline import Timeline


@dataclass(slots=True)
class Scenario:
    """Chances per message, delays in ms, and which directions are cut."""

    loss: float = 0.0
    delay_max: int = 5
    slow: float = 0.0  # chance of a message that takes up to a second
    cuts: set[tuple[int, int]] = field(default_factory=set)

    def clear(self) -> None:
        self.loss, self.slow, self.delay_max = 0.0, 0.0, 5
        self.cuts.clear()


class Network:
    """Asks become requests of the target's life, replies become answers of the asker's; a life that ended gets none."""

    def __init__(self, rng: random.Random, timeline: Timeline) -> None:
        self._rng = rng
        self._timeline = timeline
        self._later = timeline.after
        self.scenario = Scenario()
        self.lives: dict[int, Any] = {}  # node id -> the life that listens there, if one does
        self._exchange = Exchange(timeline, lambda life, answered: life.take_answer(answered))
        self.answers: dict[int, Any] = {}  # to who has no connection
        self._arrivals: dict[tuple[int, int, str], int] = {}  # per connection: order is kept
        self.heard: Callable[[Any, Ask], None] = lambda asker, ask: None
        self.told: Callable[[Any, Request, Any], None] = lambda target, request, message: None

    def ask(self, asker: Any, ask: Ask) -> None:
        ticket = self._exchange.begin(asker, ask)
        way = (asker.id, ask.peer.node_id)
        if self._is_lost(way):
            if self._rng.random() < 0.5:
                self._close(ticket)
            return
        self._in_order((*way, ask.channel), lambda: self._arrive(ticket))

    def _arrive(self, ticket: int) -> None:
        flight = self._exchange.flights.get(ticket)
        if flight is None:
            return
        target = self.lives.get(flight.ask.peer.node_id)
        if target is None:
            self._later(1, lambda: self._exchange.end(ticket, None, AskFailure.REFUSED))
            return
        self.heard(flight.asker, flight.ask)
        target.take_request(self._exchange.arrive(ticket, target, Listener.CONTROLLER))

    def reply(self, target: Any, reply: Reply, request: Request) -> None:
        flight = self._exchange.flights.get(reply.ticket)
        self.told(target, request, reply.message)
        if flight is None:
            self.answers[reply.ticket] = reply.message
            return
        way = (target.id, flight.asker.id)
        if self._is_lost(way):
            return
        answer = lambda: self._exchange.end(reply.ticket, reply.message)  # noqa: E731
        self._in_order((*way, flight.ask.channel), answer)

    def gone(self, life: Any) -> None:
        """A life ended: who waits for it hears that the connection is lost, unless the machine went with it."""
        for ticket in self._exchange.gone(life):
            if self._rng.random() < 0.8:
                self._close(ticket)

    def _close(self, ticket: int) -> None:
        self._later(self._delay(), lambda: self._exchange.end(ticket, None, AskFailure.CLOSED))

    def _is_lost(self, way: tuple[int, int]) -> bool:
        return way in self.scenario.cuts or self._rng.random() < self.scenario.loss

    def _delay(self) -> int:
        if self._rng.random() < self.scenario.slow:
            return self._rng.randint(1, 1_000)
        return self._rng.randint(0, self.scenario.delay_max)

    def _in_order(self, connection: tuple[int, int, str], act: Callable[[], None]) -> None:
        now = self._timeline.now
        due = max(now + self._delay(), self._arrivals.get(connection, 0))
        self._arrivals[connection] = due
        self._later(due - now, act)
