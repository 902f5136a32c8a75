"""One run of one seed: some brokers do not reach one another, and all else is well.

A broker of the source and the destination's link coordinator: the source's partitions move to that broker while their
mirrors are led by others, which it reaches; then a mirror moves to the coordinator, where it can't be copied; then the
two reach each other. Or a broker of the source and the others there, while the destination reaches all.
"""

from collections.abc import Callable, Collection
from dataclasses import replace

from brokers.ids import BrokerId
from linker.answers import MirrorDescription, PartitionLag
from linker.commands import DescribeMirror
from linker.control.wanted_streams import LINGER_MS
from linker.coordinator_election import coordinator_of
from tests.sim.linked.federation import Region
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC, MakeNode, place
from tests.sim.regions.scenario import Shape
from tests.sim.scenario import Crashes

THERE, BACK = "there", "back"  # from the broker of the source, and to it
BROKERS, PARTITIONS = 3, 2
LOOK_MS, LONG_MS = 20, 3_000


def _calm(scenario: LinkedScenario) -> LinkedScenario:
    return (
        scenario.calm()
        .unlimited()
        .everywhere(
            shape=Shape(BROKERS, BROKERS, combined=True),
            crashes=Crashes.KILL,
            partitions=PARTITIONS,
            replication=1,
            min_insync=1,
            racks=0,
            trims=False,
            duration_ms=4_000,
        )
    )


class CutPairRun(LinkedRun):
    """`waits_ms`: how long the mirror is there before leadership moves.

    `late_ms`: how long after that the mirror had what was written then. `said`: of the partition that can't be copied,
    twice. `streams`: of the broker of the source, to each of the destination's: while the two are cut, and in the end,
    when it leads nothing.
    """

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        source_dials: bool = True,
        ways: Collection[str] = (THERE, BACK),
        waits_ms: int = 0,
        make_node: MakeNode = Node,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: replace(_calm(scenario), source_dials=source_dials),
            make_node=make_node,
            ending="none",
        )
        self._ways, self._waits_ms = ways, waits_ms
        self.far, self.coordinator = -1, -1
        self.late_ms = -1
        self.said: list[PartitionLag] = []
        self.streams: list[dict[BrokerId, int]] = []

    async def _link(self) -> None:
        await self._cut()
        source, mirror = self.federation.first.regions
        here, there = self.admins
        await self._spread(here, source, but=self.far)
        await super()._link()
        await self._spread(there, mirror, but=self.coordinator)
        await self._caught_up()
        await self.world.sleep(self._waits_ms)
        await self._spread(here, source, to=self.far)
        began = self.world.now
        await self._caught_up()
        self.late_ms = self.world.now - began
        self._count_streams()
        await self._move_where_it_cannot_be_copied()
        self.federation.network.severed.clear()
        await self._caught_up()
        await self._spread(here, source, but=self.far)
        await self._caught_up()
        await self.world.sleep(2 * LINGER_MS)
        self._count_streams()

    async def _cut(self) -> None:
        source, mirror = self.federation.first.regions
        while not all(len(region.newest.brokers) == BROKERS for region in (source, mirror)):
            await self.world.sleep(LOOK_MS)
        coordinator = coordinator_of(mirror.newest)
        assert coordinator is not None
        self.coordinator = coordinator.id
        self.far = self.world.rng("pair").choice(source.brokers)
        ends = place(self.far), place(self.coordinator)
        paths = {THERE: ends, BACK: ends[::-1]}
        self.federation.network.severed.update(paths[way] for way in self._ways)
        self.world.note("wan", f"{ends[0]} and {ends[1]} do not reach each other: {self._ways}")

    async def _spread(
        self, admin: Admin, region: Region, *, to: BrokerId = -1, but: BrokerId = -1
    ) -> None:
        """Each partition of the topic is led by another one, or all by `to`."""
        brokers = [to] if to >= 0 else [each for each in region.brokers if each != but]
        for partition in self.federation.partitions():
            await admin.place(partition, brokers[partition.partition % len(brokers)])

    async def _caught_up(self) -> None:
        """The mirror has what is written from now on."""
        source, mirror = self.federation.first.regions
        ends = {each: source.high_watermark(each) for each in self.federation.partitions()}
        while any(mirror.high_watermark(each) <= end for each, end in ends.items()):
            await self.world.sleep(LOOK_MS)

    async def _move_where_it_cannot_be_copied(self) -> None:
        partition = self.federation.partitions()[0]
        await self.admins[1].place(partition, self.coordinator)
        for _ in range(2):
            await self.world.sleep(LONG_MS)
            answer = None
            while not isinstance(answer, MirrorDescription):
                answer = await self.operator.ask(DescribeMirror(TOPIC))
            self.said.append(answer.lags[partition.partition])

    def _count_streams(self) -> None:
        here, network = place(self.far), self.federation.network
        brokers = self.federation.destination.brokers
        self.streams.append(
            {each: len(network.pipes_between(here, place(each))) for each in brokers}
        )


class IsolatedRun(CutPairRun):
    """The broker of the source that answers first is cut off from its region, and others change places there."""

    async def _link(self) -> None:
        source, (here, _) = self.federation.source, self.admins
        self.far, old, new = source.brokers
        await self._spread(here, source, to=old)
        await LinkedRun._link(self)
        await self._caught_up()
        self._isolate(old, new)
        while not source.newest.brokers[self.far].fenced:
            await self.world.sleep(LOOK_MS)
        await self._spread(here, source, to=new)
        began = self.world.now
        await self._caught_up()
        self.late_ms = self.world.now - began
        self.federation.network.severed.clear()

    def _isolate(self, *others: BrokerId) -> None:
        here = place(self.far)
        for there in map(place, others):
            self.federation.network.severed.update({(here, there), (there, here)})
        self.world.note("wan", f"{here} is cut off from its region")
