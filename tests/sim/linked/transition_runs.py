"""One transition without faults, with one crash at a chosen step of it.

Whoever crashes comes back. The operator asks until the transition has come to its end, by whatever broker coordinates
links then. Afterwards the promises hold as after a storm.
"""

from collections.abc import Callable
from functools import partial
from random import Random

from brokers.ids import TopicPartition
from tests.sim.disks import Disk
from tests.sim.linked import checks, verdict
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.runs import CALM_MS_MAX, Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario, compacting_everywhere
from tests.sim.linked.steps import Crash, SteppedNode, Steps
from tests.sim.linked.transitions import TRANSITIONS, TransitionOperator
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.scenario import Shape
from tests.sim.runs import Outcome, Stuck
from tests.sim.scenario import Crashes
from tests.sim.world import Promise

AFTER_MS = 500  # both regions go on being written to
IMPATIENT_MS = 2_000  # the operator asks somebody else then, where one may stand still

SHAPES = (Shape(3, 3, combined=True), Shape(1, 2, combined=True))


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
        self.steps = Steps(self.federation, crash, self._do_not_wait)
        west, there = self.federation.first.regions
        if self.transition.is_bidirectional:
            west.source = there
        self.readers = []
        # What is removed from its log it may have acknowledged.
        self.producers[0].restarts = self.transition.removes and self.transition.mirror != "west"
        self.producers.append(Producer(there, "producer1", idempotent=True, acks=ALL))

    def _do_not_wait(self) -> None:
        self.operator.answer_ms = IMPATIENT_MS

    def _adjusted(self, seed: int) -> Adjust:
        calmed = partial(calm, rng=Random(f"{seed}/calm"))
        if self.transition.is_compacted:
            return lambda scenario: compacting_everywhere(seed)(calmed(scenario))
        return lambda scenario: self.transition.adjust(calmed(scenario))

    def perform(self) -> int:
        """The transition -> its steps."""
        self._begin()
        self._await(self.world.spawn(self.transition.prepare(self.operator)))
        self._pass(self.world.rng("before").randrange(100, 1_500))
        self.steps.counting = True
        self._await(self.world.spawn(self.transition.perform(self.operator)))
        self.steps.counting = False
        self.steps.go_on()
        self.world.note("transition", f"is over after {self.steps.count} steps")
        return self.steps.count

    def execute(self) -> Outcome:
        """Raises what was found."""
        self.perform()
        self._pass(AFTER_MS)
        for storm in self.storms:
            storm.end()
        self._stop_clients()
        self._settle(self._undone)
        for inspector in self.inspectors:
            self.world.spawn(inspector.watch())
        self._settle(self._missing)
        if self.transition.prove is not None:
            self._await(self.world.spawn(self.transition.prove(self.operator)))
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
        return region == "east" or self._mirror == "east" or self.transition.is_unfenced

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
        if not (self.transition.removes or self.operator.has_restored):
            for region in self.federation.regions:
                for finding in verdict.unsealed(region):
                    raise MirrorBroken(finding)
        for finding in self.transition.check(self.operator, disks):
            raise MirrorBroken(finding)

    def _judge_cut(self, there: verdict.Disks, here: verdict.Disks) -> None:
        """Both regions are written to after it."""
        for partition in self.federation.partitions():
            cut = self._cut_of(partition)
            for finding in checks.different(partition, there[partition], here[partition], cut):
                raise MirrorBroken(finding)
