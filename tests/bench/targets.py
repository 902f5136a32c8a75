"""What is measured, in order, and which figure has to reach what against the peer's."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from tests.bench import crossing, mirrors, region, scale, wan, work
from tests.bench.client import SMALL, Figures
from tests.bench.clusters import Cluster
from tests.bench.mirrors import Mirroring
from tests.bench.systems import System
from tests.bench.wan import Wide
from tests.bench.work import Size


class Kind(StrEnum):
    """How a bound is meant."""

    AT_LEAST = "≥ {} ×"
    AT_MOST = "≤ {} ×"
    ALONE = "≤ {}"  # whatever the peer does
    ALONE_AT_LEAST = "≥ {}"


@dataclass(frozen=True, slots=True)
class Target:
    """`figure` of ours against `against` (else `figure`) of the peer's."""

    figure: str
    kind: Kind
    bound: float
    against: str = ""

    def __str__(self) -> str:
        return self.kind.value.format(f"{self.bound:.3g}")

    def ratio(self, ours: float, theirs: float | None) -> float | None:
        return ours / theirs if theirs else None

    def met(self, ours: float, theirs: float | None) -> bool | None:
        """None where there is nothing to compare with."""
        if self.kind is Kind.ALONE:
            return ours <= self.bound
        if self.kind is Kind.ALONE_AT_LEAST:
            return ours >= self.bound
        ratio = self.ratio(ours, theirs)
        if ratio is None:
            return None
        return ratio >= self.bound if self.kind is Kind.AT_LEAST else ratio <= self.bound


@dataclass(frozen=True, slots=True)
class Measure:
    """A piece of work; a `cold` one restarts a node and so comes before anything is warmed up."""

    title: str
    run: Callable[[System, Size], Figures]
    targets: tuple[Target, ...] = ()
    cold: bool = False


@dataclass(frozen=True, slots=True)
class RegionMeasure:
    """The same of a region of three nodes; a `cold` one comes before anything is warmed up."""

    title: str
    run: Callable[[Cluster, Size], Figures]
    targets: tuple[Target, ...] = ()
    cold: bool = False


@dataclass(frozen=True, slots=True)
class LinkedMeasure:
    """The same of two linked regions of three nodes."""

    title: str
    run: Callable[[Mirroring, Size], Figures]
    targets: tuple[Target, ...] = ()
    cold: bool = False
    is_ours_alone: bool = False  # where the peer would take too long to get there


@dataclass(frozen=True, slots=True)
class WideMeasure:
    """The same of two regions with a wide area between them."""

    title: str
    run: Callable[[Wide, Size], Figures]
    targets: tuple[Target, ...] = ()
    cold: bool = False


AnyMeasure: TypeAlias = Measure | RegionMeasure | LinkedMeasure | WideMeasure


def throughput(at_least: float, cpu_at_most: float) -> tuple[Target, ...]:
    return (
        Target("mb_per_s", Kind.AT_LEAST, at_least),
        Target("cpu_s_per_gb", Kind.AT_MOST, cpu_at_most),
    )


def delays(bound: float) -> tuple[Target, ...]:
    return Target("p50_ms", Kind.AT_MOST, bound), Target("p99_ms", Kind.AT_MOST, bound)


MEASURES = {
    "start": Measure(
        "start to first answer", work.start, (Target("seconds", Kind.AT_MOST, 1 / 3),), cold=True
    ),
    "idle": Measure(
        "idle node",
        work.idle,
        (Target("resident_mb", Kind.ALONE, 100), Target("cpu_percent", Kind.ALONE, 1)),
        cold=True,
    ),
    "produce-1": Measure("produce 1 MB batches, 1 partition", work.produce, throughput(1.5, 0.4)),
    "produce-12": Measure(
        "produce 1 MB batches, 12 partitions",
        partial(work.produce, partitions=12),
        throughput(2, 0.3),
    ),
    "produce-12x12": Measure(
        "the same over 12 connections", partial(work.produce, partitions=12, connections=12)
    ),
    "produce-small": Measure(
        "produce 15 KB batches, one connection",
        partial(work.produce, records=SMALL),
        throughput(1.2, 0.7),
    ),
    "recompress-lz4": Measure(
        "produce into a topic of lz4, 1 MB batches",
        partial(work.recompress, "lz4"),
        throughput(1, 1),
    ),
    "recompress-zstd": Measure(
        "produce into a topic of zstd, 1 MB batches",
        partial(work.recompress, "zstd"),
        throughput(1, 1),
    ),
    "consume-1": Measure(
        "consume, 1 partition", partial(work.consume, partitions=1), throughput(1, 1.1)
    ),
    "consume-12": Measure(
        "consume, 12 partitions", partial(work.consume, partitions=12), throughput(1, 1.1)
    ),
    "stock-produce": Measure(
        "librdkafka produces, 12 partitions", partial(work.stock, "produce", partitions=12)
    ),
    "stock-consume": Measure(
        "librdkafka consumes, 12 partitions", partial(work.stock, "consume", partitions=12)
    ),
    "acknowledged": Measure(
        "one record, acknowledged", partial(work.latency, "acknowledged"), delays(1)
    ),
    "read": Measure("one record, read by a waiting consumer", partial(work.latency, "read")),
    "link": Measure(
        "link catching up, 12 partitions",
        crossing.catch_up,
        # From `link create`, against MirrorMaker 2 from its first record on: its slow start isn't held against it.
        (
            Target("mb_per_s", Kind.AT_LEAST, 4, "moving_mb_per_s"),
            Target("cpu_s_per_gb", Kind.AT_MOST, 1 / 6),
        ),
    ),
    "linked": Measure("one record over the link, 50/s", crossing.one_at_a_time, delays(1 / 3)),
}

REGION_MEASURES = {
    "start-3": RegionMeasure(
        "three nodes: start", region.start, (Target("seconds", Kind.AT_MOST, 1 / 3),), cold=True
    ),
    "start-3-full": RegionMeasure(
        "three nodes with 3,000 partitions x 3: start",
        region.start_full,
        (Target("seconds", Kind.AT_MOST, 1 / 4),),
        cold=True,
    ),
    "replicated-12": RegionMeasure(
        "produce 1 MB batches, 3 replicas, 12 partitions",
        partial(region.produce, partitions=12),
        throughput(2, 0.4),
    ),
    "replicated-small": RegionMeasure(
        "produce 15 KB batches, 3 replicas, 1 partition",
        partial(region.produce, records=SMALL),
        throughput(1.5, 0.7),
    ),
    "leader-killed": RegionMeasure(
        "leader killed (SIGKILL): longest gap",
        partial(region.gaps, how=signal.SIGKILL),
        (Target("p50_s", Kind.AT_MOST, 1 / 5), Target("max_s", Kind.AT_MOST, 1 / 5)),
    ),
    # Whoever is not idempotent sends again what a dead leader had not acknowledged: no server can tell.
    "leader-killed-idempotent": RegionMeasure(
        "the same with an idempotent producer",
        partial(region.gaps, how=signal.SIGKILL, is_idempotent=True),
        (
            Target("p50_s", Kind.AT_MOST, 1 / 5),
            Target("max_s", Kind.AT_MOST, 1 / 5),
            Target("doubled", Kind.ALONE, 0),
        ),
    ),
    "leader-stopped": RegionMeasure(
        "leader stopped (SIGTERM): longest gap",
        partial(region.gaps, how=signal.SIGTERM),
        (
            Target("p50_s", Kind.AT_MOST, 1 / 3),
            Target("max_s", Kind.AT_MOST, 1 / 3),
            Target("doubled", Kind.ALONE, 0),
        ),
    ),
    "scale": RegionMeasure("three nodes with 10,000 partitions x 3, and since 100", scale.scale),
}

_mirrors = mirrors.Mirrors()

LINKED_MEASURES = {
    "link-3": LinkedMeasure(
        "link catching up, 12 partitions, three nodes and replicas on either side",
        crossing.catch_up,
        (
            Target("mb_per_s", Kind.AT_LEAST, 3, "moving_mb_per_s"),
            Target("cpu_s_per_gb", Kind.AT_MOST, 1 / 6),
        ),
    ),
    "mirrors-100": LinkedMeasure(
        "100 mirror partitions, three nodes and replicas on either side",
        partial(_mirrors.run, partitions=mirrors.FEW),
        (Target("no_writer_s", Kind.ALONE, 3),),
    ),
    "mirrors-1000": LinkedMeasure(
        "1,000 of them, and since 100",
        partial(_mirrors.run, partitions=1000),
        (
            Target("failover_first_s", Kind.ALONE, 2),
            Target("failover_all_s", Kind.ALONE, 5),
        ),
    ),
    "mirrors-10000": LinkedMeasure(
        "10,000 of them, and since 100",
        partial(_mirrors.run, partitions=10_000),
        (Target("idle_cpu_percent_a_node", Kind.ALONE, 5),),
        is_ours_alone=True,
    ),
}

OF_POSSIBLE = tuple(
    Target(f"of_possible_{trip}ms", Kind.ALONE_AT_LEAST, 0.9) for trip in work.ROUND_TRIPS_MS
)

WIDE_TARGETS = (
    *OF_POSSIBLE,
    Target("record_p50_ms_80ms", Kind.ALONE, 45),
    Target("record_p99_ms_80ms", Kind.ALONE, 60),
)

# Regions of three nodes, ours alone: the peer would take half an hour.
WIDE_REGION_MEASURES = {
    "wan-3": WideMeasure(
        "link between regions of three nodes through proxies that delay", wan.wan_3, WIDE_TARGETS
    ),
}

WIDE_MEASURES = {
    "wan": WideMeasure("link through a proxy that delays", wan.wan, WIDE_TARGETS),
    "wan-line": WideMeasure(
        "link through a proxy that delays and lets 500 MB/s pass", wan.wan_line, OF_POSSIBLE
    ),
    "wan-core": WideMeasure(
        "link through a proxy that delays, on a processor of its own", wan.wan_core, OF_POSSIBLE
    ),
}
