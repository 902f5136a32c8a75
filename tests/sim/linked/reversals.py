"""One run of one seed: the regions change places several times while both are written to, in bad weather.

Afterwards both have the same log, and it holds every record that either has acknowledged: a reversal loses nothing.
"""

from collections.abc import Callable
from dataclasses import replace

from brokers.ids import TopicPartition
from linker.answers import MirrorDescription
from linker.commands import ChangeMirrors, CreateLink, DescribeMirror, SetLinkSecret
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.linked import checks, verdict
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.operators import CONFIGS, LINK, LinkOperator
from tests.sim.linked.runs import LinkedRun
from tests.sim.nodes import Node
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.weather import RegionWeather
from tests.sim.world import Promise


class ReversingOperator(LinkOperator):
    """Makes the link in both regions, and reverses its mirror."""

    async def _link(self, configs: dict[str, str], fetchers: str) -> None:
        """Each region dials the other, or the source dials for both directions."""
        source, destination = self._federation.regions
        both = {**configs, "link.mode": "BIDIRECTIONAL", "num.cluster.link.fetchers": fetchers}
        there = {**CONFIGS, "link.mode": "BIDIRECTIONAL"}
        there["bootstrap.servers"] = destination.bootstrap_servers
        secret = ""
        if self._federation.source_dials:
            both["connection.mode"] = "INBOUND"
        else:
            both["bootstrap.servers"] = source.bootstrap_servers
        await self._until(CreateLink(name=LINK, configs=both), "CLUSTER_LINK_EXISTS")
        if self._federation.source_dials:
            secret = (await self._until(SetLinkSecret(LINK), "")).secret
        command = CreateLink(name=LINK, configs=there, secret=secret)
        await self._until(command, "CLUSTER_LINK_EXISTS", source)

    async def swap(self, topic: Region, mirror: Region, verb: str = "") -> None:
        """Until the topic is `mirror`'s, and mirrored by the other region."""
        verb = verb or self._rng.choice(("reverse-and-start", "reverse-and-pause"))
        while True:
            timeout_ms = self._rng.choice((500, 3_000, 10_000))
            await self._ask(
                ChangeMirrors(verb=verb, link=LINK, topics=(TOPIC,), timeout_ms=timeout_ms), mirror
            )
            here, there = await self._record(mirror), await self._record(topic)
            if here is None or there is None or here.state is not MirrorState.STOPPED:
                continue
            if there.state is MirrorState.PAUSED:
                await self._ask(ChangeMirrors(verb="resume", link=LINK, topics=(TOPIC,)), topic)
            elif there.state is MirrorState.ACTIVE:
                return

    async def _record(self, region: Region) -> MirrorRecord | None:
        answer = await self._ask(DescribeMirror(TOPIC), region)
        return answer.record if isinstance(answer, MirrorDescription) else None


class ReversalRun(LinkedRun):
    """`swaps`: how often the regions change places."""

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
            ending="reverse",
        )
        self.operator: ReversingOperator = ReversingOperator(self.federation)
        self.swaps = self.world.rng("swaps").choice((1, 2, 3, 4))
        source, destination = self.federation.regions
        source.source = destination
        idempotent = self.world.rng("later clients").random() < 0.7
        there = self.federation.destination
        self.producers.append(Producer(there, "producer1", idempotent=idempotent, acks=ALL))

    async def _end(self, begun: Promise) -> None:
        await begun
        topic, mirror = self.federation.regions
        for _ in range(self.swaps):
            await self.operator.swap(topic, mirror)
            topic, mirror = mirror, topic
            await self.world.sleep(self.world.rng("next swap").randrange(100, 3_000))

    def _undone(self) -> list[str]:
        """The producer of the region that has the mirror is refused for ever."""
        self.federation.destination.stopping = True
        primary = self.producers[self.swaps % 2]
        return [] if primary.drained else [f"{primary.name} is not drained"]

    def _missing(self) -> list[str]:
        return super()._missing() or list(checks.behind(self.federation, self._disks()))

    def _judge_mirror(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for partition in self.federation.partitions():
            west, east = disks["west"][partition], disks["east"][partition]
            for finding in checks.different(partition, west, east):
                raise MirrorBroken(finding)
        for region in self.federation.regions:
            for finding in verdict.unsealed(region):
                raise MirrorBroken(finding)
