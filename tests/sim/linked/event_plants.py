"""Bugs that have to be found when they happen: nodes that are wrong in one point each."""

from random import Random
from typing import Any

from brokers.api import fetch
from brokers.events import Listener, Request
from brokers.ids import Instant
from federation.node import RegionNode
from tests.sim.linked.federation import SOURCE
from tests.sim.linked.plants import Plant
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.nodes import Node
from tests.sim.regions.cluster import TOPIC


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


# This is found by readers of the first region in runs with several rounds, which bring it back.
SHOW_ALL_OF_WHAT_CAME_BACK = Plant(ShowsAll, range(1, 4), "rounds", LinkedScenario.alone)
