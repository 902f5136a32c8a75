"""What may go wrong in federations of regions of several nodes, drawn from the seed before anything else."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from linker.gathering import TOGETHER_MAX
from tests.sim.linked.federation import DESTINATION, FIRST_OF, SOURCE, THIRD, Topology
from tests.sim.regions.compaction import compacted
from tests.sim.regions.compaction import drawn as compacted_topics
from tests.sim.regions.scenario import RegionScenario, Shape, draw
from tests.sim.scenario import Crashes

SHAPES = (
    Shape(3, 3, combined=True),
    Shape(1, 3, combined=True),
    Shape(1, 2, combined=True),
    Shape(3, 3, combined=False),
    Shape(1, 1, combined=True),
    Shape(3, 5, combined=True),
    Shape(5, 5, combined=True),
)
FREQUENCIES = (12, 6, 5, 2, 4, 1, 1)
DRAWN = (Topology.PAIR, Topology.CHAIN, Topology.FAN_OUT)  # others have runs of their own
RECORDS_MAX = 50
LONG = 6_000  # bytes of a value: some of them fill the smallest window


@dataclass(frozen=True)
class Wan:
    """The paths between regions. Means and times are in milliseconds; a mean of 0 means never."""

    delay_ms: int = 0
    cut_mean_ms: int = 0  # all paths between two regions, at once
    cut_ms: int = 1  # the longest
    one_way: float = 0.0  # share of cuts in one direction only


@dataclass(frozen=True)
class LinkedScenario:
    """Of all regions, by their names, and between them. `ending` is how the mirror in `east` ends.

    `rate`: bytes a second that the link carries, 0 without a limit. With one its window is small, and records are long:
    so the source is often without credit. `together`: changes of one proposal of a link to its controller.
    """

    regions: dict[str, RegionScenario]
    topology: Topology
    wan: Wan
    ending: str
    source_dials: bool
    rate: int = 0
    together: int = TOGETHER_MAX

    @property
    def first(self) -> RegionScenario:
        return self.regions[SOURCE]

    def everywhere(self, **changes: Any) -> "LinkedScenario":
        """The same with these changes in every region, whose nodes keep their numbers."""
        regions = {}
        for name, scenario in self.regions.items():
            changed = replace(scenario, **changes)
            shape = replace(changed.shape, first=FIRST_OF[name])
            regions[name] = replace(changed, shape=shape)
        return replace(self, regions=regions)

    def pair(self) -> "LinkedScenario":
        """Without the third region."""
        two = {name: self.regions[name] for name in (SOURCE, DESTINATION)}
        return replace(self, regions=two, topology=Topology.PAIR)

    def alone(self) -> "LinkedScenario":
        """Two regions that are near to each other."""
        return replace(self.pair(), wan=Wan())

    def calm(self) -> "LinkedScenario":
        """Two regions that are near to each other, and nothing happens by itself."""
        return self.alone().everywhere(
            crash_mean_ms=0,
            freeze_mean_ms=0,
            cut_mean_ms=0,
            block_mean_ms=0,
            full_disk_mean_ms=0,
            ailing_disk_mean_ms=0,
            wipe_mean_ms=0,
            spike_rate=0.0,
            observers=0,
            groups=0,
            meddles=False,
        )

    def unlimited(self) -> "LinkedScenario":
        """As fast as the network is."""
        return replace(self, rate=0)

    def in_effect(self) -> "LinkedScenario":
        """With a limit, what is written comes to an end, since a mirror that has to catch up never does where more is
        written than its link carries. A segment takes any batch: one that is longer is refused."""
        if not self.rate:
            return self
        regions = {
            name: replace(
                each,
                filling_max=LONG,
                records_max=RECORDS_MAX,
                segment_bytes=max(each.segment_bytes, 5 * LONG),
            )
            for name, each in self.regions.items()
        }
        return replace(self, regions=regions)

    def describe(self) -> str:
        shapes = "/".join(str(each.shape) for each in self.regions.values())
        dialer = "source" if self.source_dials else "destination"
        return (
            f"{self.topology.value} {shapes} ending={self.ending} dialed by the {dialer} {self.wan}"
            f" rate={self.rate} {self.first.describe()}"
        )


def drawn(rng: Random) -> LinkedScenario:
    """Acknowledged records last: P2 speaks of those."""
    scenario = replace(
        draw(rng),
        crashes=rng.choice((Crashes.KILL, Crashes.POWER)),
        reseats=False,
        producers=1,
        groups=rng.choice((0, 1)),
    )
    topology = rng.choices(DRAWN, (6, 2, 2))[0]
    names = (SOURCE, DESTINATION) if topology is Topology.PAIR else (SOURCE, DESTINATION, THIRD)
    wan = Wan(
        delay_ms=rng.choice((0, 0, 40, 150)),
        cut_mean_ms=rng.choice((0, 0, 4_000)),
        cut_ms=rng.choice((1_000, 6_000)),
        one_way=rng.choice((0.0, 0.6)),
    )
    ending = rng.choice(("none", "none", "promote", "failover"))
    source_dials = rng.random() < 0.4
    regions = {name: of_region(name, scenario, rng) for name in names}
    rate = rng.choice((0, 0, 8_000, 40_000))
    return LinkedScenario(regions, topology, wan, ending, source_dials, rate)


def of_region(name: str, scenario: RegionScenario, rng: Random) -> RegionScenario:
    """A shape of its own. Disks are lost where others have what they held."""
    shape = rng.choices(SHAPES, FREQUENCIES)[0]
    shape = replace(shape, first=FIRST_OF[name])
    observers = rng.choice((0, 0, 1)) if shape.brokers > 2 else 0
    replication = min(rng.choice((3, 3, 2)), shape.brokers - observers)
    min_insync = min(2, replication)
    return replace(
        scenario,
        shape=shape,
        replication=replication,
        min_insync=min_insync,
        racks=rng.choice((0, 2, 2)),
        observers=observers,
        wipe_mean_ms=scenario.wipe_mean_ms if min_insync > 1 and shape.controllers > 1 else 0,
    )


def compacting_everywhere(seed: int) -> Callable[[LinkedScenario], LinkedScenario]:
    """What changes the scenario of a seed so that all topics are compacted. Their segments are too small for long
    records."""
    compaction = compacted_topics(Random(f"{seed}/compaction"))

    def change(scenario: LinkedScenario) -> LinkedScenario:
        short = scenario.unlimited()
        regions = {name: compacted(each, compaction) for name, each in short.regions.items()}
        return replace(short, regions=regions)

    return change
