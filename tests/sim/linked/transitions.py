"""Every transition of a link and its mirror, without faults, with one crash at a chosen step of it.

Whoever crashes comes back. The operator asks until the transition has come to its end, by whatever broker coordinates
links then. Afterwards the promises hold as after a storm.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from brokers.ids import TopicPartition
from linker.commands import (
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    RestoreMirrors,
)
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.linked import checks, verdict
from tests.sim.linked.cancellations import CancellingOperator
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.operators import BACK, CONFIGS, LinkOperator
from tests.sim.linked.runs import CALM_MS_MAX, Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario, compacting_everywhere
from tests.sim.linked.steps import Crash, SteppedNode, Steps
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.scenario import Shape
from tests.sim.runs import Outcome, Stuck
from tests.sim.scenario import Crashes
from tests.sim.world import Promise

SHAPES = (Shape(3, 3, combined=True), Shape(1, 2, combined=True))
OTHERS = ("extra1", "extra2")  # topics that nobody writes to


class TransitionOperator(CancellingOperator):
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
        """Between the two, what the mirror lacks becomes known exactly, whoever leads by then."""
        await self._change("pause", MirrorState.PAUSED)
        while not self._lag_is_exact:
            await self.describe()
        await self._change("resume", MirrorState.ACTIVE)

    async def _change(self, verb: str, state: MirrorState) -> None:
        while await self.describe() is not state:
            await self._ask(ChangeMirrors(verb=verb, link=self.link, topics=(TOPIC,)))

    @property
    def _lag_is_exact(self) -> bool:
        lags = self.mirror.lags if self.mirror is not None else ()
        return all(one.lag >= 0 and not one.is_lower_bound for one in lags)

    async def promote(self) -> None:
        await self.end("promote")

    async def failover(self) -> None:
        await self.end("failover")

    async def begin_with_others(self) -> None:
        """The link has several mirrors."""
        await self.begin()
        admin = Admin(self._ends.source)
        for topic in OTHERS:
            await admin.make(topic, 1)
            create = CreateMirror(link=self.link, mirror_topic=topic)
            await self._until(create, "TOPIC_ALREADY_EXISTS")

    async def fail_over_all(self) -> None:
        """With one command."""
        here = self._ends.destination
        topics = [TOPIC, *OTHERS]
        while topics:
            await self._ask(ChangeMirrors(verb="failover", link=self.link))
            records = [(each, await self.record_of(here, each)) for each in topics]
            topics = [
                each for each, it in records if it is None or it.state is not MirrorState.STOPPED
            ]
        while await self.describe() is not MirrorState.STOPPED:
            pass  # the verdict looks at the cut, and whoever was asked is gone
        here.is_mirror = False

    async def fail_over_and_go_apart(self) -> None:
        """Both regions are written to for a while."""
        await self.begin()
        await self.failover()
        await self._world.sleep(1_500)

    async def restore_and_take_back(self) -> None:
        """The way back is begun, and given up by a failover; what was removed by then is sealed."""
        source = self._ends.source
        source.statements.rewrites = True
        configs = {**CONFIGS, "source.fencing.enable": "false"}  # both are written to at the end
        configs["bootstrap.servers"] = self._ends.destination.bootstrap_servers
        await self._until(CreateLink(name=BACK, configs=configs), "CLUSTER_LINK_EXISTS", source)
        while True:
            if await self.record_of(source) is None:
                await self._ask(RestoreMirrors(BACK, (TOPIC,)), source)
            await self._ask(
                ChangeMirrors(verb="failover", link=BACK, topics=(TOPIC,), timeout_ms=5_000), source
            )
            record = await self.record_of(source)
            if record is not None and record.state is MirrorState.STOPPED:
                return

    async def reverse_and_start(self) -> None:
        await self.swap(*self._ends.regions, "reverse-and-start")

    async def reverse_and_pause(self) -> None:
        await self.swap(*self._ends.regions, "reverse-and-pause")

    async def delete(self) -> None:
        """With its mirror; then the source's half."""
        while not await self._is_gone():
            await self._ask(DeleteLink(name=self.link, force=True))
        while await self.describe() is None:
            pass  # whoever was asked is gone
        self._ends.destination.is_mirror = False
        source = self._ends.source
        while self._ends.source_dials and not isinstance(
            await self._ask(DescribeLink(self.link), source), LinkRefusal
        ):
            await self._ask(DeleteLink(name=self.link), source)

    async def _is_gone(self) -> bool:
        answer = await self._ask(DescribeLink(self.link))
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
    is_compacted: bool = False  # the topic is


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
    "restore-given-up": Transition(
        _Op.fail_over_and_go_apart, _Op.restore_and_take_back, "", removes=True
    ),
    "reverse-cancelled": Transition(_Op.begin, _Op.cancel_reversal, "east", is_bidirectional=True),
    "promote-cancelled": Transition(_Op.begin, _Op.cancel_promotion, "east"),
    "failover-cancelled": Transition(_Op.begin, _Op.cancel_failover, "east"),
    "failover-of-all": Transition(_Op.begin_with_others, _Op.fail_over_all, ""),
    "failover-compacted": Transition(_Op.begin, _Op.failover, "", is_compacted=True),
    "restore-compacted": Transition(
        _Op.fail_over_and_go_apart, _Op.restore, "west", removes=True, is_compacted=True
    ),
}


def calm(scenario: LinkedScenario, rng: Random) -> LinkedScenario:
    """Nothing happens by itself. What a process has acknowledged is on its disk: P2 speaks of that."""
    shape = rng.choice(SHAPES)
    return scenario.calm().everywhere(
        shape=shape,
        replication=shape.brokers,
        min_insync=min(2, shape.brokers),
        crashes=Crashes.POWER,
        down_ms=rng.choice((100, 1_000, 6_000)),
        partitions=rng.choice((1, 2)),
        spite=0.0,
    )


class TransitionRun(LinkedRun):
    """`crash` is what happens; with none it counts the steps. Both regions have a producer."""

    mirrors_stay = False

    operator: TransitionOperator

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
            adjust=self._adjusted(seed),
            make_node=make_node,
            ending="none",
        )
        self.world.note("transition", f"{transition} {crash or 'without a crash'}")
        self.operator = TransitionOperator(self.federation.first)
        self.operator.is_bidirectional = self.transition.is_bidirectional
        self.operator.fences_source = not self.transition.removes
        self.steps = Steps(self.federation, crash)
        west, there = self.federation.first.regions
        if self.transition.is_bidirectional:
            west.source = there
        self.readers = []
        # What is removed from its log it may have acknowledged.
        self.producers[0].restarts = self.transition.removes and not self.transition.mirror
        self.producers.append(Producer(there, "producer1", idempotent=True, acks=ALL))

    def _adjusted(self, seed: int) -> Adjust:
        calmed = partial(calm, rng=Random(f"{seed}/calm"))
        if not self.transition.is_compacted:
            return calmed
        return lambda scenario: compacting_everywhere(seed)(calmed(scenario))

    def perform(self) -> int:
        """The transition -> its steps."""
        self._begin()
        self._await(self.world.spawn(self.transition.prepare(self.operator)))
        self._pass(self.world.rng("before").randrange(100, 1_500))
        self.steps.counting = True
        self._await(self.world.spawn(self.transition.perform(self.operator)))
        self.steps.counting = False
        self.world.note("transition", f"is over after {self.steps.count} steps")
        return self.steps.count

    def execute(self) -> Outcome:
        """Raises what was found."""
        self.perform()
        self._pass(500)
        for storm in self.storms:
            storm.end()
        self._stop_clients()
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
            if region.region != self._mirror and self._is_writable(region.region)
        ]
        return [f"{each.name} is not drained" for each in writable if not each.drained]

    def _is_writable(self, region: str) -> bool:
        """An old primary is fenced once it hears that it was taken over."""
        return region == "east" or self._mirror == "east"

    @property
    def _mirror(self) -> str:
        """A cancel may have come too late."""
        return "" if self.operator.is_ended else self.transition.mirror

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        west, east = self.federation.first.regions
        found = {"west": [(east, west)], "east": [(west, east)]}
        return found.get(self._mirror, [])

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        if not self._mirror:
            self._judge_cut(disks["west"], disks["east"])
        if not self.transition.removes:
            for region in self.federation.regions:
                for finding in verdict.unsealed(region):
                    raise MirrorBroken(finding)

    def _judge_cut(self, there: verdict.Disks, here: verdict.Disks) -> None:
        """Both regions are written to after it."""
        for partition in self.federation.partitions():
            cut = self._cut_of(partition)
            for finding in checks.different(partition, there[partition], here[partition], cut):
                raise MirrorBroken(finding)
