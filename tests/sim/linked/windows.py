"""One run of one seed: a mirror that has much to catch up with over a long path, so that windows grow, under faults.

A window begins with 32 MiB and grows to twice what a round trip carries, within what the node allows all of them
(`linker/window_budget.py`). What that promises is judged at each event, by the frames that come and go.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from linker.data.round_trips import CHUNKS_BEYOND
from linker.events import CloseStream, FrameArrived, Send, Stream, StreamLost
from linker.frames import Chunk, Credit
from linker.linker import Linker
from linker.node_limits import NodeLimits
from tests.sim.linked.runs import CALM_MS_MAX, Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.scenario import Shape
from tests.sim.runs import Stuck

MIB = 1 << 20
BACKLOG = 72 * MIB  # of a partition: twice what a window begins with, and more
LONGEST = 240_000  # bytes of a value: four of them are a batch that brokers take
PRODUCERS = 4
SHAPES = (Shape(1, 1, combined=True), Shape(1, 2, combined=True))
# Milliseconds in one direction, bytes in a millisecond: each carries more than half of 32 MiB in a round trip.
PATHS = ((150, 0), (100, 200_000), (150, 100_000), (60, 300_000))


class WindowBroken(Exception):
    """More is under way than windows may have."""


@dataclass
class Window:
    """Of an open stream, in bytes, as the frames say."""

    first: int = -1
    granted: int = 0
    arrived: int = 0
    largest: int = 0  # chunk

    @property
    def grown(self) -> int:
        """By so much what may be under way is more than at first."""
        return max(0, self.granted - self.arrived - self.first)


class Windows:
    """Of all streams of one process that receive, and what it has taken for them. `found`: takes what is wrong."""

    def __init__(self, place: str, linker: Linker, found: list[str]) -> None:
        self._found = found
        self.taken_most = self.grown_most = 0
        self._place = place
        self._budget = linker._region.windows
        self._open: dict[Stream, Window] = {}

    def judge(self, event: Any, effects: list[Any]) -> None:
        """After a step of the process's links."""
        match event:
            case FrameArrived(stream, Chunk() as chunk) if stream in self._open:
                self._arrived(self._open[stream], len(chunk.data))
            case StreamLost(stream):
                self._open.pop(stream, None)
        for effect in effects:
            match effect:
                case Send(stream, Credit(granted)):
                    window = self._open.setdefault(stream, Window(granted))
                    window.granted = granted
                case CloseStream(stream):
                    self._open.pop(stream, None)
        self._judge_all()

    def _arrived(self, window: Window, size: int) -> None:
        window.arrived += size
        window.largest = max(window.largest, size)
        if window.arrived > window.granted + CHUNKS_BEYOND * window.largest:
            self._found.append(f"{self._place} granted {window.granted}, got {window.arrived}")

    def _judge_all(self) -> None:
        grown, budget = sum(each.grown for each in self._open.values()), self._budget
        self.grown_most = max(self.grown_most, grown)
        self.taken_most = max(self.taken_most, budget.taken_bytes)
        if not grown <= budget.taken_bytes <= budget.bytes_max:
            self._found.append(
                f"windows of {self._place} have grown by {grown}: {budget.taken_bytes} of {budget.bytes_max} are taken"
            )
        if budget.taken_bytes and not self._open:
            self._found.append(f"{self._place} has no stream, and {budget.taken_bytes} are taken")


class WindowRun(LinkedRun):
    """`growth`: bytes by which the windows of a node may grow."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
    ) -> None:
        rng = Random(f"{seed}/windows")
        self.windows: list[Windows] = []
        self._found: list[str] = []
        self.growth = rng.choice((2 * MIB, 8 * MIB, 64 * MIB))
        delay_ms, line = rng.choice(PATHS)
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(_far(scenario, delay_ms, rng)),
            make_node=make_node,
            ending="none",
        )
        self.world.note("scenario", f"growth={self.growth} line={line}")
        self.federation.network.line_bytes_per_ms = line
        self.operator.more = {
            "link.compression.type": "none",
            "replica.fetch.max.bytes": str(rng.choice((65_536, MIB))),
        }
        self.readers = []
        for node in self.federation.destination.nodes.values():
            node.limits = NodeLimits(self.growth)
            node._step = partial(self._step, node._step)  # type: ignore[method-assign]
            node._compose = partial(self._compose, node, node._compose)  # type: ignore[method-assign]

    def _step(self, step: Callable[[Any], None], event: Any) -> None:
        step(event)
        for finding in self._found:
            raise WindowBroken(finding)

    def _compose(self, node: Node, compose: Callable[[Random], Any], rng: Random) -> Any:
        """A process, and who judges its windows."""
        core = compose(rng)
        linker, step = core._linker, core._linker.step
        windows = Windows(node.place, linker, self._found)
        self.windows.append(windows)

        def watched(event: Any, now: int) -> Any:
            effects = step(event, now)
            windows.judge(event, effects)
            return effects

        linker.step = watched
        return core

    @property
    def taken_most(self) -> int:
        """Bytes by which all windows of a process together were larger than at first."""
        return max((each.taken_most for each in self.windows), default=0)

    @property
    def grown_most(self) -> int:
        """Of those, what sources could send at once."""
        return max((each.grown_most for each in self.windows), default=0)

    def _make_clients(self) -> None:
        super()._make_clients()
        source, most = self.federation.source, 1 + BACKLOG // (LONGEST // 2) // PRODUCERS
        self.producers = [
            Producer(source, f"producer{index}", idempotent=True, acks=ALL, most=most)
            for index in range(PRODUCERS)
        ]

    def _begin(self) -> None:
        """There is a backlog before anything goes wrong."""
        super()._begin()
        wanted = BACKLOG * self.scenario.first.partitions * 9 // 10
        acknowledged = self.federation.source.evidence.statements.acknowledged
        until = self.world.now + CALM_MS_MAX
        while sum(len(each.value) for each in acknowledged) < wanted:
            if self.world.now >= until:
                raise Stuck("the backlog is not written")
            self._pass(1_000)


def _far(scenario: LinkedScenario, delay_ms: int, rng: Random) -> LinkedScenario:
    """Regions of few brokers, with long records. Disks keep what they have, have room, and are fast: a log that takes
    less in a round trip than the network lets no window grow."""
    wan = replace(scenario.wan, delay_ms=delay_ms)
    partitions = rng.choice((1, 1, 2))
    changed = (
        scenario.pair()
        .unlimited()
        .everywhere(
            shape=rng.choice(SHAPES),
            partitions=partitions,
            replication=1,
            min_insync=1,
            observers=0,
            racks=0,
            filling_max=LONGEST,
            segment_bytes=8 * MIB,
            sync_ms=1,
            wipe_mean_ms=0,
            full_disk_mean_ms=0,
            ailing_disk_mean_ms=0,
            trims=False,
        )
    )
    return replace(changed, wan=wan)
