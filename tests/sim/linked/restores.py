"""One run of one seed: a failover while both regions are written to, and the way back of the first one.

Afterwards both have the same log, and what the first one had acknowledged beyond the cut is in its orphan store (P5).
"""

from collections.abc import Callable
from dataclasses import replace

from brokers.ids import TopicPartition
from tests.sim.disks import Disk
from tests.sim.linked import checks
from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.runs import LinkedRun
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.weather import RegionWeather
from tests.sim.world import Promise


class RestoreRun(LinkedRun):
    """Members of groups would stand in its way, so there are none."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Callable[[RegionWeather], RegionWeather] = lambda weather: weather,
        make_node: MakeNode = Node,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda weather: adjust(replace(weather, groups=0)),
            make_node=make_node,
            ending="failover",
        )
        self.operator.fences_source = self.world.rng("fencing").random() < 0.5
        idempotent = self.world.rng("later clients").random() < 0.7
        there = self.federation.destination
        self.successor = Producer(there, "producer1", idempotent=idempotent, acks=ALL)

    async def _end(self, begun: Promise) -> None:
        await super()._end(begun)
        self.world.spawn(self.successor.run())
        await self.world.sleep(self.world.rng("return").randrange(100, 4_000))
        await self.operator.restore()

    def _undone(self) -> list[str]:
        """The first producer is refused for ever: its topic is a mirror."""
        self.federation.destination.stopping = True
        return [] if self.successor.drained else [f"{self.successor.name} is not drained"]

    def _missing(self) -> list[str]:
        return super()._missing() or list(checks.behind(self.federation, self._disks()))

    def _judge_mirror(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for partition in self.federation.partitions():
            west, east = disks["west"][partition], disks["east"][partition]
            for finding in checks.different(partition, east, west):
                raise MirrorBroken(finding)
