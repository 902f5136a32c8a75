"""How a region is built and what may go wrong in one run, drawn from the seed before anything else."""

from dataclasses import dataclass, fields, replace
from enum import Enum
from random import Random

from tests.sim.regions.compaction import Compaction
from tests.sim.scenario import Crashes


@dataclass(frozen=True)
class Shape:
    """Nodes are numbered from `first` on: controllers, of which `combined` ones are brokers too, then brokers."""

    controllers: int
    brokers: int
    combined: bool
    first: int = 1

    @property
    def numbers(self) -> range:
        more = max(self.controllers, self.brokers)
        count = more if self.combined else self.controllers + self.brokers
        return range(self.first, self.first + count)

    def is_controller(self, number: int) -> bool:
        return number - self.first < self.controllers

    def is_broker(self, number: int) -> bool:
        place = number - self.first
        return place < self.brokers if self.combined else place >= self.controllers

    def __str__(self) -> str:
        return f"{self.controllers}{'+' if self.combined else '/'}{self.brokers}"


SHAPES = (
    Shape(3, 3, combined=True),
    Shape(3, 4, combined=True),
    Shape(5, 5, combined=True),
    Shape(1, 3, combined=True),
    Shape(1, 3, combined=False),
    Shape(3, 3, combined=False),
    Shape(1, 1, combined=True),
)

PROMOTIONS = ("under-min-isr", "under-replicated", "leader-is-observer")


@dataclass(frozen=True, kw_only=True)
class RegionScenario:
    """Means are in milliseconds between faults of a kind; 0 means never."""

    shape: Shape
    crashes: Crashes
    crash_mean_ms: int
    midway: float  # share of crashes that come between two operations of one step
    clean_stops: float  # share of ends that are orderly
    down_ms: int
    freeze_mean_ms: int
    freeze_ms: int  # the longest
    cut_mean_ms: int  # connections that break
    half_open: float
    block_mean_ms: int  # paths that let nothing through
    block_ms: int  # the longest
    one_way: float  # share of blocked paths that are so in one direction only
    isolation: float  # share of blocks that cut a node off from all others
    full_disk_mean_ms: int
    ailing_disk_mean_ms: int
    wipe_mean_ms: int
    latency_ms: int
    spike_rate: float
    sync_ms: int
    skew_ms: int
    drift: float
    duration_ms: int
    partitions: int
    replication: int
    min_insync: int
    segment_bytes: int
    session_ms: int
    lag_ms: int
    producers: int
    readers: int
    groups: int
    meddles: bool
    racks: int  # brokers stand in so many, and readers are sent to the closest replica; 0: nobody knows of any
    observers: int  # copies in a rack of their own, which are in sync only while they are promoted
    promotion: str  # the policy of that
    trims: bool  # the operator deletes records
    reseats: bool  # the operator takes controllers out of the quorum, and lets them in again
    idle_ms: int  # a controller that has nothing to say says so this often
    spite: float  # share of arrivals in an in-sync set just after which the leader ends
    compaction: Compaction | None = None  # of all topics
    filling_max: int = 60  # bytes by which a value is longer than its number
    records_max: int = 1 << 62  # of a producer to a partition: then it falls silent

    def describe(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.compaction is None:
            del values["compaction"]
        return " ".join(
            f"{name}={value.value if isinstance(value, Enum) else value}"
            for name, value in values.items()
        )


def draw(rng: Random) -> RegionScenario:
    """One run's scenario."""
    shape = rng.choices(SHAPES, (8, 3, 2, 2, 1, 3, 1))[0]
    crashes = rng.choices(list(Crashes), (4, 5, 5))[0]
    replication = min(rng.choice((3, 3, 3, 2, 1)), shape.brokers)
    # With a minimum of one, the last in-sync replica leads whatever it has lost, as Kafka has it.
    least = min(2, replication)
    min_insync = least if crashes is Crashes.UNSYNCED else rng.choice((1, least))
    full_disk_mean_ms = rng.choice((0, 0, 0, 8_000))
    ailing_disk_mean_ms = rng.choice((0, 0, 0, 8_000))
    scenario = RegionScenario(
        shape=shape,
        crashes=crashes,
        crash_mean_ms=rng.choice((0, 3_000, 6_000, 15_000)),
        midway=rng.choice((0.0, 0.5)),
        clean_stops=rng.choice((0.0, 0.3)),
        down_ms=rng.choice((100, 1_000, 6_000)),
        freeze_mean_ms=rng.choice((0, 0, 6_000)),
        freeze_ms=rng.choice((500, 3_000, 12_000)),
        cut_mean_ms=rng.choice((0, 2_000, 6_000)),
        half_open=rng.choice((0.0, 0.3)),
        block_mean_ms=rng.choice((0, 3_000, 8_000)),
        block_ms=rng.choice((1_000, 5_000, 15_000)),
        one_way=rng.choice((0.0, 0.4)),
        isolation=rng.choice((0.0, 0.5)),
        full_disk_mean_ms=full_disk_mean_ms,
        ailing_disk_mean_ms=ailing_disk_mean_ms,
        wipe_mean_ms=rng.choice((0, 0, 0, 8_000)),
        latency_ms=rng.choice((1, 10, 60)),
        spike_rate=rng.choice((0.0, 0.0, 0.01)),
        sync_ms=rng.choice((1, 8, 60)),
        skew_ms=rng.choice((0, 60_000, 1_800_000)),
        drift=rng.choice((0.0, 0.0, 0.02)),
        duration_ms=rng.choice((5_000, 9_000, 16_000)),
        partitions=rng.choice((1, 2, 3)),
        replication=replication,
        min_insync=min_insync,
        segment_bytes=rng.choice((1_500, 1 << 20)),
        session_ms=rng.choice((3_000, 9_000)),
        lag_ms=rng.choice((1_500, 5_000)),
        producers=rng.choice((1, 2)),
        readers=rng.choice((1, 2)),
        groups=rng.choice((0, 1)),
        meddles=rng.random() < 0.5,
        racks=rng.choice((0, 0, 2)),
        observers=0,
        promotion=rng.choice(PROMOTIONS),
        trims=rng.random() < 0.3,
        reseats=rng.random() < 0.3,
        idle_ms=rng.choice((500, 5_000, 5_000)),
        spite=rng.choice((0.0, 0.0, 0.5)),
    )
    return _observed(scenario) if shape.brokers > 2 and rng.random() < 0.25 else scenario


def _observed(scenario: RegionScenario) -> RegionScenario:
    """The same with observers on the last of its brokers."""
    observers = 2 if scenario.shape.brokers > 4 else 1
    replication = min(scenario.replication, scenario.shape.brokers - observers)
    return replace(scenario, observers=observers, replication=replication)
