"""An unclean election in the source, after which the mirror holds what its source has lost, and is cut back."""

from collections.abc import Iterator
from dataclasses import replace

from brokers.ids import TopicPartition
from linker.commands import RestoreMirrors
from linker.records.hole_ledger import DIVERGENCE_CUT_KIND
from linker.records.mirror_state import MirrorState
from tests.sim.linked import verdict
from tests.sim.linked.federation import SOURCE
from tests.sim.linked.hole_changes import HoleChanger
from tests.sim.linked.link_changes import Logs
from tests.sim.linked.operators import LOOK_MS
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.linked.unclean import unsealed
from tests.sim.linked.usurpers import Usurper
from tests.sim.nodes import Node
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import TOPIC

PARTITION = TopicPartition(TOPIC, 0)


def may_lose(scenario: LinkedScenario) -> LinkedScenario:
    """The source's controllers are apart from its brokers, and one replica alone may acknowledge."""
    source = scenario.regions[SOURCE]
    shape = replace(source.shape, combined=False)
    source = replace(source, shape=shape, replication=shape.brokers, min_insync=1)
    return replace(scenario, regions={**scenario.regions, SOURCE: source})


class CutBackOperator(HoleChanger):
    """By `mirror.divergence.policy`, or by hand."""

    usurper: Usurper
    lone_leader: Node
    others: list[Node]

    async def lose_by_policy(self) -> None:
        self.policy = "truncate"
        await self._lose()

    async def lose_by_hand(self) -> None:
        self.policy = "fail"
        await self._lose()

    async def _lose(self) -> None:
        """The leader of a partition wrote alone, which the mirror has, and is down: as are the others."""
        source, mirror = self._ends.regions
        source.statements.loses = source.statements.rewrites = True
        mirror.watch_holders()
        self.usurper = Usurper(source)
        await self.begin()
        await self._while(lambda: mirror.high_watermark(PARTITION) == 0)
        placed = source.newest.partition(PARTITION)
        assert placed is not None
        self.lone_leader = source.node(placed.leader)
        self.others = [source.node(one) for one in placed.replicas if one != placed.leader]
        for node in self.others:
            _hold_down(node)
        await self._while(lambda: mirror.high_watermark(PARTITION) <= self._known_to_others)
        _hold_down(self.lone_leader)

    @property
    def _known_to_others(self) -> int:
        return max(end_of(node.disk, PARTITION) for node in self.others)

    async def cut_back_by_policy(self) -> None:
        await self._elect_uncleanly()
        await self._wait_for_cut()

    async def cut_back_by_hand(self) -> None:
        """A crash may come between two restores: whenever the mirror has failed, it is asked for."""
        await self._elect_uncleanly()
        while True:
            state = await self.describe()
            if state is MirrorState.FAILED:
                await self._ask(RestoreMirrors(self.link, (TOPIC,)))
            elif state is MirrorState.ACTIVE and self._is_in_ledger:
                return

    async def _elect_uncleanly(self) -> None:
        """One of the others leads; then the former leader returns, and follows."""
        source = self._ends.source
        for node in self.others:
            _start(node)
        while True:
            placed = source.newest.partition(PARTITION)
            assert placed is not None
            if placed.leader >= 0 and source.node(placed.leader) in self.others:
                break
            await self.usurper.elect()
            await self._world.sleep(LOOK_MS)
        _start(self.lone_leader)

    async def _wait_for_cut(self) -> None:
        while not self._is_in_ledger:
            await self.describe()
        while await self.describe() is not MirrorState.ACTIVE:
            pass

    @property
    def _is_in_ledger(self) -> bool:
        return PARTITION in verdict.ledger(self._ends.destination, DIVERGENCE_CUT_KIND)

    def not_cut_back(self, logs: Logs) -> Iterator[str]:
        """What was cut is sealed record by record, and in the ledger."""
        mirror = self._ends.destination
        if not self._is_in_ledger:
            yield f"{PARTITION} held what its source has lost, and the ledger does not say so"
        yield from unsealed(mirror, logs[mirror.region])


def _hold_down(node: Node) -> None:
    """Nobody but this operator starts it again."""
    restart, node.on_end = node.on_end, lambda: None
    node.kill()
    node.on_end = restart


def _start(node: Node) -> None:
    if not node.alive:
        node.start()
