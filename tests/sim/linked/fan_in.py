"""One run of one seed: two regions that have a topic of one name each, and a third one that mirrors both.

There the mirrors, and perhaps the groups, have the prefixes of their links. Either mirror may end; the other goes on.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from random import Random

from brokers.ids import TopicPartition
from tests.sim.linked.federation import SOURCE, THIRD, Ends, Mirrored, Region, Topology
from tests.sim.linked.foreign_writers import ForeignWriter
from tests.sim.linked.names import SAME, Names
from tests.sim.linked.operators import LINK, LinkOperator
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario, of_region
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.members import GroupMember
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.statements import RegionStatements
from tests.sim.regions.table_members import TableMember

FROM_NORTH = "north-to-east"


def joined(seed: int) -> Adjust:
    """What makes a fan-in of a seed's scenario."""

    def change(scenario: LinkedScenario) -> LinkedScenario:
        rng = Random(f"{seed}/fan-in regions")
        north = scenario.regions.get(THIRD) or of_region(THIRD, scenario.first, rng)
        regions = {**scenario.regions, THIRD: north}
        return replace(scenario, regions=regions, topology=Topology.FAN_IN)

    return change


class NorthMember(GroupMember):
    """Of a group of the same name as one in `west`."""

    def __init__(self, region: Region, name: str) -> None:
        super().__init__(region, name)
        self._rng = region.world.rng(f"{name} in {region.region}")


class NorthTableMember(NorthMember, TableMember):
    """The same, where topics are compacted."""


class FanInRun(LinkedRun):
    """`operator` is that of the link whose mirror ends; `second` that of the other one."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        ending: str = "",
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: joined(seed)(adjust(scenario)),
            make_node=make_node,
            ending=ending,
        )

    # --- the two links ---

    @cached_property
    def _links(self) -> tuple[tuple[str, Ends], tuple[str, Ends]]:
        """Names and ends; of the one whose mirror ends first."""
        rng, first = self.world.rng("fan-in"), self.federation.first
        north = self.federation.third
        assert north is not None
        dials, names = rng.random() < 0.4, _names(THIRD, rng)
        from_north = FROM_NORTH, Ends(self.world, north, first.destination, dials, names)
        names = _names(SOURCE, rng) if rng.random() < 0.4 else SAME
        from_west = LINK, replace(first, names=names)
        return (from_west, from_north) if rng.random() < 0.5 else (from_north, from_west)

    @property
    def ends(self) -> Ends:
        return self._links[0][1]

    @property
    def others(self) -> Ends:
        """Of the link that goes on."""
        return self._links[1][1]

    def _first_operator(self) -> LinkOperator:
        return self._operator_of(*self._links[0])

    def _second_operator(self) -> LinkOperator:
        return self._operator_of(*self._links[1])

    def _operator_of(self, link: str, ends: Ends) -> LinkOperator:
        east = self.federation.destination
        east.has_records_of(ends.topic, ends.source)
        if ends.names is not SAME:
            east.prefixed[ends.topic] = Mirrored(ends.source, ends.names)
            ends.source.statements.on_trim = _trims_of(east.statements, ends.names)
            if east.source is ends.source:
                east.source = None
        return LinkOperator(ends, link, rate=self.scenario.rate)

    # --- who takes part ---

    def _foreign_writers(self) -> list[ForeignWriter]:
        east = self.federation.destination
        return [ForeignWriter(east, ends.topic) for _, ends in self._links]

    def _make_clients(self) -> None:
        super()._make_clients()
        north = self.federation.third
        assert north is not None
        idempotent = self.world.rng("clients in north").random() < 0.7
        self.producers.append(Producer(north, "producer1", idempotent=idempotent, acks=ALL))
        kind = NorthMember if north.scenario.compaction is None else NorthTableMember
        self.members += [kind(north, each.name) for each in list(self.members)]

    @property
    def _source_admins(self) -> list[Admin]:
        west, _, north = self.admins
        return [west, north]

    async def _stop_foreign_writers(self) -> None:
        await self.foreign[0].stop()

    # --- the verdict ---

    def _audit(self) -> None:
        """Here an audit compares topics of one name."""

    @property
    def mirrored_further(self) -> list[tuple[Region, Region]]:
        return [self.others.regions]


def _names(region: str, rng: Random) -> Names:
    prefix = f"{region}."
    return Names(prefix, prefix if rng.random() < 0.5 else "")


def _trims_of(statements: RegionStatements, names: Names) -> Callable[[TopicPartition, int], None]:
    """What is deleted at a source may be at its mirror."""
    return lambda partition, offset: statements.tries_trim(names.here(partition), offset)
