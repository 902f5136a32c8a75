"""Every transition of a link and its mirror, in calm weather, with one crash at a chosen step of it.

Whoever crashes comes back. The operator asks until the transition has come to its end, by whatever broker coordinates
links then. Afterwards the promises hold as after a storm.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from brokers.ids import TopicPartition
from linker.commands import ChangeMirrors, DeleteLink, DescribeLink
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.linked import checks, verdict
from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.operators import LINK, LinkOperator
from tests.sim.linked.reversals import ReversingOperator
from tests.sim.linked.runs import CALM_MS_MAX, LinkedRun
from tests.sim.linked.steps import Crash, SteppedNode, Steps
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.weather import RegionWeather, Shape
from tests.sim.runs import Outcome, Stuck
from tests.sim.weather import Crashes
from tests.sim.world import Promise

SHAPES = (Shape(3, 3, combined=True), Shape(1, 2, combined=True))


class TransitionOperator(ReversingOperator):
    """One person who sees both regions."""

    is_bidirectional = False

    async def _link(self, configs: dict[str, str], fetchers: str) -> None:
        if self.is_bidirectional:
            await super()._link(configs, fetchers)
        else:
            await LinkOperator._link(self, configs, fetchers)

    async def nothing(self) -> None:
        """No preparation."""

    async def pause_and_resume(self) -> None:
        for verb, state in (("pause", MirrorState.PAUSED), ("resume", MirrorState.ACTIVE)):
            while await self.describe() is not state:
                await self._ask(ChangeMirrors(verb=verb, link=LINK, topics=(TOPIC,)))

    async def promote(self) -> None:
        await self.end("promote")

    async def failover(self) -> None:
        await self.end("failover")

    async def fail_over_and_go_apart(self) -> None:
        """Both regions are written to for a while."""
        await self.begin()
        await self.failover()
        await self._world.sleep(1_500)

    async def reverse_and_start(self) -> None:
        await self.swap(*self._federation.regions, "reverse-and-start")

    async def reverse_and_pause(self) -> None:
        await self.swap(*self._federation.regions, "reverse-and-pause")

    async def delete(self) -> None:
        """With its mirror; then the source's half."""
        while not await self._is_gone():
            await self._ask(DeleteLink(name=LINK, force=True))
        await self.describe()
        self._federation.destination.is_mirror = False
        source = self._federation.source
        while self._federation.source_dials and not isinstance(
            await self._ask(DescribeLink(LINK), source), LinkRefusal
        ):
            await self._ask(DeleteLink(name=LINK), source)

    async def _is_gone(self) -> bool:
        answer = await self._ask(DescribeLink(LINK))
        return isinstance(answer, LinkRefusal) and answer.code == "CLUSTER_LINK_NOT_FOUND"


Act = Callable[[TransitionOperator], Coroutine[Promise, None, None]]


@dataclass(frozen=True)
class Transition:
    """`mirror` is the region that mirrors the other one at the end; empty if none does."""

    prepare: Act
    perform: Act
    mirror: str
    is_bidirectional: bool = False
    removes: bool = False  # something from the first region's log


_Op = TransitionOperator
TRANSITIONS: Final = {
    "create": Transition(_Op.nothing, _Op.begin, "east"),
    "pause": Transition(_Op.begin, _Op.pause_and_resume, "east"),
    "promote": Transition(_Op.begin, _Op.promote, ""),
    "failover": Transition(_Op.begin, _Op.failover, ""),
    "restore": Transition(_Op.fail_over_and_go_apart, _Op.restore, "west", removes=True),
    "reverse-and-start": Transition(
        _Op.begin, _Op.reverse_and_start, "west", is_bidirectional=True
    ),
    "reverse-and-pause": Transition(
        _Op.begin, _Op.reverse_and_pause, "west", is_bidirectional=True
    ),
    "delete": Transition(_Op.begin, _Op.delete, ""),
}


def calm(weather: RegionWeather, rng: Random) -> RegionWeather:
    """Nothing happens by itself. What a process has acknowledged is on its disk: P2 speaks of that."""
    shape = rng.choice(SHAPES)
    return replace(
        weather,
        shape=shape,
        replication=shape.brokers,
        min_insync=min(2, shape.brokers),
        crashes=Crashes.POWER,
        crash_mean_ms=0,
        freeze_mean_ms=0,
        cut_mean_ms=0,
        block_mean_ms=0,
        full_disk_mean_ms=0,
        ailing_disk_mean_ms=0,
        spike_rate=0.0,
        down_ms=rng.choice((100, 1_000, 6_000)),
        partitions=rng.choice((1, 2)),
        groups=0,
        spite=0.0,
    )


class TransitionRun(LinkedRun):
    """`crash` is what happens; with none it counts the steps. Both regions have a producer."""

    def __init__(
        self,
        transition: str,
        crash: Crash | None = None,
        *,
        seed: int,
        show: Callable[[str], None] | None = None,
        make_node: MakeNode = SteppedNode,
    ) -> None:
        self.transition = TRANSITIONS[transition]
        super().__init__(
            seed,
            show,
            adjust=lambda weather: calm(weather, Random(f"{seed}/calm")),
            make_node=make_node,
            ending="none",
        )
        self.world.note("transition", f"{transition} {crash or 'without a crash'}")
        self.operator = TransitionOperator(self.federation)
        self.operator.is_bidirectional = self.transition.is_bidirectional
        self.operator.fences_source = not self.transition.removes
        self.steps = Steps(self.federation, crash)
        if self.transition.mirror == "west" and not self.transition.removes:
            self.federation.source.source = self.federation.destination
        there = self.federation.destination
        self.producers.append(Producer(there, "producer1", idempotent=True, acks=ALL))

    def execute(self) -> Outcome:
        """Raises what was found."""
        self._begin()
        self._await(self.world.spawn(self.transition.prepare(self.operator)))
        self._pass(self.world.rng("before").randrange(100, 1_500))
        self.steps.counting = True
        self._await(self.world.spawn(self.transition.perform(self.operator)))
        self.steps.counting = False
        self.world.note("transition", f"is over after {self.steps.count} steps")
        self._pass(500)
        for storm in self.storms:
            storm.end()
        for region in self.federation.regions:
            region.stopping = True
        self._settle(self._undone)
        for inspector in self.inspectors:
            self.world.spawn(inspector.watch())
        self._settle(self._missing)
        return self._close()

    def _await(self, done: Promise) -> None:
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: done.done):
            raise Stuck("the transition is not over")

    def _undone(self) -> list[str]:
        """The producer of a region that has a mirror is refused for ever."""
        writable = [
            producer
            for producer, region in zip(self.producers, self.federation.regions, strict=True)
            if region.region != self.transition.mirror and self._is_writable(region.region)
        ]
        return [f"{each.name} is not drained" for each in writable if not each.drained]

    def _is_writable(self, region: str) -> bool:
        """An old primary is fenced once it hears that it was taken over."""
        return region == "east" or self.transition.mirror == "east"

    def _missing(self) -> list[str]:
        left = [line for inspector in self.inspectors for line in inspector.missing()]
        if any(inspector.rounds == 0 for inspector in self.inspectors):
            return ["nobody has looked yet"]
        if left or not self.transition.mirror:
            return left
        return list(checks.behind(self.federation, self._disks()))

    def _judge_mirror(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for partition in self.federation.partitions():
            cut = self._cut_of(partition)
            west, east = disks["west"][partition], disks["east"][partition]
            for finding in checks.different(partition, west, east, cut):
                raise MirrorBroken(finding)
        if not self.transition.removes:
            for region in self.federation.regions:
                for finding in verdict.unsealed(region):
                    raise MirrorBroken(finding)

    def _cut_of(self, partition: TopicPartition) -> int | None:
        if self.transition.mirror:
            return None
        mirror = self.operator.mirror
        assert mirror is not None and mirror.record.cut is not None
        return mirror.record.cut.partitions[partition.partition].offset
