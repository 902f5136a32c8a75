"""Crashes at a chosen step: the n-th event that any node is given while a transition is under way.

Or a process stands still there, between what it has decided and its first word of it, until the transition is over.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from brokers.ids import Instant, TopicPartition
from linker.coordinator_election import coordinator_of
from tests.sim.linked.federation import LinkedFederation, Region
from tests.sim.nodes import Node
from tests.sim.regions.cluster import TOPIC

STILL_MS = 90_000  # at most: others may need whoever stands still


@dataclass(frozen=True)
class _Decided:
    """What a process that stood still does as soon as it goes on."""

    effects: Iterable[Any]
    at: Instant


class SteppedNode(Node):
    """Tells of each event before it takes it."""

    on_step: Callable[[], None] = staticmethod(lambda: None)
    will_stand_still = False  # after its next step

    def _step(self, event: Any) -> None:
        if isinstance(event, _Decided):
            super()._carry_out(event.effects, event.at)
            return
        self.on_step()
        if self.alive:
            super()._step(event)

    def maintain(self, act: Callable[[], None]) -> None:
        """The process does something to its disk that no core asks for."""
        self._guarded(act)

    def _carry_out(self, effects: Iterable[Any], now: Instant) -> None:
        if not self.will_stand_still:
            super()._carry_out(effects, now)
            return
        self.will_stand_still = False
        self.freeze(STILL_MS)
        waiting = [_Decided(effects, now), *self._events]
        self._events.clear()
        for each in waiting:
            self.deliver(each)


class Victim(Enum):
    """Whose process ends: whoever is about to take the step, or who has a role at that moment."""

    ACTOR = "actor"
    COORDINATOR = "coordinator"  # of the links, in the destination
    CONTROLLER = "controller"  # of the destination
    MIRROR_LEADER = "mirror-leader"  # of the first partition
    SOURCE_LEADER = "source-leader"
    SOURCE_COORDINATOR = "source-coordinator"
    SOURCE_CONTROLLER = "source-controller"


class Manner(Enum):
    """How it ends. MIDWAY: by a kill just before the disk's next change, when messages of the step have left.

    STILL: it does not end, and does nothing for a while, from the end of its next step on: nothing of that has left.
    """

    KILL = "kill"
    POWER = "power"
    MIDWAY = "midway"
    STILL = "still"


ENDS = (Manner.KILL, Manner.POWER, Manner.MIDWAY)


@dataclass(frozen=True)
class Crash:
    """At the `step`-th step of a transition, from 1 on."""

    step: int
    victim: Victim = Victim.ACTOR
    manner: Manner = Manner.KILL

    def __str__(self) -> str:
        return f"--step {self.step} --victim {self.victim.value} --manner {self.manner.value}"


class Steps:
    """Counts them while `counting`, and strikes. `on_count` is called at each, before it is taken; `on_still` when
    somebody is to stand still."""

    def __init__(
        self, federation: LinkedFederation, crash: Crash | None, on_still: Callable[[], None]
    ) -> None:
        self.count = 0
        self.counting = False
        self.on_count: Callable[[int, Node], None] = self._maybe_strike
        self._federation = federation
        self._crash = crash
        self._on_still = on_still
        for node in federation.nodes.values():
            assert isinstance(node, SteppedNode)
            node.on_step = partial(self._on_step, node)

    def _on_step(self, node: Node) -> None:
        if self.counting:
            self.count += 1
            self.on_count(self.count, node)

    def _maybe_strike(self, count: int, actor: Node) -> None:
        if self._crash is not None and count == self._crash.step:
            self.strike(self._crash, actor)

    def strike(self, crash: Crash, actor: Node) -> None:
        victim = self._find(crash.victim, actor)
        world = self._federation.world
        if victim is None or not victim.alive:
            world.note("crash", f"{crash}: nobody is there")
            return
        world.note("crash", f"{crash}: {victim.place}")
        match crash.manner:
            case Manner.KILL:
                victim.kill()
            case Manner.POWER:
                victim.cut_power()
            case Manner.MIDWAY:
                victim.disk.fuse = 0
            case Manner.STILL:
                assert isinstance(victim, SteppedNode)
                victim.will_stand_still = True
                self._on_still()

    def go_on(self) -> None:
        """Whoever stands still."""
        for node in self._federation.nodes.values():
            if node.alive:
                node.wake()

    def _find(self, victim: Victim, actor: Node) -> Node | None:
        source, destination = self._federation.source, self._federation.destination
        match victim:
            case Victim.ACTOR:
                return actor
            case Victim.COORDINATOR:
                return _coordinator(destination)
            case Victim.SOURCE_COORDINATOR:
                return _coordinator(source)
            case Victim.CONTROLLER:
                return _controller(destination)
            case Victim.SOURCE_CONTROLLER:
                return _controller(source)
            case Victim.MIRROR_LEADER:
                return _leader(destination)
            case Victim.SOURCE_LEADER:
                return _leader(source)


def _coordinator(region: Region) -> Node | None:
    broker = coordinator_of(region.newest)
    return None if broker is None else region.node(broker.id)


def _controller(region: Region) -> Node | None:
    alive = (region.node(each) for each in region.controllers if region.node(each).alive)
    return next((node for node in alive if node.broker.parts.raft.is_active), None)


def _leader(region: Region) -> Node | None:
    placed = region.newest.partition(TopicPartition(TOPIC, 0))
    return None if placed is None or placed.leader < 0 else region.node(placed.leader)
