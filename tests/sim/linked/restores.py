"""One run of one seed: a failover while both regions are written to, and the way back of the first one.

Afterwards both have the same log, and what the first one had acknowledged beyond the cut is in its orphan store (P5).
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from brokers.ids import Offset, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import batches, parse
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

    def _judge(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for partition in self.federation.partitions():
            west, east = disks["west"][partition], disks["east"][partition]
            for finding in checks.different(partition, east, west):
                raise MirrorBroken(finding)
        for finding in self._lost(disks["west"]):
            raise MirrorBroken(finding)
        for finding in self._forgotten(disks["east"]):
            raise MirrorBroken(finding)

    def _lost(self, disks: dict[TopicPartition, Disk]) -> Iterator[str]:
        """What the first region has acknowledged, and neither its log nor any orphan store has."""
        held = {
            partition: _values(disks[partition], partition)
            for partition in self.federation.partitions()
        }
        sealed = {
            key for node in self.federation.source.nodes.values() for key in orphans(node.disk)
        }
        for ack in self.federation.source.evidence.testimony.acknowledged:
            partition, offset = ack.place.partition, ack.place.offset
            if held[partition].get(offset) == ack.value:
                continue
            if (partition, offset, ack.value) not in sealed:
                yield f"{ack.value!r:.40} was acknowledged at {partition}@{offset}, and is nowhere"

    def _forgotten(self, disks: dict[TopicPartition, Disk]) -> Iterator[str]:
        for ack in self.federation.destination.evidence.testimony.acknowledged:
            partition, offset = ack.place.partition, ack.place.offset
            if _values(disks[partition], partition).get(offset) != ack.value:
                yield f"{ack.value!r:.40} was acknowledged by the second region at {partition}@{offset}"


def _values(disk: Disk, partition: TopicPartition) -> dict[Offset, bytes]:
    return {offset: value for batch in batches(disk, partition) for offset, value in batch.values()}


def orphans(disk: Disk) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Every record of the sealed tails, as their manifests name their files."""
    for home in disk.list("orphans"):
        for name in disk.list(f"orphans/{home}"):
            path = f"orphans/{home}/{name}/manifest.json"
            if not disk.exists(path):
                continue
            manifest = json.loads(bytes(disk.read(path, 0, disk.size(path))))
            partition = TopicPartition(manifest["topic"], manifest["partition"])
            for file in manifest["files"]:
                path = f"orphans/{home}/{name}/{file['file']}"
                for batch in parse(bytes(disk.read(path, 0, disk.size(path)))):
                    for offset, value in batch.values():
                        yield partition, offset, value
