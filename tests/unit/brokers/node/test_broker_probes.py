"""The active controller's questions to brokers, and what it proposes about the answers."""

import random
from typing import Any
from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Effect
from brokers.events import Answered, AskFailure
from brokers.ids import Peer
from brokers.membership.broker_liveness import LATE_MS, NEVER_HEARD_MS
from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.metadata.image.image import BrokerImage, Endpoint, Image
from brokers.node.broker_probes import BrokerProbes
from tests.unit.brokers.wiring import Wiring

TWO, THREE = Peer(2, "h2", 9092), Peer(3, "h3", 9092)


class Plane:
    """Stands for the metadata plane: a test says who is active; `proposed` is never decided."""

    def __init__(self) -> None:
        self.image = Image("region-one")
        self.is_active = True
        self.controller: Peer | None = None
        self.proposed: list[Any] = []

    def propose(self, command: Any, token: int, now: int, origin: Any = None) -> list[Any]:
        self.proposed.append(command)
        return []


class Node:
    """Node 1; `asks` wait for the test's answer."""

    def __init__(self) -> None:
        self.plane = Plane()
        self.now = 5_000
        self.asks: list[Ask] = []
        self.wiring = Wiring(from_settings({"node.id": 1, "log.dirs": "data"}), self.plane)
        self.probes = BrokerProbes(
            self.wiring.raft,
            self.wiring.controller,
            self.wiring.continuations,
            self.wiring.timers,
        )
        for broker_id in (1, 2, 3):
            self.register(broker_id, fenced=False)

    def register(self, broker_id: int, *, fenced: bool) -> None:
        image = self.plane.image
        image.brokers[broker_id] = BrokerImage(
            id=broker_id,
            broker_epoch=10 * broker_id,
            incarnation=UUID(int=random.Random(1).getrandbits(64)),
            endpoints=(Endpoint("PLAINTEXT", f"h{broker_id}", 9092),),
            fenced=fenced,
        )
        image.next_offset += 1

    def take(self, effects: list[Effect]) -> None:
        self.asks += [effect for effect in effects if isinstance(effect, Ask)]

    def move(self, *, active: bool = True) -> list[Peer]:
        """Whom it asks now."""
        self.plane.is_active = active
        before = len(self.asks)
        self.take(self.probes.moved(self.now))
        return [ask.peer for ask in self.asks[before:]]

    def answer(self, failure: AskFailure) -> Peer:
        """To the oldest question."""
        ask = self.asks.pop(0)
        answered = Answered(ask.ticket, None, failure)
        self.take(self.wiring.continuations.peer_answered(answered, self.now))
        return ask.peer

    def wait(self, milliseconds: int) -> None:
        until = self.now + milliseconds
        while (due := self.wiring.timers.deadline) is not None and due <= until:
            self.now = due
            for act in self.wiring.timers.due(due):
                self.take(act(due))
        self.now = until


def test_a_new_controller_asks_the_others_where_clients_find_them() -> None:
    node = Node()
    assert node.move() == [TWO, THREE]
    assert {(ask.channel, ask.api_key) for ask in node.asks} == {("probe", 18)}
    assert node.move() == []


def test_one_that_is_gone_is_fenced_in_its_life() -> None:
    node = Node()
    node.move()
    for ticket in (1, 2):
        node.probes.heard(ticket + 1, ticket, node.now)
        node.answer(AskFailure.NONE)
    node.take(node.probes.disconnected((1,), node.now))
    assert node.answer(AskFailure.REFUSED) == TWO
    node.wait(100)
    assert node.answer(AskFailure.REFUSED) == TWO
    assert node.plane.proposed == [FenceBroker(2, 20)]
    node.register(2, fenced=True)
    node.move()
    node.probes.heard(3, 3, node.now)
    node.wait(LATE_MS - 1)
    assert node.asks == []


def test_one_that_was_gone_before_is_fenced_after_a_while() -> None:
    node = Node()
    node.move()
    node.probes.heard(3, 1, node.now)
    assert [node.answer(failure) for failure in (AskFailure.REFUSED, AskFailure.NONE)] == [
        TWO,
        THREE,
    ]
    node.wait(NEVER_HEARD_MS)
    assert node.answer(AskFailure.REFUSED) == TWO
    assert node.plane.proposed == [FenceBroker(2, 20)]


def test_who_is_controller_no_more_leaves_them_alone() -> None:
    node = Node()
    node.move()
    assert node.move(active=False) == []
    for _ in range(2):
        node.answer(AskFailure.REFUSED)
    node.wait(10 * LATE_MS)
    assert node.asks == node.plane.proposed == []
    assert node.wiring.timers.deadline is None
    assert node.move() == [TWO, THREE]
