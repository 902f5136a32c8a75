"""Runs: faults with everything watched, then healing, after which all replicas must become one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.playbooks.replication.checker import Checker
from tests.playbooks.replication.controller import Controller
from tests.playbooks.replication.node import Node
from tests.playbooks.replication.world import World

STORM_MS = 20_000
HEALING_MS = 15_000


@dataclass(frozen=True)
class Plant:
    """A bug to be found: what a test changes about a region before the storm."""

    prepare: Callable[[list[Node]], None] = lambda nodes: None
    minds_epochs: bool = True
    controller_ms: tuple[int, ...] = (5, 5, 1_000, 5_000)  # how slow it may be: one of these
    restart_ms: tuple[int, ...] = (100, 3_000)  # how soon a node is back: one of these
    sync: tuple[bool, ...] = (False, True)


class Storm:
    """One seed. `sync` topics survive any power cut; others as long as one in-sync replica keeps what it wrote."""

    def __init__(self, seed: int, plant: Plant | None = None) -> None:
        plant = plant or Plant()
        self.world = World(seed)
        rng = self.world.rng
        self.sync = rng.choice(plant.sync)
        min_insync = rng.choice([1, 2])
        observers = (4,) if rng.random() < 0.3 else ()
        replicas = (1, 2, 3, *observers)
        self.controller = Controller(
            self.world, replicas, observers, minds_epochs=plant.minds_epochs
        )
        self.checker = Checker()
        self.nodes = [
            Node(self.world, self.controller, each, self.sync, min_insync) for each in replicas
        ]
        controller_ms = rng.choice(plant.controller_ms)
        self._restart_ms = rng.choice(plant.restart_ms)
        for node in self.nodes:
            node.controller_ms = controller_ms
            node.peers = {peer.id: peer for peer in self.nodes}
            node.on_progress = self.checker.look
        plant.prepare(self.nodes)
        self._damaged = 0  # the node that lost power while it was in sync, as long as it is
        self.values = 0
        self._faults_per_second = rng.choice([1, 3, 6])

    def run(self) -> None:
        """Raises `Broken`, or whatever a core raises."""
        for node in self.nodes:
            node.start()
        self._again(self._produce, 5, 25)
        self._again(self._break_something, 0, 2_000 // self._faults_per_second)
        self.world.run(STORM_MS)
        self.world.note("--- healing")
        self.world.stormy = False
        self.world.cuts.clear()
        for node in self.nodes:
            node.controller_ms = 5
        for node in self.nodes:
            if not node.alive:
                node.start()
        self.world.run(HEALING_MS)
        self.checker.converged(self.nodes)

    def _again(self, act: Callable[[], None], soonest: int, latest: int) -> None:
        def once() -> None:
            if self.world.stormy:
                act()
                self.world.after(self.world.rng.randrange(soonest, latest + 1), once)

        self.world.after(1, once)

    def _produce(self) -> None:
        self.values += 1
        value = b"value %d." % self.values
        node = self.world.rng.choice(self.nodes)
        if node.alive:
            node.produce(value, lambda offset: self._acknowledged(offset, value))

    def _acknowledged(self, offset: int, value: bytes) -> None:
        self.checker.acknowledged[offset] = value

    def _break_something(self) -> None:
        node = self.world.rng.choice(self.nodes)
        faults: list[Callable[[Node], Any]] = [
            self._kill, self._cut_power, self._cut_off, self._fence, self._move
        ]  # fmt: skip
        self.world.rng.choice(faults)(node)

    def _kill(self, node: Node) -> None:
        if node.alive and not self._is_needed(node):
            node.kill()
            self._restart_later(node)

    def _cut_power(self, node: Node) -> None:
        if node.alive and not self._is_needed(node) and (self.sync or self._is_spared_by(node)):
            if not self.sync:
                self._damaged = node.id
            node.cut_power()
            self._restart_later(node)

    def _is_needed(self, node: Node) -> bool:
        """Whether the promise holds only as long as it lives: another member of the set lost what it had not synced."""
        isr = self.controller.placed.isr
        if self._damaged not in isr:
            self._damaged = 0
        return self._damaged != 0 and node.id in isr

    def _is_spared_by(self, node: Node) -> bool:
        """Whether an in-sync replica remains."""
        isr = self.controller.placed.isr
        return any(each is not node and each.alive and each.id in isr for each in self.nodes)

    def _restart_later(self, node: Node) -> None:
        delay = self.world.rng.randrange(20, self._restart_ms)
        self.world.after(delay, lambda: None if node.alive else node.start())

    def _cut_off(self, node: Node) -> None:
        """From one other node, or from the controller (0)."""
        other = self.world.rng.choice([0, *(each.id for each in self.nodes if each is not node)])
        pair = frozenset((node.id, other))
        self.world.cuts.add(pair)
        delay = self.world.rng.randrange(50, 5_000)
        self.world.after(delay, lambda: self.world.cuts.discard(pair))

    def _fence(self, node: Node) -> None:
        if not self._is_needed(node):
            self.controller.fence(node.id)

    def _move(self, node: Node) -> None:
        self.controller.move_leader()
