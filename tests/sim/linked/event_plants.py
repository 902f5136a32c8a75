"""Bugs that have to be found when they happen: nodes that are wrong in one point each."""

from dataclasses import replace
from random import Random
from typing import Any

from brokers.api import fetch
from brokers.events import Listener, Request
from brokers.ids import Instant
from brokers.region import HighWatermarkRead, Placed, SealOrphans
from federation.node import RegionNode
from tests.sim.evidence import parse
from tests.sim.linked.federation import SOURCE
from tests.sim.linked.plants import Plant
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.cleaning_plants import EAGER
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.compaction import compacted


class ShowsAll(Node):
    """In a region that has come back, shows readers of the mirror what none but their broker may have."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        handlers: Any = self.broker._handlers.by_listener[Listener.DATA]
        handle, replicas = handlers[fetch.KEY], self.broker.parts.partitions

        def show_all(request: Request, now: Instant) -> Any:
            shown = [each for each in replicas.all.values() if self._is_mirror(each)]
            known = [each.high_watermark for each in shown]
            for each in shown:
                each.high_watermark = each.log.log_end_offset  # type: ignore[union-attr]
            effects = handle(request, now)
            for each, high_watermark in zip(shown, known, strict=True):
                each.high_watermark = high_watermark
            return effects

        handlers[fetch.KEY] = show_all
        return node

    def _is_mirror(self, replica: Any) -> bool:
        is_read = replica.partition.topic == TOPIC and replica.log is not None
        return is_read and self.region == SOURCE and replica.writer is not None


class SkipsBatches(Node):
    """As a source, leaves out the first of several batches that a mirror asks for, as if it were cleaned away."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        linker = node._linker
        step = linker.step

        def skip(event: Any, now: Instant) -> Any:
            return step(_shortened(event) if isinstance(event, HighWatermarkRead) else event, now)

        linker.step = skip  # type: ignore[method-assign]
        return node


class SealedByLeaders(Node):
    """As a follower, says that an orphan tail is sealed, and has sealed nothing."""

    def _compose(self, rng: Random) -> RegionNode:
        node = super()._compose(rng)
        writes, replicas = (
            self.broker.parts.region_port._mirror_writes,
            self.broker.parts.partitions,
        )
        perform = writes.perform

        def skip(event: Any, now: Instant) -> Any:
            if isinstance(event, SealOrphans) and replicas.all[event.partition].follows:
                return [Placed(event.ticket, event.partition, event.end)]
            return perform(event, now)

        writes.perform = skip  # type: ignore[method-assign]
        return node


def _shortened(read: HighWatermarkRead) -> HighWatermarkRead:
    _, *others = [each.data for each in parse(bytes(read.data))] or [b""]
    return replace(read, data=b"".join(others)) if others else read


def _compacted(scenario: LinkedScenario) -> LinkedScenario:
    near = scenario.alone().unlimited()
    regions = {name: compacted(each, EAGER) for name, each in near.regions.items()}
    return replace(near, regions=regions)


# This is found by what a compacted mirror lacks.
SKIP_BATCHES = Plant(SkipsBatches, range(4), "none", _compacted)

# This is found by what an old primary has sealed before it truncates.
SEAL_ON_LEADERS_ONLY = Plant(SealedByLeaders, range(20), "restore", LinkedScenario.alone)

# This is found by readers of the first region in runs with several rounds, which bring it back.
SHOW_ALL_OF_WHAT_CAME_BACK = Plant(ShowsAll, range(1, 4), "rounds", LinkedScenario.alone)
