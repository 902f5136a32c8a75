"""Paths between regions that let nothing through for a while, in both directions or in one."""

from itertools import permutations

from tests.sim.linked.federation import LinkedFederation, Region
from tests.sim.linked.scenario import Wan
from tests.sim.regions.cluster import place


class WanStorm:
    """Until it is told to end."""

    def __init__(self, federation: LinkedFederation, wan: Wan) -> None:
        self._federation = federation
        self._world = federation.world
        self._wan = wan
        self._rng = federation.world.rng("wan")
        self._raging = False
        federation.network.wan_ms = wan.delay_ms

    def begin(self) -> None:
        self._raging = True
        self._recur()

    def end(self) -> None:
        """The regions' own storms heal the network."""
        self._raging = False

    def _recur(self) -> None:
        if self._wan.cut_mean_ms:
            pause = 1 + int(self._rng.expovariate(1 / self._wan.cut_mean_ms))
            self._world.after(pause, self._strike)

    def _strike(self) -> None:
        if self._raging:
            pairs = list(permutations(self._federation.regions, 2))
            self._cut(*self._rng.choice(pairs))
            self._recur()

    def _cut(self, one: Region, other: Region) -> None:
        lasts = self._rng.randrange(100, self._wan.cut_ms)
        one_way = self._rng.random() < self._wan.one_way
        way = "from" if one_way else "between"
        self._world.note("wan", f"nothing gets {way} {one.region}, {other.region} for {lasts} ms")
        for here in one.nodes:
            for there in other.nodes:
                self._federation.network.block(place(here), place(there), lasts, one_way=one_way)
