"""One run of one seed: the whole source is killed, taken over, and comes back with its link and its producers there.

From then on it acknowledges nothing: its link reaches it within `link.source.startup.wait.ms`, and says so first.
"""

from collections.abc import Callable

from brokers.metadata.commands.mirror_commands import superseder_of
from linker.records.destination import DESTINATION_KIND
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.readers import readers_of
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.world import Promise

LOOK_MS = 50
DURATION_MS = 44_000  # in the second half of which all of it happens


def _quiet(scenario: LinkedScenario) -> LinkedScenario:
    """Nothing happens but what the run does."""
    return scenario.calm().unlimited().everywhere(duration_ms=DURATION_MS)


class ReturnRun(LinkedRun):
    """`is_judged`: every broker of the source has heard its link in time; else it went on without, and has said so."""

    mirrors_stay = False

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(_quiet(scenario)),
            make_node=make_node,
            ending="return",
        )
        self.operator.fences_source = True
        self.readers = readers_of(self.federation.first.regions)
        self.is_judged = False
        self._rng = self.world.rng("return")
        self._known = 0  # how many records the source had acknowledged before its return

    @property
    def _source(self) -> Region:
        return self.federation.source

    async def _end(self, begun: Promise) -> None:
        await begun
        while not self._is_recorded:
            await self.world.sleep(LOOK_MS)
        await self.world.sleep(self._rng.randrange(500, 3_000))
        nodes = list(self._source.nodes.values())
        for node in nodes:
            node.on_end = lambda: None  # who is down stays down
            node.kill()
        await self.operator.end("failover")
        await self.world.sleep(self._rng.randrange(0, 8_000))
        self._known = len(self._source.statements.acknowledged)
        for node in nodes:
            await self.world.sleep(self._rng.choice((0, 0, 100, 1_000)))
            node.start()
        while not self._is_superseded:
            await self.world.sleep(LOOK_MS)
        self.is_judged = not any(each._core._linker.startup_wait.missed for each in nodes)

    @property
    def _is_recorded(self) -> bool:
        return any(kind == DESTINATION_KIND for kind, _ in self._source.newest.documents)

    @property
    def _is_superseded(self) -> bool:
        topic = self._source.newest.topics_by_name.get(TOPIC)
        return topic is not None and superseder_of(topic.writer) is not None

    def _undone(self) -> list[str]:
        """The producer of the source is refused for ever."""
        return []

    def _judge(self, disks: object) -> None:
        super()._judge(disks)
        after = self._source.statements.acknowledged[self._known :]
        if self.is_judged and after:
            what = f"{after[0].value!r:.40} at {after[0].place}"
            raise MirrorBroken(f"P5 in west: {what} was acknowledged after its return")
