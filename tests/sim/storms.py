"""Injects a scenario's faults into a federation, until it is told to end: then everything is repaired and stays so."""

from collections.abc import Callable

from tests.sim import checking
from tests.sim.federation import Federation
from tests.sim.nodes import Node
from tests.sim.scenario import Crashes


class Storm:
    """Each kind of fault comes at random intervals of its mean, or never."""

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._world = federation.world
        self._scenario = federation.scenario
        self._rng = federation.world.rng("storm")
        self._raging = False
        self._lost: dict[str, None] = {}  # regions that do not come back
        for node in federation.nodes.values():
            node.on_end = lambda node=node: self._on_end(node)
            node.on_word = lambda node=node: self._on_word(node)

    def begin(self) -> None:
        self._raging = True
        scenario = self._scenario
        for node in self._federation.nodes.values():
            self._recur(scenario.crash_mean_ms, lambda node=node: self._crash(node))
            self._recur(scenario.freeze_mean_ms, lambda node=node: self._freeze(node))
            self._recur(scenario.full_disk_mean_ms, lambda node=node: self._fill(node))
            self._recur(scenario.ailing_disk_mean_ms, lambda node=node: self._sicken(node))
            self._recur(scenario.cut_mean_ms, lambda node=node: self._cut(node))
        self._recur(scenario.block_mean_ms, self._block)

    def end(self) -> None:
        """Disks have room and are well, and who is down comes up."""
        self._raging = False
        for node in self._federation.nodes.values():
            node.disk.full_after(None)
            node.disk.fuse = None
            self._cure(node)
            if not node.alive:
                self._restart(node)

    def lose(self, node: Node) -> None:
        """The region is gone for good."""
        self._lost[node.region] = None
        self._finish(node)

    def _recur(self, mean_ms: int, act: Callable[[], None]) -> None:
        if mean_ms:
            self._world.after(
                1 + int(self._rng.expovariate(1 / mean_ms)), lambda: self._strike(mean_ms, act)
            )

    def _strike(self, mean_ms: int, act: Callable[[], None]) -> None:
        if self._raging:
            act()
            self._recur(mean_ms, act)

    # --- faults ---

    def _crash(self, node: Node) -> None:
        if not node.alive:
            return
        draw = self._rng.random()
        if draw < self._scenario.clean_stops:
            node.stop()
        elif self._rng.random() < self._scenario.midway:
            node.disk.fuse = self._rng.randrange(0, 30)
        else:
            self._finish(node)

    def _finish(self, node: Node) -> None:
        """Where machines lose power, processes die now and then too: the page cache outlives one and not the other."""
        if self._scenario.crashes is Crashes.KILL or self._rng.random() < 0.3:
            node.kill()
        else:
            node.cut_power()

    def _on_word(self, node: Node) -> None:
        """The worst moment to end is just after something was promised."""
        if self._raging and self._rng.random() < self._scenario.spite:
            life = node.life
            self._world.after(0, lambda: self._finish(node) if node.life == life else None)

    def _on_end(self, node: Node) -> None:
        self._world.after(
            self._rng.randrange(1, self._scenario.down_ms), lambda: self._restart(node)
        )

    def _restart(self, node: Node) -> None:
        if node.alive or node.region in self._lost:
            return
        checking.check_restart(self._federation.evidence, node.region)
        node.start()

    def _freeze(self, node: Node) -> None:
        node.freeze(self._rng.randrange(50, 3_000))

    def _fill(self, node: Node) -> None:
        node.disk.full_after(self._rng.randrange(0, 2_000))
        self._world.after(self._rng.randrange(100, 3_000), lambda: node.disk.full_after(None))

    def _sicken(self, node: Node) -> None:
        node.disk.ailing = True
        self._world.after(self._rng.randrange(100, 3_000), lambda: self._cure(node))

    def _cure(self, node: Node) -> None:
        node.disk.ailing = False

    def _cut(self, node: Node) -> None:
        """Some connection of the node breaks."""
        pipes = self._federation.network.pipes_at(node.region)
        if not pipes:
            return
        pipe = self._rng.choice(pipes)
        half_open = (
            self._rng.randrange(0, 2) if self._rng.random() < self._scenario.half_open else None
        )
        pipe.cut("reset", half_open=half_open)

    def _block(self) -> None:
        one, other = self._federation.nodes
        self._federation.network.block(one, other, self._rng.randrange(100, 4_000))
