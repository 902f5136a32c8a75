"""One run of one seed: the regions change places several times while both are written to, under faults.

Afterwards both have the same log, and it holds every record that either has acknowledged: a reversal loses nothing.
"""

from collections.abc import Callable

from brokers.ids import TopicPartition
from linker.answers import MirrorDescription
from linker.commands import ChangeMirrors, CreateLink, DescribeMirror, SetLinkSecret
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.linked import verdict
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.operators import CONFIGS, LinkOperator
from tests.sim.linked.readers import readers_of
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.nodes import Node
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.world import Promise


class ReversingOperator(LinkOperator):
    """Makes the link in both regions, and reverses its mirror."""

    async def _link(self, configs: dict[str, str], fetchers: str) -> None:
        """Each region dials the other, or the source dials for both directions."""
        source, destination = self._ends.regions
        both = {**configs, "link.mode": "BIDIRECTIONAL", "num.cluster.link.fetchers": fetchers}
        there = {**CONFIGS, "link.mode": "BIDIRECTIONAL"}
        there["bootstrap.servers"] = destination.bootstrap_servers
        secret = ""
        if self._ends.source_dials:
            both["connection.mode"] = "INBOUND"
        else:
            both["bootstrap.servers"] = source.bootstrap_servers
        await self._until(CreateLink(name=self.link, configs=both), "CLUSTER_LINK_EXISTS")
        if self._ends.source_dials:
            secret = (await self._until(SetLinkSecret(self.link), "")).secret
        command = CreateLink(name=self.link, configs=there, secret=secret)
        await self._until(command, "CLUSTER_LINK_EXISTS", source)

    async def swap(self, topic: Region, mirror: Region, verb: str = "") -> None:
        """Until the topic is `mirror`'s, and mirrored by the other region."""
        verb = verb or self._rng.choice(("reverse-and-start", "reverse-and-pause"))
        while True:
            timeout_ms = self._rng.choice((500, 3_000, 10_000))
            await self._ask(
                ChangeMirrors(verb=verb, link=self.link, topics=(TOPIC,), timeout_ms=timeout_ms),
                mirror,
            )
            here, there = await self.record_of(mirror), await self.record_of(topic)
            if here is None or there is None or here.state is not MirrorState.STOPPED:
                continue
            if there.state is MirrorState.PAUSED:
                await self._ask(
                    ChangeMirrors(verb="resume", link=self.link, topics=(TOPIC,)), topic
                )
            elif there.state is MirrorState.ACTIVE:
                return

    async def record_of(self, region: Region, topic: str = TOPIC) -> MirrorRecord | None:
        """Of the mirror there, as it says."""
        answer = await self._ask(DescribeMirror(topic), region)
        return answer.record if isinstance(answer, MirrorDescription) else None


class ReversalRun(LinkedRun):
    """`swaps`: how often the regions change places. One producer follows the topic, the other one stays."""

    mirrors_stay = False

    operator: ReversingOperator

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        swaps: int = 0,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(scenario.everywhere(groups=0)),
            make_node=make_node,
            ending="reverse",
        )
        self.operator = ReversingOperator(self.federation.first)
        self.swaps = swaps or self.world.rng("swaps").choice((1, 2, 3, 4))
        west, east = self.federation.first.regions
        west.source = east
        self.readers += readers_of((west, east))
        idempotent = self.world.rng("later clients").random() < 0.7
        self.producers = [
            Producer(west, "producer0", idempotent=True, acks=ALL, follows=(east,)),
            Producer(east, "producer1", idempotent=idempotent, acks=ALL),
        ]

    async def _end(self, begun: Promise) -> None:
        await begun
        topic, mirror = self.federation.first.regions
        for _ in range(self.swaps):
            await self.operator.swap(topic, mirror)
            topic, mirror = mirror, topic
            await self.world.sleep(self.world.rng("next swap").randrange(100, 3_000))

    def _undone(self) -> list[str]:
        """Where `east` has the mirror, its own producer is refused for ever."""
        wanted = self.producers[: 1 + self.swaps % 2]
        return [f"{each.name} is not drained" for each in wanted if not each.drained]

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        west, east = self.federation.first.regions
        first = (east, west) if self.swaps % 2 else (west, east)
        return [first, *self.mirrored_further]

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        for region in self.federation.regions:
            for finding in verdict.unsealed(region):
                raise MirrorBroken(finding)
