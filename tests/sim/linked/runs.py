"""One run of one seed: two regions in bad weather, then healing, then the mirror must be its source's equal."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from brokers.ids import OFFSETS_TOPIC, TopicPartition
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.evidence import log_start
from tests.sim.linked import checks, verdict
from tests.sim.linked.federation import LinkedFederation, MirrorBroken
from tests.sim.linked.operators import LinkOperator
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.inspection import Inspector
from tests.sim.regions.members import GroupMember
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.storms import Storm
from tests.sim.regions.weather import RegionWeather, Shape, draw
from tests.sim.runs import Outcome, Stuck
from tests.sim.weather import Crashes
from tests.sim.world import START, Promise, World

CALM_MS_MAX = 180_000
STEP_MS = 250
SHAPES = (
    Shape(3, 3, combined=True),
    Shape(1, 3, combined=True),
    Shape(1, 2, combined=True),
    Shape(3, 3, combined=False),
    Shape(1, 1, combined=True),
)


def drawn(rng: Random) -> tuple[RegionWeather, str]:
    """What befalls both regions, and how the mirror ends. Acknowledged records last: P2 speaks of those."""
    weather = draw(rng)
    shape = rng.choices(SHAPES, (6, 3, 2, 1, 1))[0]
    replication = min(rng.choice((3, 3, 2)), shape.brokers)
    ending = rng.choice(("none", "none", "promote", "failover"))
    crashes = rng.choice((Crashes.KILL, Crashes.POWER))
    return (
        replace(
            weather,
            shape=shape,
            crashes=crashes,
            replication=replication,
            min_insync=min(2, replication),
            observers=0,
            wipe_mean_ms=0,
            reseats=False,
            producers=1,
            groups=rng.choice((0, 1)),
        ),
        ending,
    )


class LinkedRun:
    """Everything that takes part. `adjust` may change the drawn weather, `ending` how the mirror ends."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Callable[[RegionWeather], RegionWeather] = lambda weather: weather,
        make_node: MakeNode = Node,
        ending: str = "",
    ) -> None:
        self.world = World(seed, show)
        weather, ending_drawn = drawn(self.world.rng("weather"))
        self.ending = ending or ending_drawn
        self.weather = adjust(weather)
        self.world.note("weather", f"{self.weather.describe()} ending={self.ending}")
        source_dials = self.world.rng("initiation").random() < 0.4
        self.world.note("link", f"dialed by the {'source' if source_dials else 'destination'}")
        self.federation = LinkedFederation(
            self.world, self.weather, make_node, source_dials=source_dials
        )
        self.storms = [Storm(region) for region in self.federation.regions]
        for region in self.federation.regions:
            region.remember_ends()
        self.inspectors = [Inspector(region) for region in self.federation.regions]
        self.admin = Admin(self.federation.source)
        self.operator = LinkOperator(self.federation)
        idempotent = self.world.rng("clients").random() < 0.7
        source = self.federation.source
        self.producers = [Producer(source, "producer0", idempotent=idempotent, acks=ALL)]
        self.members = [
            GroupMember(source, f"group{index}") for index in range(self.weather.groups)
        ]

    def execute(self) -> Outcome:
        """Raises what was found."""
        self._begin()
        for storm in self.storms:
            storm.begin()
        half = self.weather.duration_ms // 2
        begun = self.world.spawn(self.operator.begin())
        self._pass(half)
        ended = self.world.spawn(self._end(begun)) if self.ending != "none" else begun
        self._pass(half)
        self.world.note("storm", "ends")
        for storm in self.storms:
            storm.end()
        self._settle(lambda: [] if begun.done else ["the mirror is not made"])
        self._settle(lambda: [] if ended.done else [f"{self.ending} is pending"])
        self.federation.source.stopping = True
        self._settle(self._undone)
        for inspector in self.inspectors:
            self.world.spawn(inspector.watch())
        self._settle(self._missing)
        return self._close()

    async def _end(self, begun: Promise) -> None:
        await begun
        await self.operator.end(self.ending)

    def _begin(self) -> None:
        for node in self.federation.nodes.values():
            node.start()
        prepared = self.world.spawn(self.admin.prepare())
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: prepared.done):
            raise Stuck("the source was not set up")
        clients: list[Producer | GroupMember] = [*self.producers, *self.members]
        for client in clients:
            self.world.spawn(client.run())

    def _pass(self, milliseconds: int) -> None:
        until = self.world.now + milliseconds
        while self.world.now < until:
            self.world.run(min(self.world.now + STEP_MS, until))
            for region in self.federation.regions:
                region.evidence.hear_clients()

    def _settle(self, missing: Callable[[], list[str]]) -> None:
        until = self.world.now + CALM_MS_MAX
        while left := missing():
            if self.world.now >= until:
                raise Stuck("; ".join(left))
            self._pass(STEP_MS)

    def _undone(self) -> list[str]:
        left = [f"{each.name} is not drained" for each in self.producers if not each.drained]
        return left + [f"{each.name} has not left" for each in self.members if not each.left]

    def _missing(self) -> list[str]:
        if any(inspector.rounds == 0 for inspector in self.inspectors):
            return ["nobody has looked yet"]
        left = [line for inspector in self.inspectors for line in inspector.missing()]
        if left or self.ending != "none":
            return left
        return list(checks.behind(self.federation, self._disks())) or list(self._uncarried())

    def _disks(self) -> dict[str, dict[TopicPartition, Disk]]:
        return {
            region.region: {
                partition: checks.first_disk(region, inspector, partition)
                for partition in inspector.agreed
            }
            for region, inspector in zip(self.federation.regions, self.inspectors, strict=True)
        }

    def _uncarried(self) -> list[str]:
        disks = self._disks()
        partitions = self.federation.partitions()
        ends = {each: end_of(disks["east"][each], each) for each in partitions}
        starts = {each: log_start(disks["east"][each], each) for each in partitions}
        found: list[str] = []
        for index in range(2):
            place = TopicPartition(OFFSETS_TOPIC, index)
            there, here = disks["west"].get(place), disks["east"].get(place)
            if there is not None:
                found += checks.uncarried(there, here, place, ends, starts)
        return found

    # --- the verdict ---

    def _close(self) -> Outcome:
        disks = self._disks()
        for node in self.federation.nodes.values():
            node.stop()
            for path, data in node.disk.everything():
                self.world.digest(path.encode() + data)
        self._judge(disks)
        for region in self.federation.regions:
            region.evidence.hear_clients()
        return Outcome(
            self.world.trace_hash,
            self.world.steps,
            self.world.now - START,
            len(self.federation.source.evidence.testimony.acknowledged),
            sum(node.life for node in self.federation.nodes.values()),
        )

    def _judge(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        self._judge_mirror(disks)
        for region, inspector in zip(self.federation.regions, self.inspectors, strict=True):
            verdict.judge_region(region, inspector, disks[region.region])

    def _judge_mirror(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for partition in self.federation.partitions():
            cut = self._cut_of(partition)
            for finding in checks.different(
                partition, disks["west"][partition], disks["east"][partition], cut
            ):
                raise MirrorBroken(finding)
            end = end_of(disks["east"][partition], partition)
            if cut is not None and end != max(cut, 0):
                raise MirrorBroken(f"{partition} was cut at {cut}, and ends at {end}")

    def _cut_of(self, partition: TopicPartition) -> int | None:
        """Where the mirror was cut; it ends there, as nobody writes to it."""
        mirror = self.operator.mirror
        if self.ending == "none" or mirror is None:
            return None
        assert mirror.record.state is MirrorState.STOPPED
        assert mirror.record.cut is not None
        if partition.partition >= len(mirror.record.cut.partitions):
            return 0  # it came after the cut
        return mirror.record.cut.partitions[partition.partition].offset
