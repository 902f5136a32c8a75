"""One run of one seed: a failover while both regions are written to, and the way back of the first one.

Afterwards both have the same log, and what the first one had acknowledged beyond the cut is in its orphan store (P5).
So has a third region that mirrors either.
"""

from collections.abc import Callable

from tests.sim.linked.federation import Region
from tests.sim.linked.readers import readers_of
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.world import Promise


class RestoreRun(LinkedRun):
    """Members of groups would stand in its way, so there are none."""

    mirrors_stay = False

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        start: str = "",
    ) -> None:
        """`start`: where mirrors begin (`mirror.start.offset.spec`); empty: where their sources do."""
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(scenario.everywhere(groups=0)),
            make_node=make_node,
            ending="restore",
        )
        for operator in filter(None, (self.operator, self.second)):
            operator.more = {"mirror.start.offset.spec": start} if start else {}
        self.operator.fences_source = self.world.rng("fencing").random() < 0.5
        idempotent = self.world.rng("later clients").random() < 0.7
        there = self.federation.destination
        self.successor = Producer(there, "producer1", idempotent=idempotent, acks=ALL)
        self.readers += readers_of(self.federation.first.regions)
        if self.second is not None:
            self.second.policy = self.world.rng("policy").choice(("fail", "truncate"))

    async def _end(self, begun: Promise) -> None:
        """A third region that mirrors the first one follows it back: what it has beyond is sealed, too."""
        await begun
        await self.operator.end("failover")
        assert self.operator.mirror is not None and self.operator.mirror.record.cut is not None
        self.federation.source.fails_over(self.operator.mirror.record.cut)
        if self.second is not None:
            self.world.spawn(self.second.mend())
        self.world.spawn(self.successor.run())
        await self.world.sleep(self.world.rng("return").randrange(100, 4_000))
        await self.operator.restore(self.admins[1].grow_to)

    def _undone(self) -> list[str]:
        """The first producer is refused for ever: its topic is a mirror."""
        return [] if self.successor.drained else [f"{self.successor.name} is not drained"]

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        west, east = self.federation.first.regions
        return [(east, west), *self.mirrored_further]
