"""What may go wrong in one run, drawn from the seed before anything else (swarm testing: each run leaves some out)."""

from dataclasses import dataclass, fields
from enum import Enum
from random import Random
from typing import Protocol


class Crashes(Enum):
    """How nodes end, and with it what P1 asks of them."""

    KILL = "kill"  # the process only: what was written survives, synced or not
    POWER = "power"  # the machine: what was not synced is torn; every append is synced before it is reported
    UNSYNCED = (
        "unsynced"  # the machine, without syncs: acknowledged records may go, and must not be faked
    )


class CommonScenario(Protocol):
    """What the network and the nodes need to know of a run's scenario."""

    @property
    def crashes(self) -> Crashes: ...
    @property
    def latency_ms(self) -> int: ...
    @property
    def spike_rate(self) -> float: ...
    @property
    def sync_ms(self) -> int: ...
    @property
    def skew_ms(self) -> int: ...
    @property
    def drift(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Means are in milliseconds between faults of a kind; 0 means never."""

    crashes: Crashes
    crash_mean_ms: int
    spite: float  # share of answers and chunks right after which the node that gave them ends
    midway: float  # share of crashes that come between two operations of one step
    clean_stops: float  # share of ends that are orderly
    down_ms: int
    freeze_mean_ms: int
    cut_mean_ms: int
    half_open: float
    block_mean_ms: int
    full_disk_mean_ms: int
    ailing_disk_mean_ms: int
    latency_ms: int
    spike_rate: float
    sync_ms: int
    skew_ms: int
    drift: float
    duration_ms: int
    partitions: int
    segment_bytes: int
    retention_bytes: int  # -1: everything is kept
    producers: int
    idempotent: bool
    trims: bool
    grows: bool
    pauses: bool
    latest: bool  # the mirror begins at the source's end, not at its start
    groups: int
    ending: str  # none, promote, failover, disaster
    hole_policy: str  # `mirror.hole.policy`

    def describe(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return " ".join(
            f"{name}={value.value if isinstance(value, Enum) else value}"
            for name, value in values.items()
        )


def draw(rng: Random) -> Scenario:
    """One run's scenario."""
    crashes = rng.choices(list(Crashes), (4, 5, 3))[0]
    return Scenario(
        crashes=crashes,
        crash_mean_ms=rng.choice((0, 2_000, 5_000, 15_000)),
        spite=rng.choice((0.0, 0.0, 0.005, 0.03)),
        midway=rng.choice((0.0, 0.5)),
        clean_stops=rng.choice((0.0, 0.3)),
        down_ms=rng.choice((100, 1_000, 4_000)),
        freeze_mean_ms=rng.choice((0, 0, 5_000)),
        cut_mean_ms=rng.choice((0, 1_000, 4_000)),
        half_open=rng.choice((0.0, 0.3)),
        block_mean_ms=rng.choice((0, 0, 4_000)),
        full_disk_mean_ms=rng.choice((0, 0, 6_000)),
        ailing_disk_mean_ms=rng.choice((0, 0, 0, 6_000)),
        latency_ms=rng.choice((1, 10, 80)),
        spike_rate=rng.choice((0.0, 0.01, 0.1)),
        sync_ms=rng.choice((1, 8, 60, 400)),
        skew_ms=rng.choice((0, 60_000, 1_800_000)),
        drift=rng.choice((0.0, 0.0, 0.02)),
        duration_ms=rng.choice((5_000, 10_000, 20_000)),
        partitions=rng.choice((1, 2, 3)),
        segment_bytes=rng.choice((700, 3_000, 1 << 20)),
        retention_bytes=rng.choice((-1, -1, -1, 4_000)),
        producers=rng.choice((1, 2, 3)),
        idempotent=rng.random() < 0.7,
        trims=rng.random() < 0.4,
        grows=rng.random() < 0.3,
        pauses=rng.random() < 0.3,
        latest=rng.random() < 0.15,
        groups=rng.choice((0, 1, 2)),
        ending=rng.choice(("none", "promote", "failover", "disaster")),
        hole_policy=rng.choice(("continue-and-record", "continue-and-record", "pause")),
    )
